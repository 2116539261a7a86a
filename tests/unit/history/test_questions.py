"""What an answer of test_history says, and how much of it."""

from pathlib import Path

import pytest

from pytest_mcp.api.errors import InvalidParams
from pytest_mcp.api.results import OmittedTests
from pytest_mcp.config.model import Bounds
from pytest_mcp.history.questions import PERHAPS_FLAKY, failing_tests, fitted, one_test
from pytest_mcp.history.request_and_result import (
    ChangedDuration,
    Durations,
    FailingTests,
    FlakyTest,
    HistoryResult,
    OneTest,
    TestHistory,
)
from pytest_mcp.history.runs import EMPTY, read_runs
from pytest_mcp.history.store import TestRow
from pytest_mcp.report import serialize, tokens
from pytest_mcp.tools import test_history
from tests.support.history.histories import HOUR, Past

MANY = 200
NAME = "tests/test_shop.py::test_number"
WHEN = {"since": "2023-11-14 22:13", "commit": "abcdef0+changes"}
BOUNDS = Bounds(Path("/"), max_timeout=60, max_tokens=1_000_000)
TestHistory.__test__ = False
test_history.__test__ = False  # type: ignore[attr-defined]


FLAKY = FlakyTest(node_id=NAME, failed=4, runs=37, pattern="PPFP", states=2, also=0, hint=None, **WHEN)
FAILING = FailingTests(count=3, node_ids=[NAME], runs=1, passed_at=None, failed_before=0, hint=None, **WHEN)
SLOWER = ChangedDuration(name=NAME, before=1.0, now=2.0, runs=6, **WHEN)


def answer(**parts: object) -> HistoryResult:
    return EMPTY.model_copy(update={"runs": 1, **parts})


@pytest.mark.parametrize("most", [500, 1_500, 10_000])
def test_an_answer_fits_its_budget_and_counts_what_it_leaves_out(most: int) -> None:
    sent = fitted(answer(flaky=[FLAKY] * MANY, omitted=OmittedTests(tests=7, hint="")), most_tokens=most, ceiling=10**6)

    assert sent.flaky
    assert sent.omitted is not None
    assert len(sent.flaky) + sent.omitted.tests == MANY + 7
    assert most / 3 < tokens.estimate(serialize.line(sent.model_dump())) <= most


def test_what_is_left_out_is_counted_in_tests_whatever_the_question() -> None:
    groups = answer(failing=[FAILING] * MANY)
    durations = answer(slow=Durations(changed=[SLOWER] * MANY, suites=[SLOWER] * MANY, slowest=[]))

    few, changed = (fitted(each, most_tokens=500, ceiling=10**6) for each in (groups, durations))

    assert few.omitted is not None
    assert 3 * len(few.failing or []) + few.omitted.tests == 3 * MANY
    assert changed.slow is not None
    assert changed.omitted is not None
    assert len(changed.slow.changed) + len(changed.slow.suites) + changed.omitted.tests == 2 * MANY


def test_an_answer_that_fits_is_sent_as_it_is() -> None:
    counts = {"runs": 40, "failed": 0, "skipped": 0, "failing_since": None, "flaky": None}
    times = {"quartiles": [0.1, 0.2, 0.3], "trend": "steady", "daily": [0.1] * 14}
    one = OneTest.model_validate({"node_id": NAME, "pattern": "P" * 40, **counts, **times})
    every = answer(flaky=[FLAKY], slow=Durations(changed=[], suites=[SLOWER], slowest=[]), failing=[], test=one)

    assert fitted(every, most_tokens=1_500, ceiling=10**6) == every
    cut = fitted(every, most_tokens=1, ceiling=10**6)
    assert (cut.flaky, cut.test and (cut.test.pattern, cut.test.daily)) == ([], ("P", []))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "about"),
        ({"about": "test"}, "node_id"),
        ({"about": "slow", "days": 0}, "days"),
        ({"about": "slow", "max_tokens": 499}, "max_tokens"),
        ({"about": "slow", "path": "../x"}, "path"),
        ({"about": "flaky", "node_id": "t.py::x", "path": "t.py"}, "path"),
        ({"about": "flaky", "nodes": 1}, "nodes"),
    ],
)
def test_a_wrong_argument_is_refused_by_its_name(tmp_path: Path, arguments: dict[str, object], field: str) -> None:
    (tmp_path / "t.py").touch()

    with pytest.raises(InvalidParams) as refused:
        test_history().accept(arguments, BOUNDS._replace(root=tmp_path))

    assert refused.value.data["field"] == field


def groups(past: Past) -> list[tuple[list[str], str | None, int, int, bool]]:
    """Names, the run since which they fail, failures in a row, failures before, whether they passed before."""
    found = failing_tests(past.runs()).failing or []
    return [
        (each.node_ids, each.since and each.since[11:13], each.runs, each.failed_before, each.passed_at is not None)
        for each in found
    ]


def test_what_failed_last_fails_now_since_the_first_failure_after_the_last_pass(past: Past) -> None:
    for old, new, mended, never, again in map(tuple, ["PPFFF", "PPPFF", "FPPFP", "FFPFP", "FFSFF"]):
        past.run(
            {"t.py::old": old, "t.py::new": new, "t.py::mended": mended, "t.py::never": never, "t.py::again": again}
        )

    assert groups(past) == [
        (["t.py::again"], "03", 1, 2, True),
        (["t.py::new"], "02", 2, 0, True),
        (["t.py::old"], "01", 3, 0, True),
        (["t.py::never"], "23", 5, 0, False),
    ]


def test_tests_that_fail_since_the_same_run_with_one_cause_are_one_group(past: Past) -> None:
    names = [f"t.py::test_{number}" for number in range(30)]
    for letter in "PFF":
        past.run(dict.fromkeys(names, letter))
    past.run([*(TestRow(name, "F", 0.1, cause="ab" * 8) for name in names[1:]), TestRow(names[0], "F", 0.1, "c" * 16)])

    found = failing_tests(past.runs()).failing or []
    assert [(each.count, each.node_ids) for each in found] == [(29, sorted(names)[1:4]), (1, names[:1])]


def test_a_test_that_was_renamed_no_longer_fails(past: Past) -> None:
    others = {f"t.py::test_{number}": "P" for number in range(5)}
    past.run(others | {"t.py::old_name": "F"})
    past.run(others | {"t.py::new_name": "F"})

    answer = failing_tests(past.runs())

    assert [each.node_ids for each in answer.failing or []] == [["t.py::new_name"]]
    assert answer.notices == ["1 failed test(s) are left out: a later run of the whole suite no longer has them."]


def test_a_test_that_only_was_not_selected_or_not_reached_still_fails(past: Past) -> None:
    others = {f"t.py::test_{number}": "P" for number in range(20)}
    past.run(others | {"t.py::broken": "F"})
    past.run({"t.py::test_0": "P"}, selection='{"path":"t.py"}')
    # Stopped at its first failure, and a file that could not be collected.
    past.run({"t.py::test_0": "P", "t.py::test_1": "F"}, verdict="failed")
    past.run(others, verdict="failed", errors=1)

    assert "t.py::broken" in {name for names, *_ in groups(past) for name in names}


def test_a_failure_right_after_a_pass_on_the_same_code_is_not_blamed_on_the_code(past: Past) -> None:
    past.run({"t.py::flaky": "P", "t.py::broken": "P"}, state="before")
    past.run({"t.py::flaky": "P"}, state="now", selection='{"path":"t.py"}')
    past.run({"t.py::flaky": "F", "t.py::broken": "F"}, state="now")

    hints = {each.node_ids[0]: each.hint for each in failing_tests(past.runs()).failing or []}

    assert hints == {"t.py::flaky": PERHAPS_FLAKY, "t.py::broken": None}


def test_the_pass_may_be_older_than_the_days_that_are_looked_at(past: Past) -> None:
    past.letters("t.py::test_x", "P", commit_id="a" * 40)
    past.letters("t.py::test_x", "FF", commit_id="b" * 40)

    (group,) = failing_tests(past.runs(past.now - HOUR)).failing or []

    assert (group.commit, group.passed_at, group.runs) == ("bbbbbbb", "aaaaaaa", 2)


@pytest.mark.parametrize(("slower_from", "trend"), [(10_000, "steady"), (34, "2.0 times slower since ")])
def test_one_test_has_quartiles_its_days_and_a_trend(past: Past, slower_from: int, trend: str) -> None:
    past.suite(40, slower_from=slower_from)
    past.store.execute("INSERT INTO trends SELECT id, 1, 1, 0, 0.5 FROM tests WHERE node_id = 't.py::test_0'")

    test = one_test(past.runs(), "t.py::test_0").test

    assert test is not None
    assert (test.flaky, test.failing_since) == (None, None)
    assert test.trend.startswith(trend)
    assert test.quartiles is not None
    assert 0.02 < test.quartiles[0] < test.quartiles[1] < test.quartiles[2] < 0.2
    assert test.daily[0] == 0.5
    assert len(test.daily) in (3, 4)


def test_one_test_that_fails_is_told_since_when_and_skips_do_not_end_that(past: Past) -> None:
    past.letters("t.py::test_x", "PP", commit_id="a" * 40)
    past.letters("t.py::test_x", "FSF", commit_id="b" * 40)

    test = one_test(past.runs(), "t.py::test_x").test

    assert test is not None
    assert (test.pattern, test.failing_since, test.trend) == ("PPFSF", "bbbbbbb", "unknown: too few passes")
    assert (test.runs, test.failed, test.skipped, test.quartiles) == (5, 2, 1, [0.01] * 3)


def test_an_unknown_test_has_no_runs_and_a_name_of_several_is_refused(past: Past) -> None:
    past.letters("t.py::test_x[1]", "P")

    assert one_test(past.runs(), "t.py::test_y").notices == ["No run of this test is recorded."]
    assert one_test(read_runs(past.store, "other"), "t.py::test_x").runs == 0
    with pytest.raises(InvalidParams) as refused:
        one_test(past.runs(), "t.py::test_x")
    assert refused.value.data["field"] == "node_id"
    assert "for example t.py::test_x[1]" in str(refused.value)
