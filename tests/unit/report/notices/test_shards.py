"""Wording may change; how much of the suite a shard is may not."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.api.results import ExecuteResult, ShardResult
from pytest_mcp.cli import exit_codes
from pytest_mcp.config.model import Shard
from pytest_mcp.events.collection import Deselected, Divided
from pytest_mcp.events.model import Event
from pytest_mcp.report import budget, result
from pytest_mcp.report.shards import facts
from tests.support.invented.records import execution, green, session

A, B = "test_a.py::a", "test_b.py::b"


def answered(*events: Event, code: int = 0) -> ExecuteResult:
    """The answer of shard 2 of 5."""
    run = replace(execution(list(events), code=code), shard=Shard(2, 5, "c" * 40))
    return budget.fit_execution(result.executed(run), run.request, ceiling=1_000_000)


def divided(tests: int, total: int = 9) -> Divided:
    return Divided(tests=tests, total=total, files=4, digest="d")


def test_a_shard_says_how_much_of_the_suite_it_is() -> None:
    answer = answered(divided(2), *green(A, B))

    assert answer.verdict == "passed"
    assert answer.notices == ["shard 2 of 5: 2 of 9 tests; not a run of the whole suite."]


def test_the_answer_of_a_shard_has_what_merge_needs_and_no_other_answer_has_it() -> None:
    run = execution(green(A))
    plain = budget.fit_execution(result.executed(run), run.request, ceiling=1_000_000)
    answer = answered(divided(1), *green(A))

    assert "shard" not in plain.model_dump()
    assert isinstance(answer, ShardResult)
    assert answer.shard.model_dump() == {
        "format": facts.FORMAT,
        "index": 2,
        "count": 5,
        "tests": 1,
        "total": 9,
        "division": "d",
        "commit": "c" * 40,
        "selection": answer.shard.selection,
        "skipped_modules": 0,
    }


def test_calls_with_the_same_choice_of_tests_have_the_same_selection() -> None:
    def selection(**asked: Any) -> str | None:
        run = replace(execution(green(A), **asked), shard=Shard(1, 2, None))
        told = facts.of_run(run, run.request)
        return told.selection if told else None

    assert selection(keywords="a", timeout=9) == selection(keywords="a", detail="tests")
    assert selection(keywords="a") != selection(keywords="b")


def test_an_empty_shard_is_no_pass_and_no_failure() -> None:
    answer = answered(divided(0), Deselected(9, None), *session(selected=0, exit_status=5), code=5)

    assert (answer.verdict, exit_codes.of_execution(answer)) == ("no_tests", 0)
    (notice,) = answer.notices
    assert notice.startswith("shard 2 of 5: 0 of 9 tests: this shard is empty, because only 4 files have tests")


def test_a_suite_without_tests_is_no_empty_shard() -> None:
    answer = answered(divided(0, total=0), *session(selected=0, exit_status=5), code=5)

    assert (answer.verdict, exit_codes.of_execution(answer)) == ("no_tests", 5)
    assert any(notice.startswith("No test was selected") for notice in answer.notices)


@pytest.mark.parametrize("told", [[], [divided(1)], [divided(3)]], ids=["unknown", "fewer", "more"])
def test_a_shard_that_did_not_run_its_share_is_incomplete(told: list[Event]) -> None:
    answer = answered(*told, *green(A, B))

    assert answer.verdict == "incomplete"
    assert answer.notices[0].startswith("shard 2 of 5: ")
