"""What is concluded from runs in different orders. The runs are made up here, so that chance and time are too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import Options, configure
from pytest_mcp.investigation.order import Arrangement, Order, OrderSearch, Suite
from pytest_mcp.investigation.result import Effect
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.run import Run
from tests.support.invented.records import execution, one_test, phase, session

TEST = "test_z.py::test_it"
SUITE = Suite((*(f"test_{file}.py::test_{number}" for file in "abcd" for number in range(8)), TEST))
LEAK = "test_b.py::test_5"
TOGETHER = ["test_a.py::test_1", LEAK]
# All 32, only their files, five halves, then twice again and once alone.
TRIES = 10

# Whether the test fails after these tests, with these files imported, in its nth run. None: it has no outcome.
Rule = Callable[[set[str], set[str], int], bool | None]


def _never(_before: set[str], _files: set[str], _number: int) -> bool:
    return False


@dataclass(frozen=True)
class MadeUp(Runner):
    """Runs nothing."""

    rule: Rule = field(default=_never)
    most: int = 1000
    # From this run on, the test has no outcome.
    dies_at: int = 1000
    # Whether `execute_tests` keeps the order of its ids, and a run does.
    keeps_order: bool = True
    is_reordered: bool = False
    runs: list[Sequence[str]] = field(default_factory=list)

    async def run(
        self, ids: Sequence[str] | None, *, paths: Sequence[str] = (), trace: Any = None, calls: Any = None
    ) -> Run[ExecuteTests]:
        assert ids is not None
        assert trace is calls is None
        if len(self.runs) == self.most:
            raise OutOfTime
        self.runs.append(ids)
        files = {each.partition("::")[0] for each in ids} if not paths else set(paths)
        failed = self.rule(set(ids[:-1]), files, len(self.runs))
        is_dead = failed is None or len(self.runs) >= self.dies_at
        records = [] if is_dead else [*one_test(TEST, *([phase(TEST)] if failed else []))]
        return execution(session([*records, *(one_test(ids[0]) if self.is_reordered else [])], selected=1))

    async def run_as_asked(self, node_ids: Sequence[str]) -> Run[ExecuteTests]:
        return await self.run(node_ids if self.keeps_order else [TEST])


async def searched(tmp_path: Path, rule: Rule, effect: Effect = "fails_after", **settings: Any) -> tuple[Order, MadeUp]:
    config = configure(Options(root=str(tmp_path)), {})
    suite = settings.pop("suite", SUITE)
    runner = MadeUp(config, Candidate(Path("python"), ""), Deadline.after(60), rule=rule, **settings)
    return await OrderSearch(runner, TEST, effect).run(suite), runner


def polluters(found: Order) -> list[str]:
    return [] if found.polluter is None else found.polluter.node_ids


async def test_one_test_of_many_is_found_and_confirmed(tmp_path: Path) -> None:
    found, runner = await searched(tmp_path, lambda before, _files, _number: LEAK in before)

    assert polluters(found) == [LEAK]
    assert (found.is_complete, found.is_contradicted, found.can_be_shown) == (True, False, True)
    assert runner.runs[-3:] == [[LEAK, TEST], [LEAK, TEST], [TEST]]
    assert found.evidence == (
        "after all 32 earlier tests in the suite: fails (no message)",
        f"failed 2 of 2 times more after {LEAK}, not alone",
    )


@pytest.mark.parametrize(
    ("rule", "effect", "expected"),
    [
        (lambda before, _files, _number: LEAK not in before, "fails_without", [LEAK]),
        # Importing it is enough.
        (lambda _before, files, _number: "test_c.py" in files, "fails_after", ["test_c.py"]),
        (lambda before, _files, _number: {*TOGETHER} <= before, "fails_after", TOGETHER),
    ],
)
async def test_tests_that_it_needs_files_and_tests_that_only_work_together_are_found_the_same_way(
    tmp_path: Path, rule: Rule, effect: Effect, expected: list[str]
) -> None:
    found, _ = await searched(tmp_path, rule, effect)

    assert found.polluter is not None
    assert (found.polluter.node_ids, found.polluter.effect) == (expected, effect)


async def test_a_failure_that_does_not_come_back_is_chance(tmp_path: Path) -> None:
    found, _ = await searched(tmp_path, lambda _before, _files, number: number == 1)

    assert (found.is_different, found.is_contradicted, found.polluter) == (True, True, None)


async def test_what_outlives_the_processes_is_told_and_names_no_test(tmp_path: Path) -> None:
    left: list[str] = []

    def rule(before: set[str], _files: set[str], _number: int) -> bool:
        left.extend(before & {LEAK})
        return bool(left)

    found, _ = await searched(tmp_path, rule)

    assert (found.is_different, found.is_contradicted, found.polluter) == (True, False, None)
    assert found.evidence[-1].startswith("now fails alone too: a test left something behind")


async def test_an_order_that_a_call_does_not_keep_is_told(tmp_path: Path) -> None:
    found, _ = await searched(tmp_path, lambda before, _files, _number: LEAK in before, keeps_order=False)

    assert (polluters(found), found.can_be_shown) == ([LEAK], False)


@pytest.mark.parametrize("number", range(3, TRIES + 1))
async def test_no_outcome_rules_out_no_test_and_is_not_called_chance(tmp_path: Path, number: int) -> None:
    found, _ = await searched(tmp_path, lambda before, _files, _number: LEAK in before, dies_at=number)

    assert (found.is_different, found.is_complete, found.is_contradicted) == (True, False, False)
    assert LEAK in (polluters(found) or found.left)
    assert "the time was over" not in found.evidence[-1]


async def test_tests_that_could_not_be_tried_are_counted(tmp_path: Path) -> None:
    found, _ = await searched(tmp_path, _never, suite=replace(SUITE, unnamed=2))

    assert found.evidence[-1] == "after 2 tests with names that a call cannot contain: not tried"


async def test_a_run_in_another_order_than_asked_says_nothing(tmp_path: Path) -> None:
    found, runner = await searched(tmp_path, lambda before, _files, _number: LEAK in before, is_reordered=True)

    assert (found.is_different, found.is_complete, len(runner.runs)) == (False, False, 1)
    assert found.evidence == (
        "after all 32 earlier tests in the suite: unknown (the project changes the order of the tests)",
    )


@pytest.mark.parametrize("most", range(TRIES + 1))
async def test_whenever_the_time_is_over_what_was_ruled_out_is_told(tmp_path: Path, most: int) -> None:
    found, _ = await searched(tmp_path, lambda before, _files, _number: LEAK in before, most=most)

    assert found.is_complete == (most >= TRIES)
    assert found.is_different == (most > 0)
    told = "not tried" if most == 0 else "not known" if most < 3 else "ruled out" if most < TRIES - 3 else ""
    assert told in found.evidence[-1]
    # All; half of the files; one file; half of its tests; a quarter of them.
    assert len(found.left) == [0, 32, 32, 16, 8, 4, 2, 0, 0, 0, 0][most]
    assert not found.left or LEAK in found.left


async def test_a_set_that_may_not_be_the_smallest_is_not_said_to_be_sure(tmp_path: Path) -> None:
    def rule(before: set[str], _files: set[str], _number: int) -> bool | None:
        """A test before it ends the process, unless another ran."""
        return None if LEAK in before and "test_b.py::test_4" not in before else LEAK in before

    found, _ = await searched(tmp_path, rule)

    assert polluters(found) == ["test_b.py::test_4", LEAK]
    assert not found.is_complete


IDS = ("a.py::one", "b.py::one", "b.py::two", "b.py::three", "c.py::one")
FILES = ("a.py", "b.py", "c.py")


def arranged(place: str, *before: str, files: tuple[str, ...] | None = FILES) -> Arrangement:
    return Arrangement(place, before, files)


@pytest.mark.parametrize(
    ("suite", "node_id", "expected"),
    [
        (
            Suite(IDS),
            "b.py::three",
            [
                arranged("after all 2 earlier tests in its file", "b.py::one", "b.py::two", files=None),
                arranged("after all 3 earlier tests in the suite", *IDS[:3]),
            ],
        ),
        (Suite(IDS[1:4]), "b.py::two", [arranged("after the earlier test in its file", "b.py::one", files=None)]),
        # It may depend on what other files import.
        (Suite(IDS), "a.py::one", [arranged("after importing all test files in the suite")]),
        (Suite(IDS, is_shuffled=True), "a.py::one", [arranged("after all 4 other tests in the suite", *IDS[1:])]),
        (Suite(IDS), "d.py::not_collected", []),
    ],
)
async def test_the_nearest_tests_are_tried_first(suite: Suite, node_id: str, expected: list[Arrangement]) -> None:
    assert suite.arrangements(node_id) == expected
