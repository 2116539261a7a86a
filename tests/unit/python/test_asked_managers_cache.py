"""What is remembered, for how long, and who waits for whom."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from pytest_mcp.python.asked_managers import Cache, Finding
from pytest_mcp.python.files import stamped


class Search:
    """Finds out by counting; rests on some files, and may be made to wait."""

    def __init__(self, *files: Path, worth_keeping: bool = True) -> None:
        self.files = files
        self.worth_keeping = worth_keeping
        self.count = 0
        self.begun = anyio.Event()
        self.released = anyio.Event()
        self.released.set()

    async def __call__(self) -> Finding[int]:
        stamps = stamped(self.files)
        self.count += 1
        self.begun.set()
        await self.released.wait()
        return Finding(self.count, stamps if self.worth_keeping else None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("one", encoding="utf-8")
    return path


def rewritten(path: Path) -> None:
    """As long as before and as old as before: only its number tells."""
    age = path.stat().st_mtime_ns
    shutil.copy(path, path.with_name("new"))
    os.utime(path.with_name("new"), ns=(age, age))
    path.with_name("new").replace(path)


def longer(path: Path) -> None:
    age = path.stat().st_mtime_ns
    with path.open("a", encoding="utf-8") as handle:
        handle.write("more")
    os.utime(path, ns=(age, age))


def linked(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name("moved"))


CHANGES: dict[str, Callable[[Path], None]] = {
    "touched": lambda path: os.utime(path, ns=(0, 0)),
    "longer": longer,
    "replaced": rewritten,
    "deleted": Path.unlink,
    "moved, with a link to it": linked,
    "another one appears": lambda path: path.with_name("absent").touch(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_an_answer_is_found_out_once_until_a_file_has_changed_in_any_way(
    file: Path, change: Callable[[Path], None]
) -> None:
    memory, search = Cache[int](), Search(file, file.with_name("absent"))
    before = [await memory.get("key", search) for _ in range(3)]

    change(file)

    assert before == [1, 1, 1]
    assert [await memory.get("key", search) for _ in range(2)] == [2, 2]


async def test_a_file_that_changed_while_it_was_found_out_makes_it_forgotten(file: Path) -> None:
    memory, search = Cache[int](), Search(file)
    search.released = anyio.Event()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.get, "key", search)
        await search.begun.wait()
        longer(file)
        search.released.set()

    assert await memory.get("key", search) == 2


async def test_another_key_is_another_answer_and_what_is_not_worth_keeping_is_found_out_every_time(file: Path) -> None:
    memory, search, useless = Cache[int](), Search(file), Search(file, worth_keeping=False)

    assert [await memory.get(key, search) for key in ("a", "b", "a")] == [1, 2, 1]
    assert [await memory.get("key", useless) for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("worth_keeping", [True, False])
async def test_calls_that_come_meanwhile_share_what_is_found_out(file: Path, *, worth_keeping: bool) -> None:
    memory, search = Cache[int](), Search(file, worth_keeping=worth_keeping)
    search.released = anyio.Event()
    answers = []

    async def call() -> None:
        answers.append(await memory.get("key", search))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(call)
        await search.begun.wait()
        await anyio.wait_all_tasks_blocked()
        search.released.set()

    assert answers == [1] * 5


async def test_a_call_whose_forerunner_was_cancelled_finds_out_itself(file: Path) -> None:
    memory, search = Cache[int](), Search(file)
    search.released = anyio.Event()
    answers = []

    async def call(scope: anyio.CancelScope) -> None:
        with scope:
            answers.append(await memory.get("key", search))

    async with anyio.create_task_group() as tasks:
        first, second = anyio.CancelScope(), anyio.CancelScope()
        tasks.start_soon(call, first)
        await search.begun.wait()
        tasks.start_soon(call, second)
        await anyio.wait_all_tasks_blocked()
        first.cancel()
        search.released.set()

    assert answers == [2]


async def test_an_error_is_its_callers_own_and_leaves_nothing_behind(file: Path) -> None:
    memory, search = Cache[int](), Search(file)

    async def fail() -> Finding[int]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await memory.get("key", fail)

    assert await memory.get("key", search) == 1
