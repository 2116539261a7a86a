from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mcp.api.requests import MAX_NODE_IDS
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE
from pytest_mcp.events.collection import Collected, Selected
from pytest_mcp.events.decode import Record, parse
from pytest_mcp.events.model import Event, Interrupted, Started
from pytest_mcp.report.result import discovered, executed, partial, stopped_itself
from tests.support.records import (
    absent,
    discovery,
    execution,
    finished,
    green,
    item,
    ledger,
    one_test,
    phase,
    session,
    skipped,
    uncollected,
)
from tests.support.streams import NODE_IDS, altered_records, damaged_sessions, line_of

A, B, C = NODE_IDS


@settings(max_examples=100)
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

    result = executed(execution([record.event for record in records if record is not None], detail=detail))

    summary = result.summary
    assert summary.total == summary.passed + summary.failed + summary.skipped + summary.errors
    bad = [test for test in result.tests if test.outcome in ("failed", "error")]
    assert summary.failed + summary.errors == len(bad) + len(result.collection_errors)
    if detail == "full" or summary.passed + summary.skipped <= LISTED_WITHOUT_FAILURE:
        assert summary.total == len(result.tests) + len(result.collection_errors)


@given(damaged_sessions())
def test_every_failure_is_in_exactly_one_group_and_in_the_rerun(stream: list[Event]) -> None:
    result = executed(execution(stream))

    failed = [test.node_id for test in result.tests if test.outcome in ("failed", "error")]
    grouped = [node_id for cause in result.failure_groups for node_id in (cause.example, *cause.node_ids)]
    assert sorted(grouped) == sorted(failed)
    assert [cause.count for cause in result.failure_groups] == sorted(
        (1 + len(cause.node_ids) for cause in result.failure_groups), reverse=True
    )
    assert result.rerun == ({"node_ids": failed} if failed else None)


def test_an_answer_holds_each_test_once_with_its_time_and_then_the_modules_that_skipped_themselves() -> None:
    stream = session(
        absent("test_gone.py", "no database"), one_test(A, duration=0.12345), one_test(B, skipped(B, "no")), selected=2
    )

    result = executed(execution(stream, stdout="what pytest printed"))

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

    assert executed(run).rerun == {"node_ids": [A], "pattern": "check_*.py"}


def test_an_answer_has_each_cause_once_the_largest_first() -> None:
    one = {"message": "ValueError: x", "location": ["a.py", 3]}
    elsewhere = {"message": "ValueError: x", "location": ["a.py", 4]}
    stream = session(phase(A, **elsewhere), phase(B, **one), phase(C, **one), selected=3, exit_status=1)

    groups = executed(execution(stream, code=1)).failure_groups

    assert [(cause.count, cause.location, cause.example) for cause in groups] == [(2, "a.py:3", B), (1, "a.py:4", A)]


@pytest.mark.parametrize(("detail", "listed"), [("auto", 1), ("tests", 2 + LISTED_WITHOUT_FAILURE), ("full", 7)])
def test_many_tests_that_passed_are_counted_and_listed_only_when_asked_for(detail: str, listed: int) -> None:
    ids = [f"test_a.py::passes{number}" for number in range(LISTED_WITHOUT_FAILURE + 1)]
    stream = session(*map(one_test, ids), one_test(A, phase(A)), selected=len(ids) + 1, exit_status=1)

    result = executed(execution(stream, code=1, detail=detail))

    assert result.summary.passed == len(ids)
    assert len(result.tests) == listed


def test_a_rerun_names_every_failure_or_the_files_where_they_are_more_than_a_call_may_name() -> None:
    few = [f"test_{number % 3}.py::t[{number}]" for number in range(MAX_NODE_IDS)]
    many = [*few, "test_0.py::one_more"]

    exact, files = (executed(execution([phase(node_id) for node_id in ids], code=1)).rerun for ids in (few, many))

    assert exact == {"node_ids": few}
    assert files == {"node_ids": ["test_0.py", "test_1.py", "test_2.py"]}


def test_a_run_that_was_cut_short_keeps_what_had_been_reported() -> None:
    run = execution([Selected(4), *one_test(A), *one_test(B, phase(B, message="X: y")), Started(C)], code=None)

    kept = partial(run)

    assert kept is not None
    assert (kept.verdict, kept.exit_code) == ("incomplete", None)
    assert [test.node_id for test in kept.tests] == [A, B]
    assert kept.running == [C]
    assert kept.not_run == 1
    assert kept.rerun == {"node_ids": [B]}


def test_nothing_is_partial_before_a_test_has_started_or_where_none_was_to_run() -> None:
    assert partial(execution([Selected(4)], code=None)) is None
    assert partial(discovery([item(A)])) is None


@pytest.mark.parametrize(
    ("stream", "itself"),
    [
        ([uncollected(), Interrupted("Interrupted", "1 error during collection", [])], True),
        ([phase(A), Interrupted("Interrupted", "stopping after 1 failures", [])], True),
        ([Interrupted("Interrupted", "x", [])], False),
        ([phase(A), Interrupted("KeyboardInterrupt", "", [])], False),
        ([phase(A)], False),
    ],
)
def test_pytest_stopped_itself_only_where_it_had_a_failure_to_stop_for(stream: list[Event], itself: bool) -> None:
    assert stopped_itself(ledger(*stream)) is itself


@pytest.mark.parametrize(
    ("told", "described"),
    [
        (item("a/test_b.py::test_c", line=7), ("a.test_b", None, "test_c", "a/test_b.py", 7)),
        (
            item("test_b.py::O::I::t[a::b[c]]", classes=["O", "I"], function="t[a::b[c]]"),
            ("test_b", "O::I", "t", "test_b.py", 1),
        ),
        (item("v1.2/test_b.py::t", line=None), ("v1.2.test_b", None, "t", "v1.2/test_b.py", None)),
        (item("notes.txt::notes.txt"), ("notes", None, "notes.txt", "notes.txt", 1)),
    ],
)
def test_a_discovered_test_is_described_by_module_class_function_file_and_line(
    told: Any, described: tuple[str | None, ...]
) -> None:
    (test,) = discovered(discovery([told])).tests

    assert (test.module, test.class_name, test.function, test.file, test.line) == described


def test_a_discovery_counts_what_it_lists_and_keeps_what_could_not_be_collected() -> None:
    result = discovered(discovery([item(A), uncollected("test_x.py", traceback="E   ImportError: no x"), item(B)]))

    assert result.count == 2
    assert [test.node_id for test in result.tests] == [A, B]
    assert [(error.file, error.error_type, error.message) for error in result.collection_errors] == [
        ("test_x.py", "ImportError", "no x")
    ]
