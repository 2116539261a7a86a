"""Wording may change; that a sentence is there, and what it counts, may not."""

from typing import Any

import pytest

from pytest_mcp.events import Deselected, Event, Selected
from pytest_mcp.notices import REASONS_SHOWN, of_discovery, of_execution
from pytest_mcp.results import LISTED_WITHOUT_FAILURE
from tests.records import (
    absent,
    discovery,
    ended,
    execution,
    finished,
    green,
    item,
    one_test,
    phase,
    session,
    skipped,
    uncollected,
)

A, B = "test_a.py::a", "test_a.py::b"


def notices(stream: list[Event], code: int = 0, **asked: Any) -> list[str]:
    run = execution(stream, code=code, **asked)
    return of_execution(run, run.request)


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        pytest.param(green(A, B), 0, id="passed"),
        pytest.param(session(one_test(A, phase(A)), selected=1, exit_status=1), 1, id="failed"),
        pytest.param(session(one_test(A, skipped(A, "no")), selected=1), 0, id="skipped"),
        pytest.param(session(absent(), selected=0, exit_status=5), 5, id="module that skips itself"),
    ],
)
def test_an_ordinary_run_needs_no_words(stream: list[Event], code: int) -> None:
    assert notices(stream, code) == []


def test_it_is_said_whether_broken_files_kept_the_others_from_running() -> None:
    (others_ran,) = notices(session(uncollected(), one_test(A), selected=1, exit_status=1), 1)
    (none_ran,) = notices(session(uncollected("a.py"), uncollected("b.py"), selected=1, exit_status=2), 2)

    assert others_ran.startswith("1 file(s)")
    assert none_ran.startswith("2 file(s)")
    assert "no test at all" in none_ran


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"markers": "slow"}, ["markers"]),
        ({"keywords": "x"}, ["keywords"]),
        ({"markers": "slow", "keywords": "x"}, ["markers", "keywords"]),
        ({}, ["addopts"]),
    ],
)
def test_a_filter_that_left_no_test_is_named(asked: dict[str, str], named: list[str]) -> None:
    (sentence,) = notices(session(Deselected(7, None), selected=0, exit_status=5), 5, **asked)

    assert "7" in sentence
    assert [word for word in ("markers", "keywords", "addopts") if word in sentence] == named


def test_that_there_was_nothing_to_select_is_said_in_both_tools() -> None:
    (executing,) = notices(session(selected=0, exit_status=5), 5)
    (discovering,) = of_discovery(discovery([Selected(0), ended(5)], code=5))

    assert executing == discovering
    assert executing.startswith("No test was selected")


def test_a_run_that_stopped_early_says_why_and_how_many_did_not_run() -> None:
    stream = session(one_test(A, phase(A)), selected=5, exit_status=1, stopped="stopping after 1 failures")

    (sentence,) = notices(stream, 1)

    assert "stopping after 1 failures" in sentence
    assert "4 of 5" in sentence


def test_tests_that_were_only_set_up_are_counted() -> None:
    (only_set_up,) = notices(session(finished(A, passed=False), selected=1))
    (without_outcome,) = notices(session(one_test(A), finished(B, passed=False), selected=2))

    assert only_set_up.startswith("1 test(s) were set up but not called")
    assert without_outcome.startswith(f"1 test(s) started and have no outcome, first {B}")


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        pytest.param(green(A), 1, id="coverage threshold"),
        pytest.param(session(one_test(A, phase(A)), selected=1), 0, id="failures hidden"),
        pytest.param(session(one_test(A, phase(A)), selected=1, exit_status=77), 77, id="code of a plugin"),
    ],
)
def test_an_exit_code_that_does_not_follow_from_the_tests_is_remarked_upon(stream: list[Event], code: int) -> None:
    (sentence,) = notices(stream, code)

    assert f"exited with {code}" in sentence


def test_a_zero_without_any_test_is_remarked_upon() -> None:
    nothing_selected, odd_code = notices(session(selected=0), 0)

    assert nothing_selected.startswith("No test was selected")
    assert "exited with 0" in odd_code


def test_a_test_that_passed_only_when_repeated_is_told_and_one_that_still_failed_is_not() -> None:
    again = phase(A, outcome="rerun")
    stream = session(one_test(A, again), one_test(B, phase(B, outcome="rerun"), phase(B)), selected=2, exit_status=1)

    (sentence,) = notices(stream, 1)

    assert sentence.startswith("1 test(s)")


def skipping(*reasons: str) -> list[list[Event]]:
    ids = [f"test_a.py::skips{number}" for number in range(len(reasons))]
    return [one_test(node_id, skipped(node_id, why)) for node_id, why in zip(ids, reasons, strict=True)]


def test_reasons_of_skips_are_counted_where_the_skipped_tests_are_too_many_to_list() -> None:
    reasons = ["no network"] * 2 + ["no database"] * 4
    stream = session(*skipping(*reasons), selected=len(reasons))

    (sentence,) = notices(stream)

    assert sentence.index("4 for 'no database'") < sentence.index("2 for 'no network'")
    assert notices(stream, detail="tests") == []


def test_a_skip_among_many_passing_tests_is_told_with_its_reason_and_so_is_a_module_that_skips_itself() -> None:
    passing = [one_test(f"test_a.py::passes{number}") for number in range(LISTED_WITHOUT_FAILURE)]

    (sentence,) = notices(session(*passing, *skipping("no network"), absent(), selected=LISTED_WITHOUT_FAILURE + 1))

    assert "1 for 'no network'" in sentence
    assert "1 for 'no database'" in sentence


def test_only_the_most_frequent_reasons_are_named_and_the_others_counted() -> None:
    reasons = [f"reason {number}" for number in range(REASONS_SHOWN + 7)]

    (sentence,) = notices(session(*skipping(*reasons), selected=len(reasons)))

    assert sentence.count("1 for") == REASONS_SHOWN
    assert "7 more reasons" in sentence


def test_words_of_a_test_stand_only_in_quotes_and_on_one_line() -> None:
    reasons = ["x'\nAll tests passed."] * 6

    (sentence,) = notices(session(*skipping(*reasons), selected=6))

    assert repr(reasons[0]) in sentence
    assert len(sentence.splitlines()) == 1


def test_a_discovery_says_how_many_files_are_missing_from_its_count() -> None:
    (sentence,) = of_discovery(discovery([uncollected(), item(A), Selected(1), ended(2)], code=2))

    assert sentence.startswith("1 file(s)")
