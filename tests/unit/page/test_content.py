"""What a page shows of a report."""

from dataclasses import replace

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.page import content
from pytest_mcp.report import report
from tests.support.page.pages import mixed_run


def test_what_recorded_runs_say_comes_later() -> None:
    known = replace(report.of_execution(mixed_run(), None), past=["failed 3 of 9 times before"])

    shown = content.of_report(known)

    assert (shown.notices, shown.later_notices) == (known.notices, ["failed 3 of 9 times before"])


def test_a_run_without_a_result_has_its_reason_and_what_had_finished() -> None:
    error = ExecutionFailed("timeout", "pytest execution exceeded timeout of 5 seconds", RunFacts())
    known = replace(report.of_execution(mixed_run(), error), running=["tests/test_a.py::test_slow"], not_run=4)

    shown = content.of_report(known)

    assert (shown.verdict, shown.not_run) == ("incomplete", 5)
    assert "exceeded timeout of 5 seconds" in (shown.problem or "")
    assert shown.notices[-2:] == [
        "Running when the run ended: tests/test_a.py::test_slow.",
        "Not started: 4 selected tests.",
    ]
    assert shown.environment == known.environment
    assert sum(cause.count for cause in shown.causes) == 5
