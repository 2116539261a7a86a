"""One child ahead of its job: when there is one, when it is used, and when it is not."""

import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.config.model import Config
from pytest_mcp.process.spare import Spare
from pytest_mcp.python import interpreter
from tests.support.leftovers import children
from tests.support.runs.standby import execute, waiting_child
from tests.support.waiting import until
from tests.support.workbench import Workbench

# A test that tells which process ran it, and whether that was started ahead: then it has one argument more.
TELLING = """
    import json, os, pathlib

    def test_telling():
        arguments = pathlib.Path("/proc/self/cmdline").read_bytes().split(b"\\0")[1:-1]
        pathlib.Path(__file__).with_name("told.json").write_text(json.dumps([os.getpid(), len(arguments) == 3]))
"""


@dataclass
class Standing:
    """A project, a spare, and calls that wait until it is there."""

    bench: Workbench
    spare: Spare
    config: Config

    async def call(self) -> tuple[int, bool]:
        """The number of the process that ran the test, and whether the work done ahead was used."""
        result = await self.answer()
        assert result.verdict == "passed", result
        number, ahead = json.loads((self.bench.root / "told.json").read_text())
        return number, ahead

    async def answer(self, **arguments: Any) -> ExecuteResult:
        return await execute(self.bench, self.spare, config=self.config, **arguments)

    async def waiting(self) -> int:
        await until(lambda: waiting_child(self.spare))
        number = waiting_child(self.spare)
        assert number is not None
        return number


@pytest.fixture
async def standing(bench: Workbench) -> AsyncIterator[Standing]:
    """With a library folder beside the project, which is on the path."""
    bench.write({"test_telling.py": TELLING, "../library/sitecustomize.py": "LOADED = True\n"})
    path = {"PYTHONPATH": str(bench.root.parent / "library")}
    config = bench.config._replace(environment={**bench.config.environment, **path})
    spare = Spare(wanted=True, fingerprint=interpreter.state)
    async with spare.kept():
        yield Standing(bench, spare, config)


async def test_one_that_waits_has_the_operators_memory_limit_already(standing: Standing) -> None:
    standing.config = standing.config._replace(max_memory=512 * 1024**2)

    await standing.call()
    waiting = await standing.waiting()
    used = await standing.call()

    limits = Path(f"/proc/{await standing.waiting()}/limits").read_text(encoding="utf-8").splitlines()
    (soft,) = (line.split()[3] for line in limits if line.startswith("Max data size"))
    assert used == (waiting, True)
    assert soft == str(512 * 1024**2)


async def test_there_is_none_before_the_first_call_and_each_is_used_once(standing: Standing) -> None:
    assert standing.spare.started is None

    first, first_ahead = await standing.call()
    waiting = await standing.waiting()
    second = await standing.call()
    other = await standing.waiting()

    assert not first_ahead
    assert second == (waiting, True)
    assert len({first, waiting, other}) == 3


async def test_it_waits_outside_the_project_with_none_of_its_files(standing: Standing) -> None:
    await standing.call()
    waiting = Path(f"/proc/{await standing.waiting()}")

    open_files = [str(entry.readlink()) for entry in (waiting / "fd").iterdir()]

    assert (waiting / "cwd").readlink() == Path("/")
    assert not [path for path in open_files if str(standing.bench.root) in path]
    assert str(standing.bench.root) not in (waiting / "maps").read_text()


async def test_a_call_that_comes_while_it_makes_itself_ready_takes_it_all_the_same(standing: Standing) -> None:
    await standing.call()
    await until(lambda: standing.spare.started)

    assert (await standing.call())[1]


def add_to_the_path(root: Path) -> None:
    (root.parent / "library" / "argcomplete.py").write_text("")


def change_a_loaded_file(root: Path) -> None:
    (root.parent / "library" / "sitecustomize.py").write_text("CHANGED = True\n")


def hide_by_a_package(root: Path) -> None:
    (root / "difflib").mkdir()
    source = Path(os.__file__).with_name("difflib.py").read_text()
    (root / "difflib" / "__init__.py").write_text(source)


async def test_a_change_that_a_new_start_would_see_makes_it_start_anew(standing: Standing) -> None:
    await standing.call()

    for change in (add_to_the_path, change_a_loaded_file, hide_by_a_package):
        waiting = await standing.waiting()
        change(standing.bench.root)

        assert await standing.call() == (waiting, False), change


async def test_an_environment_that_was_replaced_gets_another_child_even_if_that_was_while_it_started(
    standing: Standing,
) -> None:
    """A Python that starts at that moment takes something of the one and something of the other."""
    environment = standing.bench.root / ".venv"
    environment.symlink_to(standing.bench.python.parent.parent)
    standing.config = standing.config._replace(python=environment / "bin" / "python")
    await standing.call()
    await until(lambda: standing.spare.started)

    environment.unlink()
    environment.symlink_to(standing.bench.using("pytest-8.4").python.parent.parent)

    assert not (await standing.call())[1]


def moved_away_and_back(root: Path) -> None:
    shutil.copytree(root, root.with_name("copy"))
    shutil.rmtree(root)
    root.with_name("copy").rename(root)


async def test_the_projects_own_changes_and_a_move_away_and_back_do_not_make_it_start_anew(standing: Standing) -> None:
    await standing.call()

    waiting = await standing.waiting()
    standing.bench.write({"helper.py": "x = 1\n", "package/__init__.py": "", "json/data.txt": "no module\n"})
    assert await standing.call() == (waiting, True)

    waiting = await standing.waiting()
    moved_away_and_back(standing.bench.root)
    assert await standing.call() == (waiting, True)


def kill_child(standing: Standing) -> None:
    number = waiting_child(standing.spare)
    assert number is not None
    os.kill(number, signal.SIGKILL)


def kill_supervisor(standing: Standing) -> None:
    assert standing.spare.started is not None
    (worker,) = children(standing.spare.started.supervisor.pid)
    os.kill(worker, signal.SIGKILL)


def take_its_folder(standing: Standing) -> None:
    """Its name stands in a command line, where every user of the machine can read it."""
    assert standing.spare.started is not None
    folder = standing.spare.started.folder.path
    folder.rmdir()
    folder.mkdir()
    (folder / "report").symlink_to(standing.bench.root / "stolen")


def name_another_interpreter(standing: Standing) -> None:
    standing.config = standing.config._replace(python=standing.bench.using("pytest-8.4").python)


async def test_one_that_is_killed_robbed_of_its_folder_or_of_another_interpreter_is_replaced(
    standing: Standing,
) -> None:
    await standing.call()

    for harm in (kill_child, kill_supervisor, take_its_folder, name_another_interpreter):
        waiting = await standing.waiting()
        harm(standing)
        number, ahead = await standing.call()

        assert (number != waiting, ahead) == (True, False), harm
    await until(lambda: not Path(f"/proc/{waiting}").exists())
    assert not (standing.bench.root / "stolen").exists()


@pytest.mark.parametrize("harm", [kill_child, kill_supervisor])
async def test_one_that_is_killed_while_nobody_calls_is_no_zombie_until_the_next_call(
    standing: Standing, harm: Callable[[Standing], None]
) -> None:
    await standing.call()
    await standing.waiting()
    assert standing.spare.started is not None
    number = standing.spare.started.supervisor.pid

    harm(standing)

    await until(lambda: not Path(f"/proc/{number}").exists())


async def test_a_cancelled_call_is_followed_by_one_too(standing: Standing) -> None:
    standing.bench.write({"test_slow.py": "import time\ndef test_slow(): open('begun', 'w'); time.sleep(600)\n"})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(standing.answer)
        # The report is read several times a second. Before that the server does not know that this child works.
        await until(lambda: standing.spare.launch)
        await until((standing.bench.root / "begun").exists)
        tasks.cancel_scope.cancel()

    (standing.bench.root / "test_slow.py").unlink()
    waiting = await standing.waiting()
    assert await standing.call() == (waiting, True)


async def test_nothing_of_it_is_left_when_its_owner_ends(standing: Standing) -> None:
    spare = Spare(wanted=True, fingerprint=interpreter.state)

    async with spare.kept():
        await execute(standing.bench, spare, config=standing.config)
        await until(lambda: waiting_child(spare))
        waiting, started = waiting_child(spare), spare.started

    assert started is not None
    assert not started.is_alive
    assert not Path(f"/proc/{waiting}").exists()
