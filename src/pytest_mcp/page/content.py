"""What a page shows of a report.

Pure. How it looks is decided in `document`, how much of it is written in `data`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_mcp.api.results import CollectionError, Summary, TestResult, Verdict
from pytest_mcp.page import failures
from pytest_mcp.page.failures import Shown
from pytest_mcp.page.strip import Result
from pytest_mcp.report import collection_errors, coverage, rerun
from pytest_mcp.report.coverage import Measured
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.text import few, label


@dataclass(frozen=True)
class Cause:
    """Failures of one cause. `node_ids` are those that are known, the example first; there may be more."""

    count: int
    message: str
    location: str | None
    node_ids: list[str]
    # Arguments that run them again; None if none of them can be named.
    rerun: rerun.Arguments | None
    example: Shown | None
    others: list[Shown] = field(default_factory=list)


@dataclass(frozen=True)
class Content:
    verdict: Verdict
    summary: Summary
    notices: list[str]
    causes: list[Cause]
    collection_errors: list[CollectionError]
    # In the order in which they ran.
    tests: list[TestResult]
    rerun: rerun.Arguments | None
    # Which Python and which pytest, and how pytest was started; None where that is not known.
    python: str | None = None
    pytest: str | None = None
    interpreter: str | None = None
    pytest_command: Sequence[str] = ()
    # Why the run has no result, in the words of its error.
    problem: str | None = None
    # Selected tests without an outcome, as far as that is known.
    not_run: int = 0
    # Which part of how many, with `--shard`.
    shard: tuple[int, int] | None = None
    # With `coverage`: the answer's key as it is sent.
    coverage: dict[str, Any] | None = None
    # With a history: what is recorded of some of the tests, the oldest first, without this run.
    past: Mapping[str, Sequence[Result]] | None = None

    @property
    def lists_every_test(self) -> bool:
        uncollected = sum(1 + error.also for error in self.collection_errors)
        return len(self.tests) == self.summary.total - uncollected


def of_report(report: Report) -> Content:
    environment = report.environment
    causes = {failure.node_id: failure.cause for failure in report.failures}
    pattern = (report.rerun or {}).get("pattern")
    return Content(
        verdict=report.verdict,
        summary=report.summary,
        notices=[*report.notices, *_unfinished(report)],
        causes=[_cause(group, report.captures, pattern) for group in report.groups],
        collection_errors=[collection_errors.without_machinery(error) for error in report.collection_errors],
        tests=[_test(test, causes.get(test.node_id)) for test in [*report.tests, *report.skipped_modules]],
        rerun=report.rerun,
        python=environment.python if environment else None,
        pytest=environment.pytest if environment else None,
        interpreter=environment.interpreter if environment else None,
        pytest_command=report.command,
        problem=None if report.problem is None else report.problem.message,
        not_run=report.not_run + len(report.running),
        shard=None if report.shard is None else (report.shard.index, report.shard.count),
        coverage=_coverage(report.coverage),
    )


def _unfinished(report: Report) -> list[str]:
    if report.problem is None:
        return []
    running = f"Running when the run ended: {few(map(label, report.running))}."
    not_run = f"Not started: {report.not_run} selected tests."
    return [*([running] if report.running else []), *([not_run] if report.not_run else [])]


def _coverage(measured: Measured | None) -> dict[str, Any] | None:
    if measured is None:
        return None
    return coverage.shown(measured, len(measured.files), in_full=True).model_dump(mode="json")


def _cause(group: Group, captures: bool, pattern: str | None) -> Cause:
    node_ids = [failure.node_id for failure in group.members]
    return Cause(
        count=group.count,
        message=group.example.cause,
        location=group.location,
        node_ids=node_ids,
        rerun=rerun.covering(node_ids, pattern),
        example=failures.of_failure(group.example, captures),
        others=[failures.of_failure(failure, captures) for failure in group.others],
    )


def _test(test: RanTest, cause: str | None) -> TestResult:
    return TestResult(
        node_id=test.node_id,
        outcome=test.outcome,
        duration=round(test.duration, 3),
        message=cause or test.reason,
        traceback=None,
    )
