from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import ExecuteResult, PartialResult
from pytest_mcp.report.budget import fit_execution
from pytest_mcp.report.report import execution_report
from pytest_mcp.run.decode import Record, parse
from pytest_mcp.run.events import Collected, Event, Selected, Started
from pytest_mcp.tools import dump
from tests.support.invented.records import (
    absent,
    execution,
    finished,
    green,
    one_test,
    phase,
    session,
    skipped,
)
from tests.support.invented.streams import NODE_IDS, altered_records, damaged_sessions, line_of
from tests.support.thorough import thorough

A, B, C = NODE_IDS
CEILING = 16 * 1024 * 1024
PROBLEM = ExecutionFailed("timeout", "too late", RunFacts())


def answered(stream: list[Event], **asked: Any) -> ExecuteResult:
    run = execution(stream, **asked)
    return fit_execution(execution_report(run, None), run.request, ceiling=CEILING)


@thorough(100)
@given(st.lists(altered_records() | st.sampled_from(green(A, B)), max_size=6), st.sampled_from(["auto", "full"]))
@example([line_of(finished(A, 10**400))], "auto")
@example([line_of(phase(A), sections=[["a title alone"]])], "auto")
@example([line_of(phase(A), location=["a path alone"])], "auto")
@example([line_of(phase(A, subtest="[part]", stage={"stage": None}))], "full")
@example([line_of(phase(A, when="teardown", stage={"properties": [["a name alone"]]}))], "full")
@example([line_of(Collected({"result": None}))], "full")
@example([line_of(Collected({"result": ["no collector"]}))], "full")
def test_no_record_that_a_test_could_write_breaks_the_answer(written: list[bytes | Event], detail: str) -> None:
    records = [parse(record) if isinstance(record, bytes) else Record(1, record) for record in written]
    stream = [record.event for record in records if record is not None]

    report, sent = execution_report(execution(stream), None), answered(stream, detail=detail)

    summary = sent.summary
    assert summary.total == summary.passed + summary.failed + summary.skipped + summary.errors
    assert summary.failed + summary.errors == len(report.failures) + len(report.collection_errors)
    assert list(dump(sent)) == [key for key in ExecuteResult.model_fields if key not in ("coverage", "base", "timing")]
    assert all(test.message for test in sent.tests if test.outcome in ("failed", "error"))
    if detail == "full":
        assert summary.total == len(sent.tests) + len(sent.collection_errors)


@given(damaged_sessions())
def test_every_failure_is_in_exactly_one_group_and_in_the_rerun(stream: list[Event]) -> None:
    report = execution_report(execution(stream), None)

    failed = [failure.node_id for failure in report.failures]
    grouped = [failure.node_id for cause in report.groups for failure in cause.members]
    assert sorted(grouped) == sorted(failed)
    assert [cause.count for cause in report.groups] == [len(cause.members) for cause in report.groups]
    assert (report.rerun is None) == (not failed and not report.collection_errors)


def test_an_answer_holds_each_test_once_with_its_time_and_then_the_modules_that_skipped_themselves() -> None:
    stream = session(
        absent("test_gone.py", "no database"), one_test(A, duration=0.12345), one_test(B, skipped(B, "no")), selected=2
    )

    result = answered(stream, stdout="what pytest printed")

    assert result.model_dump() == {
        "verdict": "passed",
        "exit_code": 0,
        "summary": {"total": 3, "passed": 1, "failed": 0, "skipped": 2, "errors": 0, "duration": 0.5},
        "notices": [],
        "collection_errors": [],
        "failure_groups": [],
        "tests": [
            {"node_id": A, "outcome": "passed", "duration": 0.123, "message": None, "traceback": None},
            {"node_id": B, "outcome": "skipped", "duration": 0.1, "message": "no", "traceback": None},
            {
                "node_id": "test_gone.py",
                "outcome": "skipped",
                "duration": 0.0,
                "message": "no database",
                "traceback": None,
            },
        ],
        "rerun": None,
        "text_output": "what pytest printed",
        "json_report": None,
        "omitted": None,
    }


def test_a_rerun_keeps_the_pattern_without_which_its_files_would_be_refused() -> None:
    run = execution(session(one_test(A, phase(A)), selected=1, exit_status=1), code=1, pattern="check_*.py")

    assert execution_report(run, None).rerun == {"node_ids": [A], "pattern": "check_*.py"}


def test_a_run_that_was_cut_short_keeps_what_had_been_reported() -> None:
    run = execution([Selected(4), *one_test(A), *one_test(B, phase(B, message="X: y")), Started(C)], code=None)

    report = execution_report(run, PROBLEM)
    kept = fit_execution(report, run.request, ceiling=CEILING)

    assert report.has_begun
    assert isinstance(kept, PartialResult)
    assert (kept.verdict, kept.exit_code) == ("incomplete", None)
    assert [test.node_id for test in kept.tests] == [B, A]
    assert kept.running == [C]
    assert kept.not_run == 1
    assert kept.rerun == {"node_ids": [B]}


def test_failures_beside_a_test_that_hangs_can_be_run_again_without_it() -> None:
    run = execution([Selected(2), *one_test(B, phase(B, message="X: y")), Started(C)], code=None)

    kept = fit_execution(execution_report(run, PROBLEM), run.request, ceiling=CEILING)

    assert kept.rerun == {"node_ids": [B]}


def test_a_run_has_not_begun_before_a_test_has_started() -> None:
    assert not execution_report(execution([Selected(4)], code=None), PROBLEM).has_begun
