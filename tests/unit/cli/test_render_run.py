"""The report of `pytest-mcp run`."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.errors import ExecutionFailed, InternalError, RunFacts
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli import render_run
from pytest_mcp.report import report
from pytest_mcp.report.budget import fit_execution
from pytest_mcp.report.report import Report
from pytest_mcp.run.events import Covered, CoveredFile, Deselected, Event, Started, Timed
from pytest_mcp.terminal.colours import Painter
from tests.support.invented.records import BOUNDS, execution, one_test, phase, raised, session, skipped, uncollected

PLAIN, PAINTED = Painter(has_colours=False), Painter(has_colours=True)
CEILING = 16 * 1024 * 1024


def failed(node_id: str, message: str, line: int, **told: Any) -> list[Event]:
    function = node_id.rpartition(":")[2]
    return one_test(node_id, raised(message, (f"test_a.py:{line}", function, "run()"), node_id=node_id, **told))


def both(events: list[Event], *, code: int = 1, stdout: str = "", **asked: Any) -> tuple[Report, ExecuteResult]:
    run = execution(events, code=code, stdout=stdout, max_tokens=BOUNDS.max_tokens, **asked)
    known = report.execution_report(run, None)
    return known, fit_execution(known, run.request, ceiling=CEILING)


def lines(*events: Event | list[Event], selected: int, again: str | None = None, **more: Any) -> list[str]:
    told = session(*events, selected=selected, exit_status=more.get("code", 1))
    return render_run.report_lines(*both(told, **more), PLAIN, again=again)


def test_a_green_run_is_told_in_one_line_when_there_is_nothing_else() -> None:
    told = [one_test(f"test_a.py::test_{n}") for n in range(6)]

    assert lines(*told, selected=6, code=0, stdout="6 passed in 0.05s") == ["passed: 6 passed in 0.50 s"]


def test_where_the_time_went_is_drawn_in_bars_of_one_scale_below_them_the_largest_saving() -> None:
    database = ("database", "function", "conftest.py:3", 4.0, 80, 1.0, 0.0, "")
    slowest = ("a.py::fine", 5.0, 3.0, 0.0, 0.0)
    parts = [("setup", 5.0, 80), ("call", 3.0, 80), ("teardown", 1.0, 80), ("start", 0.5, 1), ("collection", 0.5, 1)]
    timed = Timed(False, 10.0, 1.0, parts, [("yaml", 0.5, 9)], [], [database], [slowest], [])

    said = lines(*one_test("a.py::fine"), timed, selected=1, code=0, timing=True)

    assert said[2:-2] == [
        *("Imports", "    0.500 s ##                   yaml (9x)", ""),
        *("Slowest tests", "    8.000 s #################### a.py::fine (setup 5.0 s, call 3.0 s)", ""),
        *("Fixtures", "    5.000 s #################### database function conftest.py:3 (80x, teardown 1.0 s)", ""),
        "Parts of the run",
        "    5.000 s #################### setup (80x)",
        "    3.000 s ############         call (80x)",
        "    1.000 s ####                 teardown (80x)",
        "    0.500 s ##                   start",
        "    0.500 s ##                   collection",
        "",
        "1.0 s of 10.0 s passed before the first test.",
        "fixture database is built 80 times, 5.0 s of 10.0 s: scope function",
    ]


def test_few_tests_without_a_failure_are_named_with_the_reason_of_a_skip() -> None:
    told = [one_test("a.py::fine"), one_test("a.py::off", skipped("a.py::off", "no\nprinter"))]

    assert lines(*told, selected=2, code=0) == [
        "passed a.py::fine",
        "skipped a.py::off (no\\nprinter)",
        "",
        "passed: 1 passed, 1 skipped in 0.50 s",
    ]


def test_a_failure_has_its_message_its_place_and_its_traceback() -> None:
    told = [failed("test_a.py::test_one", "ValueError: no\nwhy", 3)]

    assert lines(*told, selected=1, again="pytest-mcp run x") == [
        "FAILED test_a.py::test_one",
        "ValueError: no",
        "",
        "test_a.py:3: in test_one",
        "    run()",
        "E   why",
        "",
        "To run the failures again: pytest-mcp run x",
        "",
        "failed: 1 failed in 0.50 s",
    ]


def test_an_annotation_says_what_differs() -> None:
    compared = "AssertionError: assert {'city'...} == {'city'...}\n  ['city']: 'Bremen' != 'Hamburg'"
    told = session(failed("test_a.py::test_one", compared, 3), selected=1, exit_status=1)

    (annotation,) = render_run.annotations(*both(told), "shop/")

    assert annotation == (
        "::error file=shop/test_a.py,line=3,title=test_a.py%3A%3Atest_one::"
        "AssertionError: assert {'city'...} == …%0A['city']: 'Bremen' != 'Hamburg'"
    )


def test_the_largest_cause_stands_last_and_of_each_one_failure_is_whole() -> None:
    many = [failed(f"test_a.py::test_many[{n}]", "ValueError: many", 5) for n in range(9)]
    told = [failed("test_a.py::test_one", "ValueError: one", 3), *many]

    said = lines(*told, selected=10)

    assert [line for line in said if line.startswith("FAILED") and " - " not in line] == [
        "FAILED test_a.py::test_one",
        "FAILED test_a.py::test_many[0]",
    ]
    others = said.index("and 8 more with the same cause:") + 1
    assert said[others : others + 3] == ["  test_a.py::test_many[1]", "  test_a.py::test_many[2]", "  and 6 others"]
    assert said[-11:-1] == [
        "FAILED test_a.py::test_one - ValueError: one",
        *(f"FAILED test_a.py::test_many[{number}] - ValueError: many" for number in range(9)),
    ]


@pytest.mark.parametrize("detail", ["tests", "full"])
def test_with_every_test_asked_for_every_failure_is_whole(detail: str) -> None:
    told = [failed(f"test_a.py::test_many[{n}]", "ValueError: many", 5) for n in range(3)]

    said = lines(*told, uncollected(), uncollected("test_b.py"), selected=3, detail=detail)

    assert sum(line.startswith("FAILED") and " - " not in line for line in said) == 3
    assert not any("same cause" in line for line in said)


def test_tests_that_were_deselected_are_counted_once() -> None:
    said = lines(
        one_test("a.py::b"),
        Deselected(4, None),
        selected=1,
        code=0,
        stdout="a hook speaks\n\n1 passed, 4 deselected in 0.05s",
    )

    assert said[:2] == ["a hook speaks", ""]
    assert [line for line in said if "deselected" in line] == ["passed: 1 passed, 4 deselected in 0.50 s"]


def test_what_pytest_printed_besides_comes_first_without_its_closing_line() -> None:
    said = lines(one_test("a.py::b"), selected=1, code=0, stdout="a hook speaks\n\n1 passed in 0.05s")

    assert said[:2] == ["a hook speaks", ""]
    assert not any("0.05s" in line for line in said)


def test_files_with_gaps_stand_before_the_notices_the_worst_last() -> None:
    gaps: list[Event] = [
        CoveredFile("a.py", 9, 1, "4", [[3, 4]]),
        CoveredFile("b.py", 9, 4, "2,5-7", []),
        Covered(72.222, 18, 5, 4, 1, 2, None),
    ]

    said = lines(*gaps, *one_test("test_a.py::test_one"), selected=2, code=0, coverage="all")

    assert said[said.index("a.py: not run 4; not taken 3->4") :][:5] == [
        "a.py: not run 4; not taken 3->4",
        "b.py: not run 2, 5-7",
        "coverage: 18 lines, 13 ran; 4 branches, 3 taken (72.22 %); partial: 1 of 2 selected tests did not run",
        "",
        "note: The run stopped early: 1 of 2 selected tests did not run.",
    ]


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
    assert render_run.report_lines(*both(events, code=code), PLAIN, again=None)[-1] == closing


def test_of_a_run_that_was_cut_short_the_last_line_tells_what_is_missing() -> None:
    events = session(one_test("a.py::b"), [Started("a.py::c")], selected=4)[:-1]
    run = execution(events, code=None)
    known = report.execution_report(run, ExecutionFailed("timeout", "too late", RunFacts()))

    partial = fit_execution(known, run.request, ceiling=CEILING)

    assert (
        render_run.report_lines(known, partial, PLAIN, again=None)[-1]
        == "incomplete: 1 passed, 1 cut off, 2 not run in 0.70 s"
    )


def test_on_a_terminal_what_matters_is_painted() -> None:
    text = "    def test_one():\n>       run()\nE       ValueError: no\n\ntest_a.py:3: ValueError"
    events = session(failed("test_a.py::test_one", "ValueError: no", 3, traceback=text), selected=1)

    said = render_run.report_lines(*both(events, detail="full"), PAINTED, again=None)

    assert "\x1b[1;31mFAILED test_a.py::test_one\x1b[0m" in said
    assert "\x1b[31mE       ValueError: no\x1b[0m" in said
    assert "\x1b[1m>       run()\x1b[0m" in said
    assert said[-1] == "\x1b[1;31mfailed: 1 failed in 0.50 s\x1b[0m"


def test_colours_of_pytest_stay_where_there_are_colours_and_end_with_its_text() -> None:
    printed = "\x1b[33ma warning\x1b[2J"
    events = session(one_test("a.py::b"), selected=1)

    painted, plain = (
        render_run.report_lines(*both(events, code=0, stdout=printed, color=True), ink, again=None)[0]
        for ink in (PAINTED, PLAIN)
    )

    assert painted == "\x1b[33ma warning\\x1b[2J\x1b[0m"
    assert plain == "\\x1b[33ma warning\\x1b[2J"


def test_an_error_is_told_in_the_words_of_its_message() -> None:
    error = ExecutionFailed("timeout", "too\x1b slow", RunFacts(stderr="stuck\n"), details=["running: a.py::b"])

    assert render_run.error_lines(error, PLAIN) == ["too\\x1b slow", "running: a.py::b", "stderr| stuck"]
    assert render_run.error_lines(error, PAINTED)[0] == "\x1b[1;31mtoo\\x1b slow\x1b[0m"


def test_a_bug_of_ours_is_told_with_its_traceback() -> None:
    said = render_run.error_lines(InternalError(ValueError("our own")), PLAIN)

    assert said[0] == "Internal server error: ValueError: our own"
    assert said[-1] == "ValueError: our own"


@given(st.text(), st.text(), st.text())
def test_nothing_that_a_test_says_can_control_a_terminal(name: str, message: str, printed: str) -> None:
    node_id = f"a.py::{name}"
    told = one_test(node_id, phase(node_id, message=message, location=[name, 1], traceback=message))

    said = lines(told, selected=1, stdout=printed, again=name)

    assert not re.search("[\x00-\x08\x0a-\x1f\x7f-\x9f]", "".join(said))
