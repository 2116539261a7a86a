"""What a page shows of a report. Where it stands is decided in `sections`, how much is written in `document`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.results import CollectionError, Coverage, Summary, TestResult, Verdict
from pytest_mcp.page import failures
from pytest_mcp.page.failures import Shown
from pytest_mcp.report import collection_errors, coverage, rerun
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.report.rerun import Arguments
from pytest_mcp.text import few, label

# One run of a test: its letter as in the history, and its seconds if they are known.
Result = tuple[str, float | None]

NOTHING = Summary(total=0, passed=0, failed=0, skipped=0, errors=0, duration=0.0)
FAILED = ("failed", "error")


class Origin(NamedTuple):
    """Where a page comes from."""

    project: str
    # As it was typed, and the beginning of one that runs some of the tests again.
    command: str
    again: str
    commit: str | None = None


@dataclass(frozen=True)
class Cause:
    """Failures of one cause. `node_ids` are those that are known, the example first; there may be more."""

    count: int
    message: str
    location: str | None
    node_ids: list[str]
    # Arguments that run them again; None if none of them can be named.
    rerun: Arguments | None
    # Those whose details are known, the example first.
    shown: list[Shown]


@dataclass(frozen=True)
class Content:
    verdict: Verdict
    summary: Summary = NOTHING
    notices: list[str] = field(default_factory=list)
    # Those that were added to the run's own, such as what the history says.
    later_notices: list[str] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    collection_errors: list[CollectionError] = field(default_factory=list)
    # In the order in which they ran.
    tests: list[TestResult] = field(default_factory=list)
    rerun: Arguments | None = None
    # Which Python and which pytest, and how pytest was started, as far as that is known.
    environment: RunEnvironment | None = None
    pytest_command: Sequence[str] = ()
    # Why the run has no result, in the words of its error.
    problem: str | None = None
    # Selected tests without an outcome and tests that were not selected, as far as that is known.
    not_run: int = 0
    deselected: int = 0
    # Which part of how many, with `--shard`.
    shard: tuple[int, int] | None = None
    coverage: Coverage | None = None
    # How many lines of a file count, and the text of those that did not run.
    line_counts: Mapping[str, int] = field(default_factory=dict)
    missed_lines: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    # With a history: what is recorded of some of the tests, the oldest first, without this run.
    past: Mapping[str, Sequence[Result]] | None = None

    @property
    def lists_every_test(self) -> bool:
        uncollected = sum(1 + error.also for error in self.collection_errors)
        return len(self.tests) == self.summary.total - uncollected


def of_report(report: Report) -> Content:
    causes = {failure.node_id: failure.cause for failure in report.failures}
    measured = report.coverage
    return Content(
        verdict=report.verdict,
        summary=report.summary,
        notices=[*report.notices, *_unfinished(report)],
        later_notices=list(report.past),
        causes=[_cause(group, report.captures, (report.rerun or {}).get("pattern")) for group in report.groups],
        collection_errors=[collection_errors.without_machinery(error) for error in report.collection_errors],
        tests=[_test(test, causes.get(test.node_id)) for test in [*report.tests, *report.skipped_modules]],
        rerun=report.rerun,
        environment=report.environment,
        pytest_command=report.command,
        problem=None if report.problem is None else report.problem.message,
        not_run=report.not_run + len(report.running),
        deselected=report.deselected,
        shard=None if report.shard is None else (report.shard.index, report.shard.count),
        coverage=coverage.shown(measured, len(measured.files), in_full=True) if measured else None,
        line_counts={file.file: file.lines for file in measured.files} if measured else {},
    )


def _unfinished(report: Report) -> list[str]:
    if report.problem is None:
        return []
    running = f"Running when the run ended: {few(map(label, report.running))}."
    not_run = f"Not started: {report.not_run} selected tests."
    return [*([running] if report.running else []), *([not_run] if report.not_run else [])]


def _cause(group: Group, captures: bool, pattern: str | None) -> Cause:
    node_ids = [failure.node_id for failure in group.members]
    return Cause(
        count=group.count,
        message=group.example.cause,
        location=group.location,
        node_ids=node_ids,
        rerun=rerun.covering(node_ids, pattern),
        shown=[failures.of_failure(failure, captures) for failure in group.members],
    )


def _test(test: RanTest, cause: str | None) -> TestResult:
    return TestResult(
        node_id=test.node_id,
        outcome=test.outcome,
        duration=round(test.duration, 3),
        message=cause or test.reason,
        traceback=None,
    )
