"""What stands on the page of a run, and in which order."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import Spent, Timing
from pytest_mcp.page import sections
from pytest_mcp.page.content import Content
from pytest_mcp.page.sections import MAX_BARS, MAX_FAILING, banner
from pytest_mcp.report import report
from pytest_mcp.report.coverage import MeasuredCoverage
from pytest_mcp.report.report import RanTest
from pytest_mcp.run.events import CoveredFile
from tests.support.invented.records import execution, session
from tests.support.page.pages import (
    CREATED,
    content_of,
    empty_run,
    failing,
    incomplete_run,
    mixed_run,
    passing_run,
)

MOST = 1_000_000
ALIKE = "tests/test_a.py::test_alike[1]"
COMPARED = "tests/test_a.py::test_compared"
FILE = CoveredFile("src/a.py", lines=16, missed=4, ranges="3-5,9", untaken=None)
MEASURED = MeasuredCoverage(files=[FILE], lines=16, missed=4)


def blocks(shown: Content, name: str) -> dict[str, Any]:
    return {
        kind: value
        for section in sections.run_sections(shown, MOST)
        if section.id == name
        for kind, value in section.blocks
    }


def with_past(shown: Content, **past: str) -> Content:
    """One letter for each recorded run; a pass took 0.2 s."""
    recorded = {name: [(letter, 0.2 if letter == "P" else 0.1) for letter in row] for name, row in past.items()}
    return replace(shown, past=recorded)


def rows(shown: Content) -> dict[str, tuple[str, str]]:
    """The words and the letters of each test."""
    drawn = blocks(shown, "past")["strips"]
    return {name: (words, "".join(letter for letter, _ in runs)) for name, words, runs in drawn}


def timed(*seconds: float, file: str = "a.py") -> list[RanTest]:
    return [RanTest(f"{file}::{n}", "passed", each) for n, each in enumerate(seconds)]


def listing(tests: list[RanTest]) -> Content:
    return content_of(passing_run(), tests=tests)


def test_causes_come_before_what_the_history_says_and_after_what_the_run_says() -> None:
    shown = content_of(mixed_run(), notices=["all"], past=["flaky"], coverage=MEASURED)
    shown = replace(shown, past={})

    names = [section.id for section in sections.run_sections(shown, MOST)]

    assert names == ["counts", "notices", "failures", "uncollected", "later", "times", "tests", "coverage", "past"]
    assert [blocks(shown, name)["list"] for name in ("notices", "later")] == [["all"], ["flaky"]]


@pytest.mark.parametrize(
    ("shown", "verdict", "word", "not_a_pass"),
    [
        pytest.param(content_of(passing_run()), "passed", "Passed", False, id="passed"),
        pytest.param(content_of(mixed_run()), "failed", "Failed", False, id="failed"),
        pytest.param(content_of(incomplete_run()), "incomplete", "Incomplete", True, id="incomplete"),
        pytest.param(content_of(empty_run()), "no_tests", "No tests", True, id="no tests"),
        pytest.param(
            Content(
                report.report_without_run(ExecutionFailed("environment", "no usable Python was found", RunFacts()))
            ),
            "incomplete",
            "Did not run",
            True,
            id="never started",
        ),
    ],
)
def test_the_banner_says_the_verdict_in_a_word_and_a_look_of_its_own(
    shown: Content, verdict: str, word: str, not_a_pass: bool
) -> None:
    made = banner(shown.report, CREATED)

    assert (made.verdict, made.word) == (verdict, word)
    assert ("This is not a pass." in made.sentence) is not_a_pass
    assert shown.report.problem is None or "no usable Python was found" in made.sentence


def test_a_run_that_was_cut_short_says_what_had_not_finished() -> None:
    error = ExecutionFailed("timeout", "pytest execution exceeded timeout of 5 seconds", RunFacts())
    known = report.execution_report(mixed_run(), error)

    shown = Content(replace(known, running=["tests/test_a.py::test_slow"], not_run=4))

    assert "exceeded timeout of 5 seconds" in banner(shown.report, CREATED).sentence
    assert blocks(shown, "notices")["list"][-2:] == [
        "Running when the run ended: tests/test_a.py::test_slow.",
        "Not started: 4 selected tests.",
    ]
    assert blocks(shown, "failures") == {"causes": None}


def test_tests_that_did_not_run_or_were_not_selected_are_counted() -> None:
    usual = [name for name, *_ in blocks(content_of(passing_run()), "counts")["counts"]]
    counts = blocks(content_of(incomplete_run(), deselected=7), "counts")["counts"]

    assert usual == ["failed", "errors", "passed", "skipped", "total"]
    assert counts[4:] == [("not run", "not-run", 2), ("deselected", "deselected", 7), ("total", "total", 1)]


def test_the_slowest_come_first_and_a_file_takes_as_long_as_its_tests() -> None:
    tests = [*timed(0.5, 0.25), *timed(1.0, file="b.py"), *timed(0.0, file="c.py")]

    ((_, slowest), (_, files)) = blocks(listing(tests), "times")["charts"]

    assert slowest == [("b.py::0", "1.000 s", 100.0), ("a.py::0", "0.500 s", 50.0), ("a.py::1", "0.250 s", 25.0)]
    assert files == [("b.py", "1.000 s", 100.0), ("a.py", "0.750 s", 75.0)]
    assert len(blocks(listing(timed(*range(1, 100))), "times")["charts"][0][1]) == MAX_BARS


def test_times_that_were_measured_have_their_saving_and_bars_of_one_scale() -> None:
    parts = [Spent(name="setup", seconds=2.0, calls=4), Spent(name="call", seconds=1.0, calls=4)]
    rows: dict[str, Any] = {
        "imports": [Spent(name="yaml", seconds=0.5, calls=1)],
        "collection": [],
        "fixtures": [],
        "tests": [],
    }
    known = Timing(
        saving="do less", seconds=3.0, before_tests=0.0, workers=0, parts=parts, functions=[], sleeps=[], **rows
    )

    shown = blocks(content_of(passing_run(), timing=known), "times")

    assert shown["text"] == "do less."
    assert shown["charts"][:2] == [
        ("Parts of the run", [("setup", "2.000 s, 4x", 100.0), ("call", "1.000 s, 4x", 50.0)]),
        ("Imports", [("yaml", "0.500 s", 25.0)]),
    ]


def test_rows_that_do_not_fit_are_counted() -> None:
    shown = content_of(mixed_run(), notices=[f"{number} " + "<" * 900 for number in range(50)])

    found = blocks(shown, "notices")

    assert 0 < len(found["list"]) < 50
    assert found["text"] == f"{50 - len(found['list'])} more notices are left out."


def test_coverage_has_its_percentage_its_limits_and_the_text_of_the_lines() -> None:
    lines = {"src/a.py": [(3, "if x:"), (9, "    return")]}
    measured = replace(MEASURED, partial=["1 test did not run"], not_measured=["b.py"])
    shown = replace(content_of(passing_run(), coverage=measured), missed_lines=lines)

    said = [value for section in sections.run_sections(shown, MOST) for kind, value in section.blocks if kind == "text"]

    assert said == [
        "75 %: 16 lines, 12 ran.",
        "Not everything ran that could have: 1 test did not run.",
        "Not measured: b.py.",
    ]
    row = ("src/a.py", "75 %, 4 lines did not run", "3-5, 9", "", lines["src/a.py"])
    assert blocks(shown, "coverage")["coverage"] == [row]


def test_with_a_history_each_recorded_run_is_a_letter_and_this_run_is_the_last() -> None:
    shown = with_past(content_of(mixed_run()), **{ALIKE: "PPF", COMPARED: "FF"})

    drawn = rows(shown)

    assert drawn[ALIKE] == ("0.100 s, failed 1 of 3 times before", "PPFF")
    assert drawn[COMPARED][0].endswith(" s, failed 2 of 2 times before")
    assert drawn["tests/test_b.py::test_setup"][0].endswith(" s, no earlier run is recorded")
    assert "P passed, F failed, E error" in blocks(shown, "past")["legend"]
    assert blocks(content_of(mixed_run()), "past") == {}


def test_many_failing_tests_are_counted_and_not_drawn() -> None:
    number = MAX_FAILING + 7
    run = execution(session(*(failing(n) for n in range(number)), selected=number, exit_status=1), code=1)

    shown = with_past(content_of(run))

    assert len(rows(shown)) == MAX_FAILING
    assert blocks(shown, "past")["text"] == "7 more failing tests are left out here."
