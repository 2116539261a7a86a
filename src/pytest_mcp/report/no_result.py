"""Why a run has no result: the error to answer with, or None when there is a result.

Pure. Causes decide, not exit codes: a test can exit with any code, and a missing plugin exits like a
failing test. What the child reported, above all whether its session ended, comes first.
"""

import re
from collections.abc import Sequence
from typing import Any

from pytest_mcp.api.errors import CallError, ErrorType, ExecutionFailed, Fault, RefusedByPytest, RunFacts
from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.targets import Target
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.model import UsageFault
from pytest_mcp.events.run import Asked_co, Run
from pytest_mcp.report import budget, failures, result, targets_not_run
from pytest_mcp.text import in_line, label

# What pytest says of an argument it cannot find, in all its versions.
_NOT_FOUND = re.compile(r"^(?:not found: |found no collectors for |file or directory not found: )(.*?)$", re.MULTILINE)
_BAD_EXPRESSION = re.compile(r"^Wrong expression passed to '-([km])'|^(Keyword) expressions do not support")
_FIELD_OF = {"k": "keywords", "m": "markers", "Keyword": "keywords"}
_SEE = "discover_tests lists what there is"
_LAST_FAILED = "; the project's addopts say --lf, and pytest then finds nothing in files without a known failure"
# How many of the tests that were running a message names.
MAX_RUNNING_SHOWN = 5
# The most that an error repeats of what had finished.
PARTIAL_BYTES = 2 * 1024 * 1024
# How many files that could not be collected an error describes.
MAX_COLLECTION_ERRORS = 20
# How many frames, the innermost, of what an interruption hit.
MAX_FRAMES_SHOWN = 8


def diagnose(run: Run[Asked_co]) -> CallError | None:
    """The first cause that holds, the most certain first."""
    ledger = run.ledger
    if run.exit.timed_out:
        return _failed(run, "timeout", f"pytest execution exceeded timeout of {run.time_limit} seconds")
    if run.exit.reason == "overflow":
        return _failed(run, "crash", "pytest execution failed: its report grew beyond every measure and it was ended")
    if run.exit.reason == "lost":
        return _failed(run, "crash", "pytest execution failed: its supervisor was killed from outside or by a test")
    if run.exit.report == "unread":
        too_many = "its report has more records than a test run can write (does a test write to it?)"
        return _failed(run, "crash", f"pytest execution failed: {too_many}; not all of them were read")
    if faults := _refused_arguments(run):
        return RefusedByPytest(faults, _facts(run).of_refusal())
    if ledger.usage_fault is not None and not _is_of_broken_modules(ledger, ledger.usage_fault):
        return _failed(run, "usage_error", f"pytest execution failed: {_usage_headline(ledger.usage_fault)}")
    if ledger.internal_fault is not None and run.exit.code in (None, 3):
        cause = ledger.internal_fault.text.strip().splitlines()[-1:] or [""]
        return _failed(
            run, "pytest_internal", f"pytest execution failed: internal error in pytest: {in_line(cause[0].strip())}"
        )
    if ledger.interrupted is not None and not result.stopped_itself(ledger):
        why = ledger.interrupted
        return _failed(
            run, "interrupted", f"pytest execution failed: interrupted ({in_line(f'{why.error_type}: {why.message}')})"
        )
    if ledger.ended is not None and run.exit.code is not None:
        return None
    if ledger.collection_failures and not ledger.session_started and run.exit.code is not None:
        return None  # a conftest that cannot be imported keeps the session from starting
    return _unfinished(run)


def _is_of_broken_modules(ledger: Ledger, fault: UsageFault) -> bool:
    """pytest finds no test in a module that cannot be imported or skips itself; that is told as a result."""
    if ledger.collection_failures:
        return True
    return bool(ledger.skipped_modules) and all(_NOT_FOUND.match(message) for message in fault.messages)


def interrupted(run: Run[Asked_co], by: str) -> ExecutionFailed:
    """For a run that was ended on the order of whoever had asked for it."""
    return _failed(run, "interrupted", f"pytest execution failed: interrupted ({by})")


def lost_its_targets(run: Run[Asked_co]) -> bool:
    """Named targets did not run, and nobody said why: xdist's workers do not tell what they did not find or take."""
    return bool(targets_not_run.unexplained(run.request, run.ledger))


def _unfinished(run: Run[Asked_co]) -> CallError:
    """The process ended, the session did not."""
    ledger, code = run.ledger, run.exit.code
    if run.exit.signal is not None:
        headline = f"pytest subprocess terminated with signal {run.exit.signal}"
        killed = "\nSomebody killed it, but not by pytest-mcp's doing: a test, or a machine that is out of memory."
        return _failed(run, "crash", headline + (killed if run.exit.signal == "SIGKILL" else ""))
    if run.exit.report == "truncated" or ledger.hello is None or ledger.gaps:
        why = "its report is incomplete (did a test truncate or overwrite files that it did not open?)"
        return _failed(run, "crash", f"pytest execution failed: {why}; the process ended with exit code {code}")
    if ledger.escaped is not None and ledger.escaped.error_type != "SystemExit" and not ledger.session_started:
        why = f"{ledger.escaped.error_type}: {ledger.escaped.message}"
        return _failed(run, "usage_error", f"pytest execution failed: pytest could not be configured: {why}")
    if not ledger.session_started and code == 0 and (ledger.configured or run.exit.stdout.startswith("pytest ")):
        why = "the project's addopts ask pytest for something else than tests (--help, --version, --markers?)"
        return _failed(run, "usage_error", f"pytest execution failed: {why}")
    return _failed(
        run, "crash", f"pytest execution failed: the process ended with exit code {code} before the session did"
    )


def _failed(run: Run[Asked_co], error_type: ErrorType, headline: str) -> ExecutionFailed:
    return ExecutionFailed(error_type, headline, _facts(run), details=_progress_lines(run.ledger))


def _progress_lines(ledger: Ledger) -> list[str]:
    """What a person asks first: how far it came, and what was running."""
    if not ledger.session_started:
        return (
            ["It had not come to collecting tests: it was loading plugins and conftest files."] if ledger.hello else []
        )
    stack = [f"stack| {frame}" for frame in (ledger.interrupted.stack if ledger.interrupted else [])]
    if not ledger.selected:
        return ["It was still collecting tests.", *stack[-MAX_FRAMES_SHOWN:]]
    lines = [f"{ledger.finished} of {ledger.selected} tests had finished, {ledger.failed} of them failed."]
    if ledger.ended is not None and ledger.returned is None:
        lines.append("The session had ended; hooks that run after it (pytest_unconfigure) had not.")
    running = list(ledger.running)
    lines += [f"running: {label(node_id)}" for node_id in running[:MAX_RUNNING_SHOWN]]
    return [*lines, *stack[-MAX_FRAMES_SHOWN:]]


def _usage_headline(fault: UsageFault) -> str:
    """pytest's words, and the file they are about: not every version names it."""
    said = "; ".join(fault.messages) or "usage error"
    unnamed = fault.configuration is not None and fault.configuration not in said
    return f"{said} (configured in {fault.configuration})" if unnamed else said


def _refused_arguments(run: Run[Request]) -> list[Fault]:
    """The caller's own arguments that pytest, or the reporter on our behalf, would not take."""
    ledger = run.ledger
    if ledger.refused is not None:
        return _not_test_files(run, ledger.refused.files)
    if ledger.usage_fault is None:
        return []
    return [*_missing_targets(run), *_bad_expressions(run, ledger.usage_fault.messages)]


def _not_test_files(run: Run[Request], files: Sequence[str]) -> list[Fault]:
    why = (
        "is not a test file of this project (neither its python_files nor its doctest settings take it)"
        " and was not run; a test file of another name needs a pattern that matches it"
    )
    refused = set(files)
    return [
        Fault(name, why, "not_a_test_file", target.node_id)
        for name, target in run.request.targets
        if str(target.path) in refused
    ]


def _missing_targets(run: Run[Request]) -> list[Fault]:
    """One fault for each id that pytest did not find, but not for what a file did that cannot be imported or skips."""
    assert run.ledger.usage_fault is not None
    missing = {found for message in run.ledger.usage_fault.messages for found in _NOT_FOUND.findall(message)}
    broken = {event.file for event in run.ledger.collection_failures}
    broken |= {event.id for event in run.ledger.skipped_modules}
    by_cache = run.ledger.configured is not None and "lf" in run.ledger.configured.from_cache
    return [
        Fault(name, _why_missing(target, missing) + (_LAST_FAILED if by_cache else ""), "not_found", target.node_id)
        for name, target in run.request.targets
        if not missing.isdisjoint(target.reported) and target.relative not in broken
    ]


def _why_missing(target: Target, missing: set[str]) -> str:
    if target.selector is None:
        return f"is there, but pytest finds no tests in it; {_SEE}"
    if missing.isdisjoint(target.reported[:2]):
        return f"was not found, at least not with these parameters; {_SEE}"
    return f"was not found; {_SEE}"


def _bad_expressions(run: Run[Request], messages: Sequence[str]) -> list[Fault]:
    found = [(match, message) for message in messages if (match := _BAD_EXPRESSION.match(message))]
    names = [(_FIELD_OF[match.group(1) or match.group(2)], message) for match, message in found]
    return [
        Fault(name, message, "bad_expression", getattr(run.request, name))
        for name, message in names
        if getattr(run.request, name) is not None  # otherwise it stands in the project's addopts
    ]


def _partial(run: Run[Asked_co]) -> dict[str, Any] | None:
    """What had finished, cut as a result of the same call would be."""
    report = result.partial(run)
    if report is None or not isinstance(run.request, ExecuteTests):
        return None
    return budget.fit_execution(report, run.request, ceiling=PARTIAL_BYTES).model_dump()


def _facts(run: Run[Asked_co]) -> RunFacts:
    return RunFacts(
        exit_code=None if run.exit.timed_out else run.exit.code,
        signal=None if run.exit.timed_out else run.exit.signal,
        stdout=run.exit.stdout,
        stderr=run.exit.stderr,
        command=run.command,
        duration=round(run.exit.duration, 3),
        timeout_exceeded=run.exit.timed_out,
        collection_errors=tuple(
            failures.collection_error(event).model_dump()
            for event in run.ledger.collection_failures[:MAX_COLLECTION_ERRORS]
        ),
        partial=_partial(run),
        environment=dict(run.environment),
    )
