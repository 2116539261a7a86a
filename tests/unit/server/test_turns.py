"""Whose turn it is in a server, and what a call needs of the cores of a machine."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from pytest_mcp.api.errors import ExecutionFailed
from pytest_mcp.config.model import CORES, DEFAULT_TIMEOUT, Options, Shard, configure
from pytest_mcp.process.core_queue import Held, Need
from pytest_mcp.run.run import Project, Steps
from pytest_mcp.server.turns import CallSlots, PlaceInQueue, Turn, need_of, workers_in_addopts
from pytest_mcp.tools import BY_NAME
from tests.support.waiting import PATIENCE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n")
    return tmp_path


def need(root: Path, tool: str = "execute_tests", *, shard: Shard | None = None, **arguments: Any) -> Need:
    config = configure(Options(root=str(root), max_workers=4), {})._replace(shard=shard)
    return need_of(BY_NAME[tool], BY_NAME[tool].accept(arguments, config.bounds), config)


@pytest.mark.parametrize(
    ("arguments", "cores", "may_pass"),
    [
        ({}, (1, 1), False),
        ({"path": "test_a.py"}, (1, 1), False),
        ({"node_ids": ["test_a.py::test_a"]}, (1, 1), True),
        ({"node_ids": ["test_a.py::test_a", "test_a.py::test_b"]}, (1, 1), False),
        ({"node_ids": ["test_a.py::test_a"], "workers": 2}, (2, 2), False),
        ({"workers": 3}, (3, 3), False),
        ({"workers": 9}, (4, 4), False),
        ({"workers": "auto"}, (1, min(CORES, 4)), False),
        ({"workers": "auto", "node_ids": ["test_a.py::test_a"]}, (1, min(CORES, 4)), True),
    ],
)
def test_a_call_needs_a_core_for_each_worker_and_one_test_may_pass(
    root: Path, arguments: dict[str, Any], cores: tuple[int, int], may_pass: bool
) -> None:
    assert need(root, **arguments) == Need(*cores, may_pass=may_pass, checkout=str(root), patience=DEFAULT_TIMEOUT / 2)


@pytest.mark.parametrize(
    ("name", "text", "workers"),
    [
        ("pytest.ini", "[pytest]\naddopts = -q\n    -n auto\n", "auto"),
        ("tox.ini", "[pytest]\naddopts = --numprocesses=logical\n", "auto"),
        ("setup.cfg", "[tool:pytest]\naddopts: -n4 -q\n", 4),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-n=auto"\n', "auto"),
        ("pyproject.toml", '[tool.pytest]\naddopts = ["-n", "auto", "-n", "2"]\n', 2),
        ("pytest.toml", '[pytest]\naddopts = ["-nauto"]\n', "auto"),
        ("tox.ini", "[testenv]\ncommands = pytest -n auto\n", 1),
        ("pytest.ini", "[pytest]\naddopts =\n    -n\n    4\ntestpaths = a\n", 4),
        ("pytest.ini", "[pytest]\naddopts = -k n -n 0 --no-network auto\n", 1),
        ("pytest.ini", "no section\n", 1),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = 3\n", 1),
    ],
)
def test_workers_that_the_project_starts_by_itself_need_cores_too(
    root: Path, name: str, text: str, workers: int | str
) -> None:
    (root / name).write_text(text)

    assert workers_in_addopts(root) == workers
    assert need(root).most == min(CORES if workers == "auto" else int(workers), 4)
    assert need(root, workers=2).most == 2


def test_a_call_waits_for_half_the_usual_time_limit_or_its_own_if_that_is_longer(root: Path) -> None:
    assert need(root, timeout=7).patience == need(root, "discover_tests").patience == DEFAULT_TIMEOUT / 2
    assert need(root, timeout=2 * DEFAULT_TIMEOUT).patience == DEFAULT_TIMEOUT


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", "pytest.ini", "pyproject.toml"])
@pytest.mark.parametrize(
    "text", [f"[x]\nk{' ' * 500_000}b\n", "[testenv]\ncommands\n    pytest\n", "\xff[", f"addopts{' -n' * 20_000}"]
)
def test_no_settings_file_can_delay_or_fail_a_call(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)

    assert workers_in_addopts(root) == 1


def test_only_the_settings_that_pytest_uses_count(root: Path) -> None:
    (root / "pytest.ini").write_text("[pytest]\n")
    (root / "tox.ini").write_text("[pytest]\naddopts = -n 4\n")

    assert workers_in_addopts(root) == 1


def test_only_whole_runs_of_tests_disturb_each_other(root: Path) -> None:
    (root / ".git").mkdir()
    (root / "member").mkdir()

    assert need(root / "member").checkout == str(root)
    assert need(root, "investigate_failure", node_id="test_a.py::test_a").checkout == str(root)
    assert need(root, "discover_tests").checkout is None
    assert need(root, shard=Shard(1, 2, None)).checkout is None


def test_progress_grows_while_a_call_waits_and_is_told_only_what_is_new() -> None:
    told: list[Any] = []
    place = PlaceInQueue(told.append)

    for ahead in (2, 2, 1, 0, 3, 0):
        place.tell(ahead)

    assert [each.words.rpartition(", ")[2] for each in told] == [
        *("2 calls before it", "1 call before it", "no calls before it", "3 calls before it", "no calls before it")
    ]
    assert all(isinstance(each, Steps) and 0 < each.finished < 1 for each in told)
    assert [each.finished for each in told] == sorted({each.finished for each in told})


def test_notices_tell_what_a_call_shared(root: Path) -> None:
    project = Project(configure(Options(root=str(root)), {}))

    assert Turn(project, Held(2), Need(1, 2)).notices == []
    assert Turn(project, Held(1, is_late=True), Need(1, 2, patience=60)).notices == [
        "No core was free for 60 s, so it ran beside other calls, which takes longer."
    ]
    assert Turn(project, Held(1, others=3), Need(1, 2)).notices == [
        "3 other runs of this checkout went on at the same time: databases, ports and files can get mixed up.",
        "Only 1 of 2 cores were free.",
    ]
    assert Turn(project, Held(1), Need(2, 2), is_own=True).notices == []


async def test_turns_are_given_in_the_order_of_asking_and_never_too_many_at_once() -> None:
    calls = CallSlots(at_once=2)
    order: list[int] = []
    told: list[int] = []
    running: set[int] = set()

    async def call(number: int) -> None:
        async with calls.one(told.append):
            order.append(number)
            running.add(number)
            assert len(running) <= 2
            await anyio.lowlevel.checkpoint()
            running.discard(number)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(call, number)

    assert order == list(range(20))
    assert calls.scopes == []
    assert told[:3] == [0, 1, 2]


async def test_the_end_reaches_what_runs_what_waits_and_what_comes_later() -> None:
    calls = CallSlots(at_once=1)
    ended: list[str] = []
    told: list[int] = []

    async def call(name: str) -> None:
        with pytest.raises(ExecutionFailed) as error:
            async with calls.one(told.append):
                await anyio.sleep_forever()
        assert error.value.data["error_type"] == "interrupted"
        ended.append(name)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for name in ("runs", "waits"):
                tasks.start_soon(call, name)
            await anyio.wait_all_tasks_blocked()
            calls.end()
        await call("comes later")

    assert sorted(ended) == ["comes later", "runs", "waits"]
