"""What an answer of test_history says, and how much of it."""

from pathlib import Path

import pytest

from pytest_mcp.api.errors import InvalidParams
from pytest_mcp.api.history import HistoryResult, TestHistory
from pytest_mcp.config.model import Bounds
from pytest_mcp.history.questions import failing, flaky, one_test
from pytest_mcp.history.questions.failing import Failing
from pytest_mcp.history.questions.flaky import Flaky, FlakyTest, Result
from pytest_mcp.history.questions.runs import PastRun, Runs
from pytest_mcp.report import serialize, tokens
from pytest_mcp.report.history import answers
from pytest_mcp.tools import test_history

RUN = PastRun(1, 1_700_000_000.0, "abcdef0123", "s", 1, "{}", "failed", 1, 1, 0, 0, 1.0, "3.12", "8.4", "desk")
RUNS = Runs((RUN,))
MANY = 500
NAMES = {number: f"tests/test_shop.py::test_number_{number}" for number in range(MANY)}
BOUNDS = Bounds(Path("/"), max_timeout=60, max_tokens=1_000_000)
TestHistory.__test__ = False
test_history.__test__ = False  # type: ignore[attr-defined]


def request(**arguments: object) -> TestHistory:
    return TestHistory.model_validate({"about": "flaky", **arguments}, context=BOUNDS)


def flaky_tests(count: int) -> flaky.Answer:
    known = Flaky(failed=4, runs=37, states=2, since=1, last=1, is_order=False)
    letters = [Result(1, letter, None) for letter in "PPFP"]
    return flaky.Answer([FlakyTest(number, known, letters, also=0) for number in range(count)], RUNS)


@pytest.mark.parametrize("most", [500, 1_500, 10_000])
def test_an_answer_fits_its_budget_and_counts_what_it_leaves_out(most: int) -> None:
    found = flaky_tests(MANY)

    answer = answers.fitted(lambda size: answers.of_flaky(found, NAMES, size), request(max_tokens=most), ceiling=10**6)

    assert answer.flaky
    assert answer.omitted is not None
    assert len(answer.flaky) + answer.omitted.tests == MANY
    assert most / 3 < tokens.estimate(serialize.line(answer.model_dump())) <= most


def test_an_answer_that_fits_leaves_nothing_out_and_has_one_question_answered() -> None:
    answer = answers.of_flaky(flaky_tests(1), NAMES, 10)

    assert answer.model_dump() == {
        "runs": 1,
        "flaky": [
            {
                "node_id": NAMES[0],
                "failed": 4,
                "runs": 37,
                "pattern": "PPFP",
                "states": 2,
                "since": "2023-11-14 22:13",
                "commit": "abcdef0+changes",
                "also": 0,
                "hint": None,
            }
        ],
        "slow": None,
        "failing": None,
        "test": None,
        "notices": [],
        "omitted": None,
    }


def test_a_group_of_failing_tests_is_one_entry_with_some_of_their_names() -> None:
    group = Failing(list(range(40)), RUN, runs=3, earlier=0, passed=None)

    answer = answers.of_failing(failing.Answer([group], RUNS, gone=2), NAMES, 10)

    assert answer.failing is not None
    assert (answer.failing[0].count, answer.failing[0].node_ids) == (40, [NAMES[0], NAMES[1], NAMES[2]])
    assert answer.notices == ["Left out, because a later run of everything no longer has them: 2 tests that failed."]


@pytest.mark.parametrize(
    "made",
    [
        answers.of_flaky(flaky.Answer([], Runs(())), {}, 1),
        answers.of_failing(failing.Answer([], Runs(())), {}, 1),
        answers.of_test(one_test.Answer("t", Runs(()), [], None, [], "unknown", None, None), 1),
    ],
)
def test_an_empty_history_says_that_it_is_empty(made: HistoryResult) -> None:
    assert made.notices == ["No run of this project is recorded in these days."]


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


def test_null_means_unset(tmp_path: Path) -> None:
    asked = dict.fromkeys(("node_id", "path", "days", "max_tokens"))

    accepted = test_history().accept({"about": "flaky", **asked}, BOUNDS._replace(root=tmp_path))

    assert accepted == request()
