"""The complete answer of a run: verdict, counts, tests, failure groups.

Pure: a run in, a result out. How much of it is sent is decided in `budget`; the notices are made in `notices`.
"""

from collections import Counter
from typing import Any

from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, Request
from pytest_mcp.api.results import (
    LISTED_WITHOUT_FAILURE,
    DiscoveredTest,
    DiscoverResult,
    ExecuteResult,
    PartialResult,
    Summary,
    TestResult,
    Verdict,
)
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.outcomes import TestRecord
from pytest_mcp.events.run import Exit, Run
from pytest_mcp.report import failures, grouping, json_report, rerun, targets_not_run
from pytest_mcp.report.notices import execution as notices

# pytest's exit code if it collected no tests, and also if every module skipped itself.
NO_TESTS_COLLECTED = 5


def executed(run: Run[ExecuteTests]) -> ExecuteResult:
    """The complete answer of a run that finished."""
    assert run.exit.code is not None
    return ExecuteResult.model_validate(_report(run, run.request) | {"exit_code": run.exit.code})


def partial(run: Run[Request]) -> PartialResult | None:
    """What had been reported before a run was cut short; None if no test had started."""
    if not run.ledger.tests or not isinstance(run.request, ExecuteTests):
        return None
    report = _report(run, run.request) | {
        "verdict": "incomplete",
        "exit_code": None,
        "json_report": None,
        "text_output": "",
        "running": list(run.ledger.running),
        "not_run": run.ledger.not_run,
    }
    return PartialResult.model_validate(report)


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
        notices=notices.of_discovery(run),
        collection_errors=[failures.collection_error(event) for event in run.ledger.collection_failures],
        tests=tests,
        files=[],
        omitted=None,
    )


def judge(ledger: Ledger, exit: Exit, *, missed: bool = False) -> Verdict:  # noqa: A002 - the word for it
    """Passed only if every selected test has an outcome, none failed, pytest exited with 0, and no target is missed."""
    outcomes = Counter(record.outcome for record in ledger.tests.values())
    if outcomes["failed"] or outcomes["error"] or ledger.collection_failures:
        return "failed"
    if ledger.ended is None or ledger.lost:
        return "incomplete"
    if _named_a_skipped_module(ledger):
        return "no_tests"
    if ledger.selected is None:
        return "incomplete"
    if outcomes[None] or len(ledger.tests) < ledger.selected:
        return "incomplete"
    if not ledger.tests and (not ledger.skipped_modules or exit.code == NO_TESTS_COLLECTED):
        return "no_tests"
    if exit.code != 0 or ledger.ended.exit_status != 0:
        return "failed"
    return "incomplete" if missed else "passed"


def _named_a_skipped_module(ledger: Ledger) -> bool:
    """If a call names a test in a module that skips itself, pytest does not find it and runs no test at all."""
    return ledger.usage_fault is not None and bool(ledger.skipped_modules) and not ledger.tests


def stopped_itself(ledger: Ledger) -> bool:
    """Whether pytest or a plugin interrupted the session because of failures that it has reported.

    pytest does so if files cannot be collected, and plugins do if tests have failed (xdist at maxfail, stepwise).
    Any other interruption comes from outside and is an error.
    """
    if ledger.interrupted is None or ledger.interrupted.error_type != "Interrupted":
        return False
    return bool(ledger.collection_failures or ledger.failed)


def _report(run: Run[Request], request: ExecuteTests) -> dict[str, Any]:
    ledger = run.ledger
    failed = _failed(ledger)
    return {
        "verdict": judge(ledger, run.exit, missed=bool(targets_not_run.missed(request, ledger))),
        "summary": _summary(run),
        "notices": notices.of_execution(run, request),
        "collection_errors": [failures.collection_error(event) for event in ledger.collection_failures],
        "failure_groups": grouping.group(failed),
        "tests": _tests(ledger, request),
        "rerun": rerun.of_failures(
            [record.node_id for record in failed], request, unaskable=ledger.unaskable if failed else ()
        ),
        "text_output": run.exit.stdout,
        "json_report": json_report.build(run) if request.detail == "full" else None,
        "omitted": None,
    }


def _tests(ledger: Ledger, request: ExecuteTests) -> list[TestResult]:
    """Every test that could be shown. With detail auto, many tests without a failure are only counted."""
    failed = _failed(ledger)
    not_failed = len(ledger.completed) - len(failed) + len(ledger.skipped_modules)
    if request.detail == "auto" and not_failed > LISTED_WITHOUT_FAILURE:
        return [_test(record, request) for record in failed]
    modules = [
        TestResult(node_id=event.id, outcome="skipped", duration=0.0, message=event.reason, traceback=None)
        for event in ledger.skipped_modules
    ]
    return [*(_test(record, request) for record in ledger.completed), *modules]


def _failed(ledger: Ledger) -> list[TestRecord]:
    return [record for record in ledger.completed if record.outcome in ("failed", "error")]


def _test(record: TestRecord, request: ExecuteTests) -> TestResult:
    assert record.outcome is not None
    return TestResult(
        node_id=record.node_id,
        outcome=record.outcome,
        duration=round(record.duration, 3),
        message=failures.message(record),
        traceback=failures.traceback(record, captured=request.captures),
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
