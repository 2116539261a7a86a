"""What an answer of test_history says, and how much of it."""

from pathlib import Path

import pytest

from pytest_mcp.api.errors import InvalidParams
from pytest_mcp.api.results import OmittedTests
from pytest_mcp.config.model import Bounds
from pytest_mcp.history.answer import (
    ChangedDuration,
    Durations,
    FailingTests,
    FlakyTest,
    HistoryResult,
    OneTest,
    TestHistory,
)
from pytest_mcp.history.past_runs import fitted
from pytest_mcp.history.runs import EMPTY
from pytest_mcp.report import serialize, tokens
from pytest_mcp.tools import test_history

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
