"""Whether a run has a result, and if not, the error to answer with.

The events that the child reported decide, above all whether its session finished. The exit code alone decides nothing:
a test can exit with any code, and a missing plugin gives the same code as a failing test.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from pytest_mcp.api import did_you_mean
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.errors import CallError, ErrorType, ExecutionFailed, Fault, RefusedByPytest, RunFacts
from pytest_mcp.api.requests import Request
from pytest_mcp.api.targets import PATTERN, SEE, Target
from pytest_mcp.process.start import REPORT_LIMIT
from pytest_mcp.report import notices, selection, stacks
from pytest_mcp.report.collection_errors import collection_error
from pytest_mcp.run.events import UsageFault
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Asked_co, Run
from pytest_mcp.text import in_line, label

# argparse puts its usage above what is wrong.
_USAGE_ERROR = re.compile(r"\Ausage: .*\n(?:.*\n)*?\S+: error: (.*)")
# How pytest-timeout begins and ends the stacks that it prints before it exits.
_PYTEST_TIMEOUT = re.compile(r"(?<!\+)\+{5,}+ Timeout \++$", re.MULTILINE)
# pytest's exit code for a usage error, and how it prints one.
_USAGE = 4
_SAID = re.compile(r"^ERROR: (.+)$", re.MULTILINE)
# pytest's messages for an argument that it cannot find, in all its versions.
_NOT_FOUND = re.compile(r"^(?:not found: |found no collectors for |file or directory not found: )(.*?)$", re.MULTILINE)
_BAD_EXPRESSION = re.compile(r"^Wrong expression passed to '-([km])'|^(Keyword) expressions do not support")
_FIELD_OF = {"k": "keywords", "m": "markers", "Keyword": "keywords"}
_LAST_FAILED = (
    "last_failed, or --lf in the project's addopts or on the command line, makes pytest ignore files without a known"
    " failure"
)
_MAY_LACK_MEMORY: tuple[ErrorType, ...] = ("crash", "pytest_internal", "usage_error")
# How many running tests a message names.
MAX_RUNNING_SHOWN = 5
# How many files that could not be collected an error describes.
MAX_COLLECTION_ERRORS = 20


def diagnose(run: Run[Asked_co]) -> CallError | None:
    """The error of the first cause that applies; the most certain causes are checked first."""
    if error := _ended_from_outside(run) or _refused(run) or _broken_session(run):
        return error
    return None if _has_result(run) else _unfinished(run)


def _ended_from_outside(run: Run[Asked_co]) -> CallError | None:
    """Of a run that was stopped, or whose records cannot be trusted."""
    if run.exit.stopped_by is not None:
        return interrupted(run, run.exit.stopped_by)
    if run.exit.timed_out:
        return _error(run, "timeout", f"pytest execution exceeded timeout of {run.time_limit} seconds")
    if run.exit.reason == "interrupted" and (run.ledger.ended is None or run.ledger.interrupted is not None):
        return interrupted(run, "SIGINT")
    if run.exit.reason == "overflow":
        return _failed(run, "crash", f"its report exceeded {REPORT_LIMIT // 2**20} MiB, so the run was stopped")
    if run.exit.reason == "lost":
        return _failed(run, "crash", "its supervisor process was killed, by a test or from outside")
    if run.exit.report == "unread":
        too_many = "its report has more records than a test run can write (does a test write to it?)"
        return _failed(run, "crash", f"{too_many}; not all of them were read")
    return None


def _refused(run: Run[Asked_co]) -> CallError | None:
    """Of a call, or of settings of the project, that pytest refused."""
    ledger = run.ledger
    if faults := _refused_arguments(run):
        return RefusedByPytest(faults, _facts(run))
    if ledger.no_xdist is not None:
        why = "pytest-xdist is installed, but the project does not load it (addopts: -p no:xdist?); leave out workers"
        return _failed(run, "usage_error", why)
    if ledger.usage_fault is not None and not _is_of_broken_modules(ledger, ledger.usage_fault):
        return _failed(run, "usage_error", _usage_headline(ledger.usage_fault))
    return None


def _broken_session(run: Run[Asked_co]) -> CallError | None:
    """Of a session that pytest, its workers or somebody's hook ended early."""
    ledger = run.ledger
    if ledger.internal_fault is not None and run.exit.code in (None, 3):
        return _failed(run, "pytest_internal", _internal_error(run, ledger.internal_fault.text))
    if ledger.workers_down and ledger.selected is None:
        why = f"every worker died before it had collected the tests: {in_line(ledger.workers_down[0].reason)}"
        return _failed(run, "crash", f"{why}\nworkers: 1 runs the tests in one process.")
    if ledger.interrupted is not None and not _stopped_itself(ledger):
        said = filter(None, (ledger.interrupted.error_type, ledger.interrupted.message))
        return interrupted(run, in_line(": ".join(said)))
    return None


def _has_result(run: Run[Asked_co]) -> bool:
    """Whether the session ended; it does not start if a conftest cannot be imported."""
    ledger = run.ledger
    never_started = bool(ledger.collection_failures) and not ledger.session_started
    return run.exit.code is not None and (ledger.ended is not None or never_started)


def not_installed(run: Run[Asked_co], need: str, fix: Sentence) -> ExecutionFailed:
    headline = f"pytest execution failed: {need}, which is not installed for {run.environment.interpreter}"
    return ExecutionFailed("environment", headline, replace(_facts(run), stderr=""), fix=fix)


def interrupted(run: Run[Asked_co], by: str) -> ExecutionFailed:
    """The error of a run that its caller stopped."""
    return _failed(run, "interrupted", f"interrupted ({by})")


def interrupted_before(by: str) -> ExecutionFailed:
    """The error of a call that its caller stopped before anything ran."""
    return ExecutionFailed("interrupted", f"pytest execution failed: interrupted ({by})", RunFacts())


def lost_its_targets(run: Run[Asked_co]) -> bool:
    """Whether named targets did not run for no reported reason, as in xdist's workers without our plugin."""
    return bool(selection.unexplained(run.request, run.ledger))


def lost_its_division(run: Run[Asked_co]) -> bool:
    """Whether a shard did not report its share of the tests: xdist's controller does not collect."""
    ledger = run.ledger
    return run.shard is not None and ledger.ended is not None and ledger.selected is not None and not ledger.divided


def _is_of_broken_modules(ledger: Ledger, fault: UsageFault) -> bool:
    """pytest finds no test in a module that cannot be imported or skips itself. Such a run has a result."""
    if ledger.collection_failures:
        return True
    return bool(ledger.skipped_modules) and all(_NOT_FOUND.match(message) for message in fault.messages)


def _usage_headline(fault: UsageFault) -> str:
    """What pytest's messages say in one line, with the configuration file; stderr has all of them."""
    errors = [(_USAGE_ERROR.search(message), message.strip().partition("\n")[0]) for message in fault.messages]
    said = "; ".join(error.group(1) if error else first for error, first in errors) or "usage error"
    unnamed = fault.configuration is not None and fault.configuration not in said
    return f"{said} (configured in {fault.configuration})" if unnamed else said


def _internal_error(run: Run[Asked_co], traceback: str) -> str:
    """pytest calls it internal also where a hook of the project raised; then the place in the project is named."""
    own = stacks.own_frames(run, traceback)
    raised_by = f" (raised by {own[-1]})" if own else ""
    return f"internal error in pytest: {stacks.last_words(traceback)}{raised_by}"


def _stopped_itself(ledger: Ledger) -> bool:
    """Whether an interruption is only pytest's way of stopping for what it has reported.

    It raises one when files cannot be collected, and plugins do when tests have failed (xdist at
    maxfail, stepwise). Everything else that interrupts a session is somebody's intervention.
    """
    if ledger.interrupted is None or ledger.interrupted.error_type != "Interrupted":
        return False
    return bool(ledger.collection_failures or ledger.failed)


def _unfinished(run: Run[Asked_co]) -> CallError:
    """The error of a process that ended before its session did."""
    ledger, code = run.ledger, run.exit.code
    if run.exit.signal is not None:
        headline = f"pytest subprocess terminated with signal {run.exit.signal}"
        killed = "\nKilled by SIGKILL, not by pytest-mcp: a test did it, or the machine ran out of memory."
        return _error(run, "crash", headline + (killed if run.exit.signal == "SIGKILL" else ""))
    if run.exit.report == "truncated" or ledger.hello is None or ledger.gaps:
        why = "its report is incomplete (a test may have truncated or overwritten a file that it did not open)"
        return _failed(run, "crash", f"{why}; the process exited with code {code}")
    if (misuse := _misused(run)) is not None:
        return _failed(run, "usage_error", misuse)
    return _failed(run, "crash", _crashed(run))


def _misused(run: Run[Asked_co]) -> str | None:
    """How the project's settings or plugins kept the session from starting, if they did."""
    ledger, code = run.ledger, run.exit.code
    if ledger.escaped is not None and ledger.escaped.error_type != "SystemExit" and not ledger.session_started:
        return f"pytest could not be configured: {in_line(f'{ledger.escaped.error_type}: {ledger.escaped.message}')}"
    if not ledger.session_started and code == 0 and (ledger.configured or run.exit.stdout.startswith("pytest ")):
        return "no tests were run; the project's addopts seem to contain --help, --version, --markers or the like"
    if ledger.returned is not None and ledger.returned.exit_status == code == _USAGE:
        # A hook of the project has raised pytest's UsageError, which pytest prints and does not report.
        return "; ".join(map(in_line, _SAID.findall(run.exit.stderr))) or "usage error"
    return None


def _crashed(run: Run[Asked_co]) -> str:
    printed = run.exit.stdout + run.exit.stderr
    if len(marks := list(_PYTEST_TIMEOUT.finditer(printed))) > 1:
        own = stacks.own_frames(run, printed[marks[-2].end() : marks[-1].start()])
        at = f" at {own[-1]}" if own else ""
        return f"pytest-timeout (method: thread) ended the process{at}"
    return f"the process exited with code {run.exit.code} before the test session finished"


def _failed(run: Run[Asked_co], error_type: ErrorType, why: str) -> ExecutionFailed:
    return _error(run, error_type, f"pytest execution failed: {why}")


def _error(run: Run[Asked_co], error_type: ErrorType, headline: str) -> ExecutionFailed:
    facts, stack = _facts(run), stacks.stuck_at(run)
    stderr = stacks.without_runner(stacks.without_stack(facts.stderr) if stack else facts.stderr)
    shorter = replace(facts, stdout=stacks.without_runner(facts.stdout), stderr=stderr)
    lacking = notices.lack_of_memory(run) if error_type in _MAY_LACK_MEMORY else []
    details = [*lacking, *_progress_lines(run.ledger, stack)]
    error = ExecutionFailed(error_type, headline, shorter, details=details)
    is_full = run.request.detail == "full"
    return error.with_facts(stdout=facts.stdout, stderr=facts.stderr) if is_full else error


def _facts(run: Run[Asked_co]) -> RunFacts:
    broken = run.ledger.collection_failures[:MAX_COLLECTION_ERRORS]
    return RunFacts(
        exit_code=None if run.exit.timed_out else run.exit.code,
        signal=None if run.exit.timed_out else run.exit.signal,
        stdout=run.exit.stdout,
        stderr=run.exit.stderr,
        command=run.command,
        duration=round(run.exit.duration, 3),
        timeout_exceeded=run.exit.timed_out,
        collection_errors=tuple(collection_error(event).model_dump() for event in broken),
        environment=run.environment,
    )


def _progress_lines(ledger: Ledger, stack: Sequence[str]) -> list[str]:
    """How far the run came, and what was running."""
    stack_lines = stacks.stack_lines(stack)
    if not ledger.session_started:
        loading = "Collection had not started: pytest was still loading plugins and conftest files."
        return [loading, *stack_lines] if ledger.hello else []
    of_workers = {each.id: stacks.stack_lines(stacks.of_the_project(each.stack)) for each in ledger.worker_stacks}
    if not ledger.selected:
        # In older versions of pytest an interrupted import is an error of the file.
        stopped = [each for each in ledger.collection_failures if each.error_type == "KeyboardInterrupt"]
        stack_lines += [f"stack| {in_line(each.file)}:{each.line}: in <module>" for each in stopped if each.line]
        return ["pytest was still collecting tests.", *stack_lines, *chain(*of_workers.values())]
    lines = [f"{ledger.finished} of {ledger.selected} tests had finished, {ledger.failed} failed."]
    if ledger.ended is not None and ledger.returned is None and ledger.interrupted is None:
        lines.append("The test session had finished; hooks that run after it (pytest_unconfigure) had not.")
    elif ledger.ended is None and ledger.finished == ledger.selected:
        lines.append("Hooks at the end of the test session (pytest_sessionfinish) had not finished.")
    for node_id in list(ledger.running)[:MAX_RUNNING_SHOWN]:
        lines += [f"running: {label(node_id)}", *of_workers.get(node_id, [])]
    return [*lines, *stack_lines]


def _refused_arguments(run: Run[Asked_co]) -> list[Fault]:
    """One for each argument of the caller that pytest, or the child's reporter, refused, with the next step."""
    ledger = run.ledger
    if ledger.refused is not None:
        return _not_test_files(run, ledger.refused.files)
    if ledger.usage_fault is None:
        return []
    messages = ledger.usage_fault.messages
    return [*_missing_targets(run, messages), *_bad_expressions(run.request, messages)]


def _not_test_files(run: Run[Asked_co], files: Sequence[str]) -> list[Fault]:
    why = Sentence(
        "is not a test file of this project (neither python_files nor the doctest settings match it)"
        " and was not run; to run a test file with another name, pass a ",
        *(PATTERN, " that matches it"),
    )
    refused = set(files)
    return [
        Fault(name, why, "not_a_test_file", target.node_id)
        for name, target in run.request.targets
        if str(target.path) in refused
    ]


def _missing_targets(run: Run[Asked_co], messages: Sequence[str]) -> list[Fault]:
    """One fault for each id that pytest did not find, unless its file skips itself or cannot be imported."""
    ledger = run.ledger
    missing = {name for message in messages for name in _NOT_FOUND.findall(message)}
    broken = {event.file for event in ledger.collection_failures} | {event.id for event in ledger.skipped_modules}
    by_cache = ledger.configured is not None and "lf" in ledger.configured.from_cache
    absent = [
        (name, target)
        for name, target in run.request.targets
        if not missing.isdisjoint(target.reported) and target.relative not in broken
    ]
    faults = []
    for number, (name, target) in enumerate(absent):
        step = (_near(target) if number < did_you_mean.MAX_ASKED else None) or (_LAST_FAILED if by_cache else SEE)
        faults.append(Fault(name, _why_missing(target, missing), "not_found", target.node_id, step))
    return faults


def _why_missing(target: Target, missing: set[str]) -> str:
    if target.selector is None:
        return "exists, but pytest finds no tests in it"
    return "was not found with these parameters" if missing.isdisjoint(target.reported[:2]) else "was not found"


def _near(target: Target) -> str | None:
    if ".py::" in (target.selector or "").partition("[")[0]:
        return "it looks like several node ids; send each as its own entry of the list"
    near = target.selector and did_you_mean.near_test(target.path, target.selector)
    return f"did you mean {near}?" if near else None


def _bad_expressions(request: Request, messages: Sequence[str]) -> list[Fault]:
    faults = []
    for message in messages:
        wrong = _BAD_EXPRESSION.match(message)
        name = _FIELD_OF[wrong.group(1) or wrong.group(2)] if wrong else ""
        # Otherwise the expression is in the project's addopts.
        if wrong and getattr(request, name) is not None:
            faults.append(Fault(name, message, "bad_expression", getattr(request, name)))
    return faults
