"""What an answer says of coverage. How it is measured is tested with real runs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.api.results import Coverage
from pytest_mcp.config.model import Shard
from pytest_mcp.report import coverage
from pytest_mcp.report.budget import FIRST_FILES, MAX_FILES, fit_execution
from pytest_mcp.report.report import execution_report
from pytest_mcp.run.events import Covered, CoveredFile, Event, Started, Unreached, WorkerDown
from pytest_mcp.run.run import ChangedLines
from pytest_mcp.tools import dump
from tests.support.invented.records import execution, one_test, session, uncollected

CEILING = 16 * 1024 * 1024
ALL = Covered(percent=None, lines=10, missed=4, branches=None, untaken=None, files=3, error=None)
PASSED = one_test("test_a.py::test_a")


def file(name: str, missed: int, ranges: str = "1", untaken: list[list[int]] | None = None) -> CoveredFile:
    return CoveredFile(name, missed + 5, missed, ranges if missed else "", untaken)


def told(*events: Event, selected: int = 1, lines: ChangedLines | None = None, **asked: Any) -> Coverage:
    stream = session(PASSED, list(events), selected=selected)
    run = replace(execution(stream, **{"coverage": "changed" if lines else "all", **asked}), changed_lines=lines)
    measured = coverage.measured_coverage(run)
    return coverage.coverage_answer(measured, len(measured.files), in_full=run.request.detail != "auto")


def test_who_does_not_ask_has_no_such_key() -> None:
    run = execution(session(PASSED, [file("a.py", 1), ALL], selected=1))

    assert "coverage" not in dump(fit_execution(execution_report(run, None), run.request, ceiling=CEILING))


def test_files_with_the_most_missed_lines_come_first_and_branches_are_written_as_coverage_does() -> None:
    few, many, branch = file("b.py", 1, "7"), file("c.py", 3, "3-4,9"), file("a.py", 0, untaken=[[3, -1], [3, 5]])

    found = told(few, many, branch, file("fine.py", 0, untaken=[]), ALL)

    assert [(each.file, each.count, each.missed, each.branches) for each in found.files] == [
        ("c.py", 3, ["3-4", "9"], None),
        ("b.py", 1, ["7"], None),
        ("a.py", 0, [], ["3->exit", "3->5"]),
    ]
    assert (found.summary, found.percent, found.partial) == ("10 lines, 6 ran", 60.0, None)


def test_one_line_is_one_line() -> None:
    assert told(ALL._replace(lines=1, missed=0)).summary == "1 line, 1 ran"


@pytest.mark.parametrize(
    ("exact", "shown"), [(0.0, 0), (0.001, 0.01), (66.666, 66.67), (99.9999, 99.99), (100.0, 100), (None, 60)]
)
def test_only_what_ran_completely_has_a_hundred_percent(exact: float | None, shown: float) -> None:
    assert told(ALL._replace(percent=exact)).percent == shown


def test_changed_source_files_that_were_not_measured_are_named() -> None:
    ranges = {"src/a.py": "1", "src/new.py": "1-9", "tests/test_new.py": "1", "notes.md": "2"}
    nothing = ChangedLines("main", {}, None)

    found = told(file("src/a.py", 0), ALL._replace(lines=1, missed=0), lines=ChangedLines("main", ranges))

    assert (found.summary, found.percent) == ("1 changed line, 1 ran (since main)", 100)
    assert found.not_measured == ["src/new.py"]
    assert (
        told(ALL._replace(lines=0, missed=0), lines=nothing).summary == "no changed line can be executed (since main)"
    )


def test_changed_lines_that_are_not_known_are_all_lines_and_the_reason_is_told() -> None:
    found = told(ALL, lines=ChangedLines("main", None, "the repository has no commit yet"))

    assert found.summary == (
        "10 lines, 6 ran (all lines, because the changed ones are not known: the repository has no commit yet)"
    )


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([uncollected("test_b.py")], "1 file(s) could not be collected"),
        ([WorkerDown("gw0", "killed")], "1 worker(s) died"),
        ([Started("test_a.py::test_stuck")], "1 test(s) did not finish"),
        ([Unreached(3)], "only tests that the change can reach ran"),
    ],
)
def test_a_run_that_did_not_execute_everything_says_that_it_is_partial(events: Sequence[Event], reason: str) -> None:
    assert told(*events, ALL).partial == reason


def test_a_run_that_was_stopped_and_a_shard_are_partial() -> None:
    run = execution(session(PASSED, [ALL], selected=3), coverage="all")
    part = coverage.measured_coverage(replace(run, shard=Shard(1, 2, None)))

    assert part.partial == ["2 of 3 selected tests did not run", "only the tests of one shard ran"]


def test_without_a_report_the_reason_is_told() -> None:
    assert told().summary == "coverage is not known"
    assert told(ALL._replace(error="DataError: bad file")).summary == "coverage is not known: DataError: bad file"


def test_files_that_do_not_fit_are_counted_and_more_tokens_show_more() -> None:
    gaps = [file(f"src/shop/part{number}.py", 40 - number, "3-5,9,12,18-20") for number in range(40)]
    run = execution(session(PASSED, [*gaps, ALL], selected=1), coverage="all")

    def shown(**asked: Any) -> Coverage:
        request = execution([], coverage="all", **asked).request
        sent = fit_execution(execution_report(replace(run, request=request), None), request, ceiling=CEILING)
        assert sent.coverage is not None
        left = sent.coverage.omitted
        assert len(sent.coverage.files) + (left.files if left else 0) == 40
        assert sum(each.count for each in sent.coverage.files) + (left.lines if left else 0) == sum(range(1, 41))
        return sent.coverage

    assert 1 <= len(shown(max_tokens=500).files) < FIRST_FILES * 2
    assert len(shown().files) == MAX_FILES
    assert shown(detail="tests").omitted is None
    assert shown(detail="full").omitted is None
