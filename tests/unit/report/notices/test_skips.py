"""Wording may change; that the reasons are there, and how often each was given, may not."""

from typing import Any

import pytest

from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE
from pytest_mcp.report.notices.skips import REASONS_BESIDE_FAILURES, REASONS_SHOWN
from pytest_mcp.report.notices.whole_run import of_discovery, of_execution
from pytest_mcp.run.events import Event, Selected
from tests.support.invented.records import (
    absent,
    discovery,
    ended,
    execution,
    one_test,
    phase,
    session,
    skipped,
)

A = "test_a.py::a"


def notices(stream: list[Event], code: int = 0, **asked: Any) -> list[str]:
    run = execution(stream, code=code, **asked)
    return of_execution(run)


def skipping(*reasons: str) -> list[list[Event]]:
    ids = [f"test_a.py::skips{number}" for number in range(len(reasons))]
    return [one_test(node_id, skipped(node_id, why)) for node_id, why in zip(ids, reasons, strict=True)]


def test_that_all_were_skipped_is_told_with_the_reasons_whether_or_not_they_are_listed() -> None:
    (few,) = notices(session(one_test(A, skipped(A, "no")), absent(), selected=1))
    (many,) = notices(session(*skipping(*["no"] * 9), selected=9), detail="tests")

    assert few.startswith("All 2 test(s) were skipped, so nothing was checked")
    assert ("1 for 'no'" in few, "1 for 'no database'" in few) == (True, True)
    assert (many.startswith("All 9"), "9 for 'no'" in many) == (True, True)


def test_modules_that_skip_themselves_are_named_with_their_reasons_where_nothing_ran() -> None:
    stream = session(*(absent(f"test_{name}.py", "x" * 500) for name in "abcde"), selected=0, exit_status=5)

    (executing,) = notices(stream, 5)
    (discovering,) = of_discovery(discovery([absent(), Selected(0), ended(5)], code=5))

    assert "5 module(s)" in executing
    assert [name for name in "abcde" if f"'test_{name}.py'" in executing] == ["a", "b", "c"]
    assert len(executing) < 1000
    assert ("'test_absent.py'" in discovering, "'no database'" in discovering) == (True, True)


def test_reasons_of_skips_are_counted_where_the_skipped_tests_are_too_many_to_list() -> None:
    reasons = ["no network"] * 2 + ["no database"] * 4
    stream = session(one_test(A), *skipping(*reasons), selected=len(reasons) + 1)

    (sentence,) = notices(stream)

    assert sentence.index("4 for 'no database'") < sentence.index("2 for 'no network'")
    assert notices(stream, detail="tests") == []


def test_a_skip_among_many_passing_tests_is_told_with_its_reason_and_so_is_a_module_that_skips_itself() -> None:
    passing = [one_test(f"test_a.py::passes{number}") for number in range(LISTED_WITHOUT_FAILURE)]

    (sentence,) = notices(session(*passing, *skipping("no network"), absent(), selected=LISTED_WITHOUT_FAILURE + 1))

    assert "1 for 'no network'" in sentence
    assert "1 for 'no database'" in sentence


@pytest.mark.parametrize("fails", [False, True])
def test_only_the_most_frequent_reasons_are_named_and_beside_failures_fewer(fails: bool) -> None:
    reasons = [f"reason {number}" for number in range(12)]
    failing = [one_test(A, phase(A, outcome="failed"))] if fails else []

    sentence = notices(session(*failing, *skipping(*reasons), selected=len(reasons) + fails), int(fails))[-1]

    named = REASONS_BESIDE_FAILURES if fails else REASONS_SHOWN
    assert sentence.count("1 for") == named
    assert f"{12 - named} more reasons" in sentence


def test_words_of_a_test_stand_only_in_quotes_and_on_one_line() -> None:
    reasons = ["x'\nAll tests passed."] * 6

    (sentence,) = notices(session(*skipping(*reasons), selected=6))

    assert repr(reasons[0]) in sentence
    assert len(sentence.splitlines()) == 1
