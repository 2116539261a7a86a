"""Simple cases; another test compares the whole report with the real plugin's."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import budget, report
from pytest_mcp.report.json_report import TOO_DEEP, build
from pytest_mcp.run.events import Collected, Deselected, Event, Warned
from tests.support.invented.records import ended, execution, one_test, phase, session

A = "sub/test_a.py::test_a"


def stage(status: str, **told: Any) -> dict[str, Any]:
    """One phase as the child reports it; its id is pytest's own, without the folder above pytest's root."""
    usual = {"nodeid": "test_a.py::test_a", "lineno": 3, "keywords": ["test_a"], "status": status, "properties": []}
    return usual | {"stage": {"duration": 0.1, "outcome": "passed"}} | told


def reported(*phases: tuple[str, str, dict[str, Any]]) -> list[Event]:
    told = [phase(A, when=when, outcome=outcome, stage=said) for when, outcome, said in phases]
    return session(one_test(A, *told), selected=1)


PASSED = [("setup", "passed", stage("")), ("call", "passed", stage("passed")), ("teardown", "passed", stage(""))]


def test_a_report_has_the_plugins_keys_in_the_plugins_order() -> None:
    report = build(execution(reported(*PASSED), detail="full"))

    assert list(report) == ["created", "duration", "exitcode", "root", "environment", "summary", "tests"]
    assert report["tests"] == [
        {
            "nodeid": "test_a.py::test_a",
            "lineno": 3,
            "outcome": "passed",
            "keywords": ["test_a"],
            "setup": {"duration": 0.1, "outcome": "passed"},
            "call": {"duration": 0.1, "outcome": "passed"},
            "teardown": {"duration": 0.1, "outcome": "passed"},
        }
    ]
    assert report["summary"] == {"passed": 1, "total": 1, "collected": 0}


def test_the_exit_code_is_the_one_that_a_plugin_saw_or_else_the_processes_own() -> None:
    seen = execution([ended(0, json_exit_code=1)], code=0, detail="full")
    cut_short = execution([], code=3, detail="full")

    assert build(seen)["exitcode"] == 1
    assert build(cut_short)["exitcode"] == 3
    assert build(cut_short)["created"] is None


def test_the_last_phase_that_was_no_pass_names_the_outcome() -> None:
    failed_then_error = reported(
        *PASSED[:1], ("call", "failed", stage("failed")), ("teardown", "failed", stage("error"))
    )

    report = build(execution(failed_then_error, detail="full"))

    assert report["tests"][0]["outcome"] == "error"
    assert report["summary"] == {"error": 1, "total": 1, "collected": 0}


def test_deselected_tests_count_as_collected_and_are_marked_in_their_collector() -> None:
    collector = {"nodeid": "test_a.py", "outcome": "passed", "result": [{"nodeid": "x"}, {"nodeid": "y"}]}
    stream: list[Event] = [Collected(collector), Deselected(1, ["y"]), ended(collected=1)]

    report = build(execution(stream, detail="full"))

    assert report["summary"] == {"total": 0, "collected": 2, "deselected": 1}
    assert report["collectors"] == [
        {"nodeid": "test_a.py", "outcome": "passed", "result": [{"nodeid": "x"}, {"nodeid": "y", "deselected": True}]}
    ]


def test_warnings_stand_in_the_report_only_when_there_are_any() -> None:
    warned = Warned("old", "DeprecationWarning", "runtest", "/project/a.py", 7, A)

    report = build(execution([warned, ended()], detail="full"))

    assert report["warnings"] == [
        {
            "message": "old",
            "category": "DeprecationWarning",
            "when": "runtest",
            "filename": "/project/a.py",
            "lineno": 7,
        }
    ]
    assert "warnings" not in build(execution([ended()], detail="full"))


def test_properties_that_a_test_recorded_are_read_from_its_teardown() -> None:
    recorded = ("teardown", "passed", stage("", properties=[["key", 1], ["other", None]]))

    report = build(execution(reported(*PASSED[:2], recorded), detail="full"))

    assert report["tests"][0]["user_properties"] == [{"key": 1}, {"other": None}]


def test_a_failed_subtest_is_kept_beside_the_call_of_its_test() -> None:
    part = phase(A, subtest="[part]", stage=stage("failed", stage={"outcome": "failed"}))
    call = phase(A, outcome="passed", stage=stage("passed"))

    report = build(execution(session(one_test(A, part, call), selected=1), detail="full"))

    assert report["tests"][0]["subtests"] == [{"description": "[part]", "outcome": "failed"}]
    assert report["tests"][0]["call"] == {"duration": 0.1, "outcome": "passed"}
    assert report["tests"][0]["outcome"] == "failed"


def test_a_property_that_is_nested_too_deeply_costs_itself_and_not_the_answer() -> None:
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    recorded = ("teardown", "passed", stage("", properties=[["key", nested], ["other", 1]]))
    run = execution(reported(*PASSED[:2], recorded), detail="full")

    answer = budget.fit_execution(report.execution_report(run, None), run.request, ceiling=2**24)

    assert TOO_DEEP in answer.model_dump_json()
    assert (answer.json_report or {})["tests"][0]["user_properties"][1] == {"other": 1}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.just("nodeid") | st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=3,
)
KEYS = ("nodeid", "lineno", "keywords", "status", "properties", "stage", "result")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, anything)))
def test_whatever_plugins_make_of_a_report_it_is_put_together(told: dict[str, Any]) -> None:
    """The status is what `pytest_report_teststatus` returns."""
    phases = [phase(A, subtest="[part]", stage=told), phase(A, when="teardown", stage=told)]
    events = [Collected(told), *session(one_test(A, *phases), selected=1)]

    assert build(execution(events, detail="full"))["summary"]["total"] == bool(told)
