"""The report of `pytest-mcp run`."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.errors import ExecutionFailed, InternalError, RunFacts
from pytest_mcp.api.results import CollectionError, ExecuteResult
from pytest_mcp.cli import render
from pytest_mcp.cli.colours import Painter
from pytest_mcp.events.model import Event, Started
from pytest_mcp.report import result as findings
from pytest_mcp.report.budget import fit_execution
from tests.support.records import BOUNDS, execution, one_test, phase, session, skipped

PLAIN, PAINTED = Painter(has_colours=False), Painter(has_colours=True)
CEILING = 16 * 1024 * 1024


def failed(node_id: str, message: str, line: int, **told: Any) -> list[Event]:
    traceback = (
        f"    def {node_id.rpartition(':')[2]}():\n>       run()\nE       {message}\n\ntest_a.py:{line}: ValueError"
    )
    return one_test(node_id, phase(node_id, message=message, location=["test_a.py", line], traceback=traceback, **told))


def result(events: list[Event], *, code: int = 1, stdout: str = "", **asked: Any) -> ExecuteResult:
    run = execution(events, code=code, stdout=stdout, max_tokens=BOUNDS.max_tokens, **asked)
    return fit_execution(findings.executed(run), run.request, ceiling=CEILING)


def lines(*events: Event | list[Event], selected: int, again: str | None = None, **more: Any) -> list[str]:
    told = session(*events, selected=selected, exit_status=more.get("code", 1))
    return render.of_run(result(told, **more), PLAIN, again=again)


def test_a_green_run_is_told_in_one_line_when_there_is_nothing_else() -> None:
    told = [one_test(f"test_a.py::test_{n}") for n in range(6)]

    assert lines(*told, selected=6, code=0, stdout="6 passed in 0.05s") == ["passed: 6 passed in 0.50 s"]


def test_few_tests_without_a_failure_are_named_with_the_reason_of_a_skip() -> None:
    told = [one_test("a.py::fine"), one_test("a.py::off", skipped("a.py::off", "no\nprinter"))]

    assert lines(*told, selected=2, code=0) == [
        "passed a.py::fine",
        "skipped a.py::off (no\\nprinter)",
        "",
        "passed: 1 passed, 1 skipped in 0.50 s",
    ]


def test_a_failure_has_its_message_its_place_and_its_traceback() -> None:
    told = [failed("test_a.py::test_one", "ValueError: no", 3)]

    assert lines(*told, selected=1, again="pytest-mcp run x") == [
        "FAILED test_a.py::test_one",
        "test_a.py:3: ValueError: no",
        "",
        "    def test_one():",
        ">       run()",
        "E       ValueError: no",
        "",
        "test_a.py:3: ValueError",
        "",
        "To run the failures again: pytest-mcp run x",
        "",
        "failed: 1 failed in 0.50 s",
    ]


def test_the_largest_cause_stands_last_and_of_each_one_failure_is_whole() -> None:
    many = [failed(f"test_a.py::test_many[{n}]", "ValueError: many", 5) for n in range(9)]
    told = [failed("test_a.py::test_one", "ValueError: one", 3), *many]

    said = lines(*told, selected=10)

    assert [line for line in said if line.startswith("FAILED")] == [
        "FAILED test_a.py::test_one",
        "FAILED test_a.py::test_many[0]",
    ]
    assert said[said.index("and 8 more with the same cause:") + 1 : -2] == [
        *(f"  test_a.py::test_many[{n}]" for n in range(1, 6)),
        "  and 3 others",
    ]


def test_with_every_test_asked_for_every_failure_is_whole() -> None:
    told = [failed(f"test_a.py::test_many[{n}]", "ValueError: many", 5) for n in range(3)]

    said = lines(*told, selected=3, detail="tests")

    assert sum(line.startswith("FAILED") for line in said) == 3
    assert not any("same cause" in line for line in said)


def test_a_cause_for_which_there_was_no_room_is_still_told() -> None:
    cut = result(session(failed("test_a.py::test_one", "ValueError: no", 3), selected=1)).model_copy(
        update={"tests": []}
    )

    said = render.of_run(cut, PLAIN, again=None)

    assert said[:3] == ["FAILED: 1 with one cause", "test_a.py:3: ValueError: no", "  test_a.py::test_one"]


def test_a_file_that_could_not_be_collected_has_its_line_and_its_exception() -> None:
    error = CollectionError(
        file="test_b.py", error_type="ModuleNotFoundError", message="No module named 'x'", line=3, traceback="E   no"
    )

    assert render.of_collection_error(error, PLAIN) == [
        "NOT COLLECTED test_b.py:3",
        "ModuleNotFoundError: No module named 'x'",
        "",
        "E   no",
    ]


def test_what_pytest_printed_besides_comes_first_without_its_closing_line() -> None:
    printed = "==== warnings summary ====\n  something old\n\n1 passed in 0.05s"

    said = lines(one_test("a.py::b"), selected=1, code=0, stdout=printed)

    assert said[:2] == ["==== warnings summary ====", "  something old"]
    assert not any("0.05s" in line for line in said)


def test_text_that_was_left_out_is_counted() -> None:
    said = lines(one_test("a.py::b"), selected=1, code=0, stdout="a word\n" * 2000)

    assert "--detail full shows all" in said[-3]


@pytest.mark.parametrize(
    ("events", "code", "closing"),
    [
        (session(selected=0, exit_status=5), 5, "no tests: nothing ran in 0.50 s"),
        (session(one_test("a.py::b"), selected=2), 0, "incomplete: 1 passed in 0.50 s"),
        (
            session(one_test("a.py::b", phase("a.py::b", when="setup")), selected=1),
            1,
            "failed: 1 error in 0.50 s",
        ),
    ],
)
def test_the_last_line_has_the_verdict_and_the_counts(events: list[Event], code: int, closing: str) -> None:
    assert render.of_run(result(events, code=code), PLAIN, again=None)[-1] == closing


def test_of_a_run_that_was_cut_short_the_last_line_tells_what_is_missing() -> None:
    events = session(one_test("a.py::b"), [Started("a.py::c")], selected=4)[:-1]
    partial = findings.partial(execution(events, code=None))
    assert partial is not None

    assert render.of_run(partial, PLAIN, again=None)[-1] == "incomplete: 1 passed, 1 running, 2 not run in 0.70 s"


def test_on_a_terminal_what_matters_is_painted() -> None:
    events = session(failed("test_a.py::test_one", "ValueError: no", 3), selected=1)

    said = render.of_run(result(events), PAINTED, again=None)

    assert "\x1b[1;31mFAILED test_a.py::test_one\x1b[0m" in said
    assert "\x1b[31mE       ValueError: no\x1b[0m" in said
    assert "\x1b[1m>       run()\x1b[0m" in said
    assert said[-1] == "\x1b[1;31mfailed: 1 failed in 0.50 s\x1b[0m"


def test_colours_of_pytest_stay_where_there_are_colours_and_end_with_its_text() -> None:
    printed = "\x1b[33ma warning\x1b[2J"
    events = session(one_test("a.py::b"), selected=1)

    painted, plain = (
        render.of_run(result(events, code=0, stdout=printed, color=True), ink, again=None)[0]
        for ink in (PAINTED, PLAIN)
    )

    assert painted == "\x1b[33ma warning\\x1b[2J\x1b[0m"
    assert plain == "\\x1b[33ma warning\\x1b[2J"


def test_an_error_is_told_in_the_words_of_its_message() -> None:
    error = ExecutionFailed("timeout", "too\x1b slow", RunFacts(stderr="stuck\n"), details=["running: a.py::b"])

    assert render.of_error(error, PLAIN) == ["too\\x1b slow", "running: a.py::b", "stderr| stuck"]
    assert render.of_error(error, PAINTED)[0] == "\x1b[1;31mtoo\\x1b slow\x1b[0m"


def test_a_bug_of_ours_is_told_with_its_traceback() -> None:
    said = render.of_error(InternalError(ValueError("our own")), PLAIN)

    assert said[0] == "Internal server error: ValueError: our own"
    assert said[-1] == "ValueError: our own"


@given(st.text(), st.text(), st.text())
def test_nothing_that_a_test_says_can_control_a_terminal(name: str, message: str, printed: str) -> None:
    node_id = f"a.py::{name}"
    told = one_test(node_id, phase(node_id, message=message, location=[name, 1], traceback=message))

    said = lines(told, selected=1, stdout=printed, again=name)

    assert not re.search("[\x00-\x08\x0a-\x1f\x7f-\x9f]", "".join(said))
