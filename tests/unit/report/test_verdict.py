"""When a run passed: the truth table of the verdict, and what the evidence of a run is."""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import get_args

import pytest
from hypothesis import event as note
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mcp.api.results import Verdict
from pytest_mcp.process.job import Exit
from pytest_mcp.report import verdict
from pytest_mcp.report.verdict import Evidence, verdict_of
from pytest_mcp.run.decode import Record
from pytest_mcp.run.events import (
    CollectionFailed,
    CollectionSkipped,
    Event,
    Finished,
    Phase,
    Selected,
    SessionEnded,
    Started,
    Unreported,
)
from pytest_mcp.run.ledger import Ledger
from tests.support.invented.records import (
    absent,
    ended,
    exited,
    finished,
    green,
    ledger,
    one_test,
    phase,
    session,
    skipped,
    uncollected,
)
from tests.support.invented.streams import NODE_IDS, damaged_sessions
from tests.support.thorough import thorough

A, B, _ = NODE_IDS

exits = st.builds(exited, st.sampled_from([0, 0, 0, 1, 2, 5, None]))


def judge(told: Ledger, exit: Exit, *, missed: bool = False) -> Verdict:  # noqa: A002 - the word for it
    return verdict_of(verdict.run_evidence(told, exit, missed=missed))


@pytest.mark.parametrize("evidence", [Evidence(*facts) for facts in product((False, True), repeat=6)], ids=str)
def test_only_the_absence_of_every_bad_fact_is_a_pass_and_the_worst_fact_names_the_verdict(evidence: Evidence) -> None:
    """Every combination of: no result, failed, unfinished, nothing selected, a bad exit, a target missed."""
    if evidence.has_no_result:
        expected = "incomplete"
    elif evidence.has_failed:
        expected = "failed"
    elif evidence.is_unfinished:
        expected = "incomplete"
    elif evidence.is_empty:
        expected = "no_tests"
    elif evidence.has_bad_exit:
        expected = "failed"
    elif evidence.has_missed:
        expected = "incomplete"
    else:
        assert evidence == Evidence()
        expected = "passed"

    assert verdict_of(evidence) == expected


def part(judged: Verdict, *, failed: bool = False) -> Evidence:
    """Of a run with this verdict."""
    by_verdict = {
        "passed": Evidence(has_failed=failed),
        "failed": Evidence(has_failed=True),
        "no_tests": Evidence(is_empty=True, has_failed=failed),
        "incomplete": Evidence(has_no_result=True, has_failed=failed),
    }
    return by_verdict[judged]


PARTS = [parts for count in (1, 2, 3) for parts in combinations_with_replacement(get_args(Verdict), count)]


@pytest.mark.parametrize("parts", PARTS, ids="-".join)
@pytest.mark.parametrize("one_is_missing", [False, True])
@pytest.mark.parametrize("may_be_empty", [False, True])
def test_parts_pass_together_only_if_all_are_there_and_each_passed_or_may_be_empty(
    parts: Sequence[Verdict], one_is_missing: bool, may_be_empty: bool
) -> None:
    """Shards and members: missing ones, those that did not start, and those without tests."""
    together = verdict_of(
        verdict.merged_evidence(
            [part(each) for each in parts], one_is_missing=one_is_missing, may_be_empty=may_be_empty
        )
    )

    if "failed" in parts:
        assert together == "failed"
    elif one_is_missing or "incomplete" in parts:
        assert together == "incomplete"
    elif set(parts) == {"no_tests"}:
        assert together == "no_tests"
    elif "no_tests" in parts and not may_be_empty:
        assert together == "incomplete"
    else:
        assert set(parts) <= {"passed", "no_tests"}
        assert together == "passed"


@pytest.mark.parametrize("judged", get_args(Verdict))
def test_a_part_with_a_failure_makes_all_fail_whatever_it_calls_itself(judged: Verdict) -> None:
    parts = [part("passed"), part(judged, failed=True)]

    assert verdict_of(verdict.merged_evidence(parts, one_is_missing=False, may_be_empty=True)) == "failed"


def has_an_outcome(node_id: str, stream: list[Event]) -> bool:
    return any(
        (isinstance(record, Finished) and record.id == node_id and record.passed)
        or (isinstance(record, Phase) and record.id == node_id and record.outcome == "skipped")
        for record in stream
    )


def has_earned_it(stream: list[Event], exit: Exit) -> bool:  # noqa: A002 - the word for it
    """Every condition of `passed`, computed from the raw events."""
    ids = {record.id for record in stream if isinstance(record, (Started, Phase, Finished))}
    selections = [record.count for record in stream if isinstance(record, Selected)]
    return (
        exit.code == 0
        and any(isinstance(record, SessionEnded) and record.exit_status == 0 for record in stream)
        and bool(selections)
        and len(ids) >= max(selections)
        and all(has_an_outcome(node_id, stream) for node_id in ids)
        and not any(isinstance(record, Phase) and record.outcome == "failed" for record in stream)
        and not any(isinstance(record, CollectionFailed) for record in stream)
        and (bool(ids) or any(isinstance(record, CollectionSkipped) for record in stream))
    )


@thorough(200)
@given(damaged_sessions(), exits)
@example([*green(A), Started(A)], exited(0))
@example([*green(A), ended(1)], exited(0))
@example(green(A), exited(None))
def test_whatever_the_child_tells_passed_means_that_everything_selected_ran_and_nothing_failed(
    stream: list[Event],
    exit: Exit,  # noqa: A002 - the word for it
) -> None:
    judged = judge(ledger(*stream), exit)

    note(judged)
    assert judged != "passed" or has_earned_it(stream, exit)


@pytest.mark.parametrize("lost", range(len(green(A, B))))
def test_a_green_session_passes_and_no_longer_does_when_a_record_of_its_end_is_lost(lost: int) -> None:
    stream = green(A, B)
    # That a test started does not count.
    harmless = {0, *(index for index, record in enumerate(stream) if isinstance(record, Started))}

    judged = judge(ledger(*stream[:lost], *stream[lost + 1 :]), exited(0))

    assert judge(ledger(*stream), exited(0)) == "passed"
    assert judged == ("passed" if lost in harmless else "incomplete")


@pytest.mark.parametrize(
    ("stream", "code", "expected"),
    [
        pytest.param(session(one_test(A, phase(A)), selected=1, exit_status=1), 1, "failed", id="failed"),
        pytest.param(session(one_test(A, phase(A)), selected=1), 0, "failed", id="failed, exit 0"),
        pytest.param(session(one_test(A, phase(A, when="setup")), selected=1), 0, "failed", id="error"),
        pytest.param(session(uncollected(), one_test(A), selected=1), 0, "failed", id="collection"),
        pytest.param(session(selected=0, exit_status=5), 5, "no_tests", id="none"),
        pytest.param(session(selected=0), 0, "no_tests", id="none, exit 0"),
        pytest.param(session(absent(), selected=0, exit_status=5), 5, "no_tests", id="only a module that skips itself"),
        pytest.param(session(absent(), one_test(A), selected=1), 0, "passed", id="a module skips itself"),
        pytest.param(session(one_test(A, skipped(A, "no")), selected=1), 0, "passed", id="all skipped"),
        pytest.param(session(one_test(A), selected=2), 0, "incomplete", id="one never ran"),
        pytest.param(session(finished(A, passed=False), selected=1), 0, "incomplete", id="--setup-plan"),
        pytest.param([Selected(1), *one_test(A)], 0, "incomplete", id="os._exit(0)"),
        pytest.param(session(one_test(A), selected=1), 1, "failed", id="coverage threshold"),
        pytest.param(session(one_test(A), selected=1, exit_status=1), 0, "failed", id="status changed late"),
        pytest.param([], 0, "incomplete", id="silence"),
    ],
)
def test_the_verdict_follows_from_what_was_told_and_the_exit_code_can_only_worsen_it(
    stream: list[Event], code: int, expected: str
) -> None:
    assert judge(ledger(*stream), exited(code)) == expected


def test_a_gap_in_the_numbers_of_the_records_is_no_pass() -> None:
    stream = session(one_test(A), one_test(B), selected=2)
    whole, holed = Ledger(), Ledger()

    for number, event in enumerate(stream, 1):
        whole.take(Record(number, event))
        holed.take(Record(number + (number > 3), event))

    assert judge(whole, exited(0)) == "passed"
    assert (holed.lost, judge(holed, exited(0))) == (1, "incomplete")


@given(damaged_sessions(), exits)
@example(green(A), exited(0))
def test_a_missed_target_turns_a_pass_into_an_incomplete_run_and_changes_nothing_else(
    stream: list[Event],
    exit: Exit,  # noqa: A002 - the word for it
) -> None:
    told = ledger(*stream)

    without, missed = judge(told, exit), judge(told, exit, missed=True)

    assert missed == ("incomplete" if without == "passed" else without)


def test_a_report_that_could_not_be_made_is_no_pass() -> None:
    told = ledger(*session(one_test(A), selected=1), Unreported("call of x"))

    assert judge(told, exited(0)) == "incomplete"
