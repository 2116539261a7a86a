"""All that is known of one call of `execute_tests`, whatever became of it.

`Report` is the one value that the answer, the terminal, the page, the history and a merge are made of. Nothing in it
was cut: `budget` decides how much of it an answer has. A run without a result has a report too, with its `problem`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from functools import partial as bind
from typing import Annotated, Any, NamedTuple

from pydantic import Field, PlainSerializer, PlainValidator

from pytest_mcp.api.errors import CallError, ExecutionFailed, RunEnvironment, RunFacts
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import (
    AgainstBase,
    CollectionError,
    ExecuteResult,
    NamedTests,
    Outcome,
    PartialResult,
    Summary,
    Timing,
    Verdict,
)
from pytest_mcp.config.model import Shard
from pytest_mcp.process import additions
from pytest_mcp.report import (
    collection_errors,
    coverage,
    failures,
    grouping,
    notices,
    pytest_output,
    rerun,
    selection,
    shard_facts,
    timing,
)
from pytest_mcp.report.coverage import MeasuredCoverage
from pytest_mcp.report.failures import Failure
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.rerun import Arguments
from pytest_mcp.report.shard_facts import Count, ShardFacts
from pytest_mcp.report.verdict import NO_TESTS_COLLECTED, Evidence, run_evidence, verdict_of
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.outcome import TestRecord
from pytest_mcp.run.run import Reach, Run

# How many tests of each group of `base` are named with detail auto.
MAX_NAMED = 20

Seconds = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]
ExitCode = Annotated[int, Field(ge=0, le=255)]


class RanTest(NamedTuple):
    """One test with its outcome."""

    node_id: str
    outcome: Outcome
    duration: Seconds
    # Of a skip.
    reason: str | None = None
    # Of pytest-xdist.
    worker: str | None = None


def _parsed_problem(value: Any) -> CallError | None:
    if value is None or isinstance(value, CallError):
        return value
    if not isinstance(value, str):
        raise ValueError("is not a sentence")
    return CallError(value, {})


def _written_problem(problem: CallError | None) -> str | None:
    return None if problem is None else problem.message


# As JSON it is its message: whoever reads it is on another machine.
Problem = Annotated[
    CallError | None, PlainValidator(_parsed_problem), PlainSerializer(_written_problem, return_type=str | None)
]


@dataclass(frozen=True)
class BaseGroups:
    """Which failures are new, and which tests were mended, since a git ref. None of a group that was not looked for."""

    ref: str
    new: Sequence[str] | None = None
    old: Sequence[str] | None = None
    changed: Sequence[str] | None = None
    mended: Sequence[str] | None = None

    @property
    def largest(self) -> int:
        return max(len(group or ()) for group in (self.new, self.old, self.changed, self.mended))

    def answer(self, most: int) -> AgainstBase:
        """With at most so many ids of each group."""
        groups = {name: getattr(self, name) for name in ("new", "old", "changed", "mended")}
        named = {
            name: None if ids is None else NamedTests(count=len(ids), node_ids=[*ids[:most]])
            for name, ids in groups.items()
        }
        return AgainstBase(ref=self.ref, **named)


@dataclass(frozen=True)
class Report:
    evidence: Evidence
    # Of pytest; None if the run has no result.
    exit_code: ExitCode | None = None
    duration: Seconds = 0.0
    # How much of the suite a shard is.
    share: Sequence[str] = ()
    notices: Sequence[str] = ()
    # What recorded runs say of the failures.
    past: Sequence[str] = ()
    collection_errors: Sequence[CollectionError] = ()
    # Every test with an outcome, in the order in which one process starts them.
    tests: Sequence[RanTest] = ()
    # What is known of those that failed, in the same order.
    failures: Sequence[Failure] = ()
    # Modules that skip themselves when they are imported; each counts as one skipped test.
    skipped_modules: Sequence[RanTest] = ()
    # Tests with an xfail mark, which count as skipped or passed.
    xfailed: Count = 0
    xpassed: Count = 0
    # Tests that options left out, and attempts that a plugin repeated.
    deselected: Count = 0
    repeated: Count = 0
    # Of tests that were selected: those that were executing when the run ended, and how many had not started.
    running: Sequence[str] = ()
    not_run: Count = 0
    rerun: Arguments | None = None
    # Whether that would be the call just made; its answer does not have it.
    is_repetition: bool = False
    # What pytest printed: all of it, what no other key of an answer has, and the line with further counts.
    printed: str = ""
    condensed: str = ""
    closing: str = ""
    # Whether captured output and local variables are part of a failure that is shown.
    captures: bool = True
    locals: bool = False
    coverage: MeasuredCoverage | None = None
    base: BaseGroups | None = None
    timing: Timing | None = None
    json_report: dict[str, Any] | None = None
    shard: ShardFacts | None = None
    # Which Python ran which command, and where; None if no process was started.
    environment: RunEnvironment | None = None
    command: Sequence[str] = ()
    # Why there is no result.
    problem: Problem = field(default=None, compare=False)

    @property
    def verdict(self) -> Verdict:
        return verdict_of(self.evidence)

    @cached_property
    def summary(self) -> Summary:
        count = Counter(test.outcome for test in [*self.tests, *self.skipped_modules])
        errors = count["error"] + len(self.collection_errors)
        return Summary(
            total=count["passed"] + count["failed"] + count["skipped"] + errors,
            passed=count["passed"],
            failed=count["failed"],
            skipped=count["skipped"],
            errors=errors,
            duration=round(self.duration, 3),
        )

    @cached_property
    def groups(self) -> list[Group]:
        return grouping.group(self.failures)

    @cached_property
    def not_failed(self) -> list[RanTest]:
        return [*(test for test in self.tests if test.outcome in ("passed", "skipped")), *self.skipped_modules]

    @property
    def has_begun(self) -> bool:
        """Whether a test had started."""
        return bool(self.tests or self.running)

    @property
    def is_empty_share(self) -> bool:
        """Whether there are tests, but none for this shard, because there are fewer files than shards."""
        share = self.shard
        return self.verdict == "no_tests" and share is not None and share.tests == 0 and bool(share.total)

    def answer(self, **parts: Any) -> ExecuteResult:
        """The answer with these parts; the others are the same in every answer."""
        common = {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "summary": self.summary,
            "notices": [*self.share, *self.notices, *self.past],
            "rerun": None if self.is_repetition else self.rerun,
            "omitted": None,
            **parts,
        }
        if self.problem is None:
            return ExecuteResult.model_validate(common)
        return PartialResult.model_validate(common | {"running": self.running, "not_run": self.not_run})


def execution_report(run: Run[ExecuteTests], problem: CallError | None) -> Report:
    ledger, request, has_result = run.ledger, run.request, problem is None
    missed = bool(selection.missed_targets(request, ledger)) or shard_facts.missed_its_share(run)
    failed = [failures.failure_of(record) for record in ledger.completed if record.outcome in ("failed", "error")]
    return Report(
        evidence=run_evidence(ledger, run.exit, missed=missed, has_result=has_result),
        exit_code=run.exit.code if has_result else None,
        duration=ledger.ended.duration if ledger.ended else run.exit.duration,
        share=shard_facts.shard_notices(run),
        notices=additions.made("notices", bind(notices.execution_notices, run, cut_short=not has_result), instead=[]),
        collection_errors=list(map(collection_errors.collection_error, ledger.collection_failures)),
        **_tests(ledger),
        failures=failed,
        **_rerun(run, [failure.node_id for failure in failed]),
        **(_printed(run.exit.stdout, ledger) if has_result else {}),
        captures=request.captures,
        locals=request.locals,
        coverage=_coverage(run) if request.coverage else None,
        timing=additions.made("timing", bind(timing.timing_of, ledger), instead=None) if request.timing else None,
        json_report=_json_report(run) if request.detail == "full" and has_result else None,
        shard=shard_facts.facts_of_run(run),
        environment=run.environment,
        command=run.command,
        problem=problem,
    )


def _tests(ledger: Ledger) -> dict[str, Any]:
    return {
        "tests": [_ran_test(record, ledger) for record in ledger.completed],
        "skipped_modules": [RanTest(event.id, "skipped", 0.0, event.reason) for event in ledger.skipped_modules],
        "xfailed": _with_xfail_mark(ledger, "skipped"),
        "xpassed": _with_xfail_mark(ledger, "passed"),
        "deselected": max(0, ledger.deselected - _unreached(ledger)),
        "repeated": sum(phase.outcome == "rerun" for record in ledger.completed for phase in record.phases),
        "running": list(ledger.running),
        "not_run": ledger.not_run,
    }


def _unreached(ledger: Ledger) -> int:
    return ledger.unreached.count if ledger.unreached else 0


def _printed(stdout: str, ledger: Ledger) -> dict[str, Any]:
    return {
        "printed": stdout,
        "condensed": pytest_output.condense(stdout),
        "closing": pytest_output.telling_closing_line(stdout, unreached=_unreached(ledger)),
    }


def _rerun(run: Run[ExecuteTests], failed: Sequence[str]) -> dict[str, Any]:
    """What runs the failures again, and whether that would be the call just made."""
    ledger = run.ledger
    ran = [record.node_id for record in ledger.completed] if failed else []
    is_over = not (ledger.not_run or ledger.running)
    again = rerun.rerun_arguments(
        failed,
        run.request,
        # Of tests that did not run here, words that select few failures could select some.
        ran=ran if (is_over and run.shard is None) or len(failed) > rerun.MAX_TESTS else (),
        broken=[event.file for event in ledger.collection_failures],
        unaskable=ledger.unaskable if failed else (),
    )
    of_whole = {*ran} if is_over and not ledger.collection_failures else set()
    return {"rerun": again, "is_repetition": rerun.is_repetition(again, run.request, failed, of_whole)}


def report_without_changes(reach: Reach, request: ExecuteTests, part: Shard | None) -> Report:
    """Of a call for the tests that a change can reach, where nothing changed: nothing is run."""
    return Report(
        Evidence(is_empty=True),
        exit_code=NO_TESTS_COLLECTED,
        notices=[selection.nothing_changed(reach)],
        coverage=MeasuredCoverage("nothing ran") if request.coverage else None,
        shard=None if part is None else shard_facts.facts_without_tests(part, request),
    )


def report_without_run(problem: CallError, part: Shard | None = None) -> Report:
    """Of a call for which no test process was started."""
    facts = problem.facts if isinstance(problem, ExecutionFailed) else RunFacts()
    return Report(
        Evidence(has_no_result=True),
        shard=None if part is None else shard_facts.facts_without_result(part),
        environment=facts.environment,
        command=facts.command,
        problem=problem,
    )


def _ran_test(record: TestRecord, ledger: Ledger) -> RanTest:
    assert record.outcome is not None
    reason = failures.skip_reason(record) if record.outcome == "skipped" else None
    return RanTest(record.node_id, record.outcome, record.duration, reason, ledger.ran_on.get(record.index))


def _with_xfail_mark(ledger: Ledger, outcome: Outcome) -> int:
    return sum(
        record.outcome == outcome and any(phase.xfail is not None for phase in record.phases)
        for record in ledger.completed
        if record.phases
    )


def _coverage(run: Run[ExecuteTests]) -> MeasuredCoverage:
    unknown = MeasuredCoverage("coverage is not known")
    return additions.made("coverage", bind(coverage.measured_coverage, run), instead=unknown)


def _json_report(run: Run[ExecuteTests]) -> dict[str, Any]:
    from pytest_mcp.report import json_report  # noqa: PLC0415 - few answers have it

    return json_report.build(run)
