"""What a page shows, taken from a run, from an answer (of `merge`, or where nothing ran) or from an error.

Pure. A run has everything: every test, and every failure with its frames. An answer has what its budget has left of
them, as text. How it looks is decided in `document`, how much of it is written in `data`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import (
    CollectionError,
    ExecuteResult,
    FailureGroup,
    PartialResult,
    ShardResult,
    Summary,
    TestResult,
    Verdict,
)
from pytest_mcp.events.run import Run
from pytest_mcp.page import failures
from pytest_mcp.page.failures import Shown
from pytest_mcp.page.strip import Result
from pytest_mcp.report import collection_errors, rerun, result
from pytest_mcp.report.failures import Failure
from pytest_mcp.report.grouping import Group
from pytest_mcp.text import few, label

_NOTHING = Summary(total=0, passed=0, failed=0, skipped=0, errors=0, duration=0.0)
_FAILED = ("failed", "error")


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


def of_run(run: Run[ExecuteTests], answer: ExecuteResult) -> Content:
    """Everything that the run reported, whatever the answer's budget was."""
    listing = run.request.model_copy(update={"detail": "tests"})
    report = result.executed(replace(run, request=listing))
    order = {record.node_id: number for number, record in enumerate(run.ledger.in_order)}
    tests = [*map(_test, report.failures), *report.not_failed]
    return replace(
        _frame(answer),
        causes=[_cause(group, report.captures, run.request.pattern) for group in report.groups],
        collection_errors=[collection_errors.without_machinery(error) for error in report.collection_errors],
        not_run=max(0, (run.ledger.selected or 0) - len(run.ledger.completed)),
        tests=sorted(tests, key=lambda test: order.get(test.node_id, len(order))),
        python=run.environment["python"],
        pytest=run.environment["pytest"],
        interpreter=run.environment["interpreter"],
        pytest_command=run.command,
    )


def of_parts(parts: Sequence[Run[ExecuteTests] | ExecuteResult], answer: ExecuteResult) -> Content:
    """Of several runs, or of what is known of a run that was cut short; `answer` is the one for all of them."""
    each = [of_run(part, answer) if isinstance(part, Run) else of_answer(part) for part in parts]
    return replace(
        _frame(answer),
        causes=[cause for content in each for cause in content.causes],
        collection_errors=[error for content in each for error in content.collection_errors],
        tests=[test for content in each for test in content.tests],
        not_run=sum(content.not_run for content in each),
    )


def of_answer(answer: ExecuteResult) -> Content:
    grouped = [_known_cause(group, answer) for group in answer.failure_groups]
    named = {group.example for group in answer.failure_groups}
    alone = [
        _single(test) for number, test in enumerate(answer.tests) if test.outcome in _FAILED and number not in named
    ]
    return replace(_frame(answer), causes=[*grouped, *alone])


def of_error(error: CallError) -> Content:
    """With what had been reported until then."""
    told = error.data.get("partial")
    if told is None:
        nothing = Content("incomplete", _NOTHING, [], [], [], [], None)
    else:
        nothing = of_answer(PartialResult.model_validate(told))
    environment: dict[str, Any] = error.data.get("environment") or {}
    return replace(
        nothing,
        verdict="incomplete",
        problem=error.message,
        python=environment.get("python"),
        pytest=environment.get("pytest"),
        interpreter=environment.get("interpreter"),
        pytest_command=error.data.get("command") or (),
    )


def _frame(answer: ExecuteResult) -> Content:
    """What is the same wherever the failures come from."""
    notices = [*answer.notices]
    if isinstance(answer, PartialResult):
        notices += [f"Running when the run ended: {few(map(label, answer.running))}."] if answer.running else []
        notices += [f"Not started: {answer.not_run} selected tests."] if answer.not_run else []
    return Content(
        verdict=answer.verdict,
        summary=answer.summary,
        notices=notices,
        causes=[],
        collection_errors=[collection_errors.without_machinery(error) for error in answer.collection_errors],
        tests=answer.tests,
        rerun=answer.rerun,
        shard=(answer.shard.index, answer.shard.count) if isinstance(answer, ShardResult) else None,
        not_run=answer.not_run + len(answer.running) if isinstance(answer, PartialResult) else 0,
        coverage=_coverage(answer),
    )


def _coverage(answer: ExecuteResult) -> dict[str, Any] | None:
    """Only an answer that was asked for it has this key."""
    measured = getattr(answer, "coverage", None)
    return measured.model_dump(mode="json") if isinstance(measured, BaseModel) else None


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


def _known_cause(group: FailureGroup, answer: ExecuteResult) -> Cause:
    shown = None if group.example is None else answer.tests[group.example]
    node_ids = [*([] if shown is None else [shown.node_id]), *(group.node_ids or [])]
    return Cause(
        count=group.count,
        message=group.message,
        location=group.location,
        node_ids=node_ids,
        rerun=rerun.covering(node_ids, None) if len(node_ids) == group.count else None,
        example=None if shown is None else failures.of_test(shown),
    )


def _single(test: TestResult) -> Cause:
    shown = failures.of_test(test)
    return Cause(1, test.message or "", None, [test.node_id], rerun.covering([test.node_id], None), shown)


def _test(failure: Failure) -> TestResult:
    return TestResult(
        node_id=failure.node_id,
        outcome=failure.outcome,
        duration=failure.duration,
        message=failure.cause,
        traceback=None,
    )
