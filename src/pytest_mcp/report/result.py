"""A finished run in, everything that can be said about it out: verdict, counts, tests, groups.

Pure. Everything that an answer could show is here; `budget` decides how much of it is sent.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial as bind
from typing import Any

from pytest_mcp.api.reach import Reach
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, Request
from pytest_mcp.api.results import (
    LISTED_WITHOUT_FAILURE,
    CollectionError,
    Coverage,
    DiscoveredTest,
    DiscoverResult,
    ExecuteResult,
    PartialResult,
    ShardFacts,
    ShardResult,
    Summary,
    TestResult,
    Verdict,
)
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.outcomes import TestRecord
from pytest_mcp.events.run import Run
from pytest_mcp.execution import additions
from pytest_mcp.report import coverage, failures, grouping, json_report, rerun, targets_not_run, verdict
from pytest_mcp.report.failures import Failure
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.notices import changes
from pytest_mcp.report.notices import whole_run as notices
from pytest_mcp.report.shards import facts


@dataclass(frozen=True)
class Unfinished:
    """Of a run that was cut short: what was executing, and how many selected tests never started."""

    running: list[str]
    not_run: int


@dataclass(frozen=True)
class Report:
    """Everything that can be said of a run; `budget` decides how much of it is sent."""

    verdict: Verdict
    exit_code: int | None
    summary: Summary
    notices: list[str]
    collection_errors: list[CollectionError]
    groups: list[Group]
    # As they ran.
    failures: list[Failure]
    not_failed: list[TestResult]
    order: dict[str, int]
    rerun: rerun.Arguments | None
    stdout: str
    json_report: dict[str, Any] | None
    captures: bool
    locals: bool
    # Tests that a change cannot reach: deselected, but by no option.
    unreached: int = 0
    unfinished: Unfinished | None = None
    shard: ShardFacts | None = None
    coverage: Coverage | None = None

    def answer(self, **parts: Any) -> ExecuteResult:
        """The answer with these parts; the others are the same in every answer."""
        common = {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "summary": self.summary,
            "notices": self.notices,
            "rerun": self.rerun,
            "omitted": None,
            "coverage": self.coverage,
            **parts,
        }
        if self.unfinished is None and self.shard is None:
            return ExecuteResult.model_validate(common)
        if self.unfinished is None:
            return ShardResult.model_validate(common | {"shard": self.shard})
        return PartialResult.model_validate(common | vars(self.unfinished))


def executed(run: Run[ExecuteTests]) -> Report:
    """Of a run that came to its end."""
    assert run.exit.code is not None
    return _report(run, run.request)


def partial(run: Run[Request]) -> Report | None:
    """What had been reported when a run was cut short; None when no test had started."""
    if not run.ledger.tests or not isinstance(run.request, ExecuteTests):
        return None
    unfinished = Unfinished(list(run.ledger.running), run.ledger.not_run)
    return replace(
        _report(run, run.request, cut_short=True),
        verdict="incomplete",
        exit_code=None,
        json_report=None,
        stdout="",
        unfinished=unfinished,
    )


def of_no_changes(reach: Reach, request: ExecuteTests) -> ExecuteResult:
    """Of a call for the tests that a change can reach, where nothing changed: nothing is run."""
    return ExecuteResult(
        verdict="no_tests",
        exit_code=verdict.NO_TESTS_COLLECTED,
        summary=Summary(total=0, passed=0, failed=0, skipped=0, errors=0, duration=0.0),
        notices=[changes.nothing(reach)],
        collection_errors=[],
        failure_groups=[],
        tests=[],
        rerun=None,
        text_output="",
        json_report=None,
        omitted=None,
        coverage=coverage.nothing("nothing ran", None) if request.coverage else None,
    )


def discovered(run: Run[DiscoverTests]) -> DiscoverResult:
    tests = [
        DiscoveredTest.model_validate(
            {
                "node_id": item.id,
                "module": _module(item.id),
                "class": "::".join(item.classes) or None,
                "function": item.function.partition("[")[0],
                "file": item.id.partition("::")[0],
                "line": item.line,
            }
        )
        for item in run.ledger.items
    ]
    return DiscoverResult(
        count=len(tests),
        notices=_notices(bind(notices.of_discovery, run)),
        collection_errors=[failures.collection_error(event) for event in run.ledger.collection_failures],
        tests=tests,
        files=[],
        omitted=None,
    )


def stopped_itself(ledger: Ledger) -> bool:
    """Whether an interruption is only pytest's way of stopping for what it has reported.

    It raises one when files cannot be collected, and plugins do when tests have failed (xdist at
    maxfail, stepwise). Everything else that interrupts a session is somebody's intervention.
    """
    if ledger.interrupted is None or ledger.interrupted.error_type != "Interrupted":
        return False
    return bool(ledger.collection_failures or ledger.failed)


def _report(run: Run[Request], request: ExecuteTests, *, cut_short: bool = False) -> Report:
    ledger = run.ledger
    root = run.environment["root"]
    failed = [failures.of_record(record, root) for record in ledger.completed if record.outcome in ("failed", "error")]
    broken = [event.file for event in ledger.collection_failures]
    names = [failure.node_id for failure in failed]
    missed = bool(targets_not_run.missed(request, ledger)) or facts.missed(run)
    return Report(
        verdict=verdict.verdict_of(verdict.of_run(ledger, run.exit, missed=missed)),
        exit_code=run.exit.code,
        summary=_summary(run),
        notices=_notices(bind(notices.of_execution, run, request, cut_short=cut_short)),
        collection_errors=[failures.collection_error(event) for event in ledger.collection_failures],
        groups=grouping.group(failed),
        failures=failed,
        not_failed=_not_failed(ledger, request),
        order={test.node_id: i for i, test in enumerate(ledger.in_order)} if request.detail == "full" else {},
        rerun=rerun.of_failures(names, request, broken=broken, unaskable=ledger.unaskable if failed else ()),
        stdout=run.exit.stdout,
        json_report=json_report.build(run) if request.detail == "full" else None,
        captures=request.captures,
        locals=request.locals,
        shard=facts.of_run(run, request),
        unreached=ledger.unreached.count if ledger.unreached else 0,
        coverage=_coverage(run, request) if request.coverage else None,
    )


def _notices(make: Callable[[], list[str]]) -> list[str]:
    return additions.made("notices", make, instead=[])


def _coverage(run: Run[Request], request: ExecuteTests) -> Coverage | None:
    unknown: Coverage | None = coverage.nothing("coverage is not known", None)
    return additions.made("coverage", bind(coverage.of_run, run, request), instead=unknown)


def _not_failed(ledger: Ledger, request: ExecuteTests) -> list[TestResult]:
    """Every test that could be listed: ten thousand that passed are only counted unless they are asked for."""
    records = [record for record in ledger.completed if record.outcome in ("passed", "skipped")]
    count = len(records) + len(ledger.skipped_modules)
    if request.detail == "auto" and count > LISTED_WITHOUT_FAILURE:
        records = records[: LISTED_WITHOUT_FAILURE + 1]
    modules = [
        TestResult(node_id=event.id, outcome="skipped", duration=0.0, message=event.reason, traceback=None)
        for event in ledger.skipped_modules
    ]
    return [*map(_test, records), *modules]


def _test(record: TestRecord) -> TestResult:
    assert record.outcome is not None
    return TestResult(
        node_id=record.node_id,
        outcome=record.outcome,
        duration=round(record.duration, 3),
        message=failures.skip_reason(record) if record.outcome == "skipped" else None,
        traceback=None,
    )


def _summary(run: Run[Request]) -> Summary:
    ledger = run.ledger
    count = Counter(record.outcome for record in ledger.completed)
    skipped = count["skipped"] + len(ledger.skipped_modules)
    errors = count["error"] + len(ledger.collection_failures)
    return Summary(
        total=count["passed"] + count["failed"] + skipped + errors,
        passed=count["passed"],
        failed=count["failed"],
        skipped=skipped,
        errors=errors,
        duration=round(ledger.ended.duration if ledger.ended else run.exit.duration, 3),
    )


def _module(node_id: str) -> str:
    path = node_id.partition("::")[0]
    return path.rpartition(".")[0].replace("/", ".") if "." in path.rpartition("/")[2] else path.replace("/", ".")
