"""Decide whether a run has a result.

In comes a run that has ended; out comes the error to answer with, or None if there is a result. Pure, but
for the file in which a test of nearly the same name is looked for.
The events that the child reported decide, above all whether its session finished. The exit code alone decides nothing:
a test can exit with any code, and a missing plugin gives the same code as a failing test.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from pytest_mcp.api import did_you_mean
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.errors import (
    CallError,
    ErrorType,
    ExecutionFailed,
    Fault,
    RefusedByPytest,
    RunFacts,
)
from pytest_mcp.api.requests import Request
from pytest_mcp.api.targets import PATTERN, SEE, Target
from pytest_mcp.process.start import REPORT_LIMIT
from pytest_mcp.report import collection_errors, notices, places, selection
from pytest_mcp.run.events import UsageFault
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Asked_co, Run
from pytest_mcp.text import in_line, label

# pytest's messages for an argument that it cannot find, in all its versions.
_NOT_FOUND = re.compile(r"^(?:not found: |found no collectors for |file or directory not found: )(.*?)$", re.MULTILINE)
_USAGE_ERROR = re.compile(r"\Ausage: .*\n(?:.*\n)*?\S+: error: (.*)")
_BAD_EXPRESSION = re.compile(r"^Wrong expression passed to '-([km])'|^(Keyword) expressions do not support")
# A frame as Python prints it, or faulthandler.
_TRACEBACK_LINE = re.compile(r'^ *File "([^"\n]+)", line (\d+),? in ([\w<>.]+)', re.MULTILINE)
# The same with its statement.
_STACK_FRAME = re.compile(r'^  File "([^"\n]+)", line \d+,? in .*\n(?:    .*\n)?', re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):\n"
# What faulthandler prints when a process that did not heed the interruption is ended, innermost frames first.
_ABORTED = re.compile(r"^Fatal Python error: Aborted\n", re.MULTILINE)
_THREAD = re.compile(r"^(?:Current t|T)hread 0x.*\n", re.MULTILINE)
# What starts pytest here.
_LAUNCHER = "/pytest_mcp/child/"
# How pytest-timeout begins and ends the stacks that it prints before it exits.
_PYTEST_TIMEOUT = re.compile(r"(?<!\+)\+{5,}+ Timeout \++$", re.MULTILINE)
# pytest's exit code for a usage error, and how it prints one.
_USAGE = 4
_SAID = re.compile(r"^ERROR: (.+)$", re.MULTILINE)
_FIELD_OF = {"k": "keywords", "m": "markers", "Keyword": "keywords"}
_LAST_FAILED = (
    "the project's addopts, or the command line, contain --lf, which makes pytest ignore files without a known failure"
)
_MAY_LACK_MEMORY: tuple[ErrorType, ...] = ("crash", "pytest_internal", "usage_error")
# How many running tests a message names.
MAX_RUNNING_SHOWN = 5
# How many files that could not be collected an error describes.
MAX_COLLECTION_ERRORS = 20
# How many frames are shown of the code that was interrupted: the outermost, which is the test's own, and the innermost.
MAX_FRAMES_SHOWN = 8


def diagnose(run: Run[Asked_co]) -> CallError | None:
    """The first cause that applies. The most certain causes are checked first."""
    ledger = run.ledger
    if run.exit.stopped_by is not None:
        return interrupted(run, run.exit.stopped_by)
    if run.exit.timed_out:
        return _failed(run, "timeout", f"pytest execution exceeded timeout of {run.time_limit} seconds")
    if run.exit.reason == "interrupted" and (ledger.ended is None or ledger.interrupted is not None):
        return interrupted(run, "SIGINT")
    if run.exit.reason == "overflow":
        why = f"its report exceeded {REPORT_LIMIT // 2**20} MiB, so the run was stopped"
        return _failed(run, "crash", f"pytest execution failed: {why}")
    if run.exit.reason == "lost":
        why = "its supervisor process was killed, by a test or from outside"
        return _failed(run, "crash", f"pytest execution failed: {why}")
    if run.exit.report == "unread":
        too_many = "its report has more records than a test run can write (does a test write to it?)"
        return _failed(run, "crash", f"pytest execution failed: {too_many}; not all of them were read")
    if faults := _refused_arguments(run):
        facts = _facts(run).of_refusal()
        # pytest's own words for a missing test add nothing.
        unsaid = any(fault.type != "not_found" for fault in faults)
        return RefusedByPytest(faults, facts if unsaid else replace(facts, stderr=""))
    if ledger.no_xdist is not None:
        why = "pytest-xdist is installed, but the project does not load it (addopts: -p no:xdist?); leave out workers"
        return _failed(run, "usage_error", f"pytest execution failed: {why}")
    if ledger.usage_fault is not None and not _is_of_broken_modules(ledger, ledger.usage_fault):
        return _failed(run, "usage_error", f"pytest execution failed: {_usage_headline(ledger.usage_fault)}")
    if ledger.internal_fault is not None and run.exit.code in (None, 3):
        return _failed(run, "pytest_internal", f"pytest execution failed: {_internal(run, ledger.internal_fault.text)}")
    if ledger.workers_down and ledger.selected is None:
        why = f"every worker died before it had collected the tests: {in_line(ledger.workers_down[0].reason)}"
        return _failed(run, "crash", f"pytest execution failed: {why}\nworkers: 1 runs the tests in one process.")
    if ledger.interrupted is not None and not _stopped_itself(ledger):
        said = filter(None, (ledger.interrupted.error_type, ledger.interrupted.message))
        return interrupted(run, in_line(": ".join(said)))
    if ledger.ended is not None and run.exit.code is not None:
        return None
    if ledger.collection_failures and not ledger.session_started and run.exit.code is not None:
        return None  # the session does not start if a conftest cannot be imported
    return _unfinished(run)


def _internal(run: Run[Asked_co], text: str) -> str:
    """pytest calls it internal also where a hook of the project raised; then the place in the project is named."""
    lines = text.strip().splitlines() or [""]
    frames = [index for index, line in enumerate(lines) if _TRACEBACK_LINE.match(line)]
    said = [line for line in lines[frames[-1] :] if not line.startswith("  ")] if frames else []
    last = in_line(" ".join(said) or lines[-1].strip())
    own = _own_frames(run, text)
    return f"internal error in pytest: {last}" + (f" (raised by {own[-1]})" if own else "")


def _own_frames(run: Run[Asked_co], text: str) -> list[str]:
    """The frames of the project in a traceback as Python prints it, the innermost last."""
    return [frame for frame in _frames(run, text) if not places.is_foreign(frame)]


def _frames(run: Run[Asked_co], text: str) -> list[str]:
    """All frames but those of pytest, in their order."""
    root = f"{run.environment.root}/"
    return [
        in_line(f"{path.removeprefix(root)}:{line}: in {function}")
        for path, line, function in _TRACEBACK_LINE.findall(text)
        if not _is_of_runner(path)
    ]


def _is_of_broken_modules(ledger: Ledger, fault: UsageFault) -> bool:
    """pytest finds no test in a module that cannot be imported or skips itself. Such a run has a result."""
    if ledger.collection_failures:
        return True
    return bool(ledger.skipped_modules) and all(_NOT_FOUND.match(message) for message in fault.messages)


def without_xdist(run: Run[Asked_co], fix: Sentence) -> ExecutionFailed:
    why = f"workers need pytest-xdist, which is not installed for {run.environment.interpreter}"
    facts = replace(_facts(run), stderr="")
    return ExecutionFailed("environment", f"pytest execution failed: {why}", facts, fix=fix)


def without_coverage(run: Run[Asked_co], fix: Sentence) -> ExecutionFailed:
    why = f"coverage needs coverage.py, which is not installed for {run.environment.interpreter}"
    facts = replace(_facts(run), stderr="")
    return ExecutionFailed("environment", f"pytest execution failed: {why}", facts, fix=fix)


def interrupted(run: Run[Asked_co], by: str) -> ExecutionFailed:
    """The error of a run that its caller stopped."""
    return _failed(run, "interrupted", f"pytest execution failed: interrupted ({by})")


def interrupted_before(by: str) -> ExecutionFailed:
    """The error of a call that its caller stopped before anything ran."""
    return ExecutionFailed("interrupted", f"pytest execution failed: interrupted ({by})", RunFacts())


def _stopped_itself(ledger: Ledger) -> bool:
    """Whether an interruption is only pytest's way of stopping for what it has reported.

    It raises one when files cannot be collected, and plugins do when tests have failed (xdist at
    maxfail, stepwise). Everything else that interrupts a session is somebody's intervention.
    """
    if ledger.interrupted is None or ledger.interrupted.error_type != "Interrupted":
        return False
    return bool(ledger.collection_failures or ledger.failed)


def lost_its_targets(run: Run[Asked_co]) -> bool:
    """Whether named targets did not run for no reported reason, as in xdist's workers without our plugin."""
    return bool(selection.unexplained(run.request, run.ledger))


def lost_its_division(run: Run[Asked_co]) -> bool:
    """Whether a shard did not report its share of the tests: xdist's controller does not collect."""
    ledger = run.ledger
    return run.shard is not None and ledger.ended is not None and ledger.selected is not None and not ledger.divided


def _unfinished(run: Run[Asked_co]) -> CallError:
    """The error of a process that ended before its session did."""
    ledger, code = run.ledger, run.exit.code
    if run.exit.signal is not None:
        headline = f"pytest subprocess terminated with signal {run.exit.signal}"
        killed = "\nKilled by SIGKILL, not by pytest-mcp: a test did it, or the machine ran out of memory."
        return _failed(run, "crash", headline + (killed if run.exit.signal == "SIGKILL" else ""))
    if run.exit.report == "truncated" or ledger.hello is None or ledger.gaps:
        why = "its report is incomplete (a test may have truncated or overwritten a file that it did not open)"
        return _failed(run, "crash", f"pytest execution failed: {why}; the process exited with code {code}")
    if ledger.escaped is not None and ledger.escaped.error_type != "SystemExit" and not ledger.session_started:
        why = in_line(f"{ledger.escaped.error_type}: {ledger.escaped.message}")
        return _failed(run, "usage_error", f"pytest execution failed: pytest could not be configured: {why}")
    if not ledger.session_started and code == 0 and (ledger.configured or run.exit.stdout.startswith("pytest ")):
        why = "no tests were run; the project's addopts seem to contain --help, --version, --markers or the like"
        return _failed(run, "usage_error", f"pytest execution failed: {why}")
    if ledger.returned is not None and ledger.returned.exit_status == code == _USAGE:
        # A hook of the project has raised pytest's UsageError, which pytest prints and does not report.
        why = "; ".join(map(in_line, _SAID.findall(run.exit.stderr))) or "usage error"
        return _failed(run, "usage_error", f"pytest execution failed: {why}")
    why = f"the process exited with code {code} before the test session finished"
    printed = run.exit.stdout + run.exit.stderr
    if len(marks := list(_PYTEST_TIMEOUT.finditer(printed))) > 1:
        own = _own_frames(run, printed[marks[-2].end() : marks[-1].start()])
        why = "pytest-timeout (method: thread) ended the process" + (f" at {own[-1]}" if own else "")
    return _failed(run, "crash", f"pytest execution failed: {why}")


def _failed(run: Run[Asked_co], error_type: ErrorType, headline: str) -> ExecutionFailed:
    facts, stack = _facts(run), stuck_at(run)
    if stack:
        facts = replace(facts, stderr=_without_stack(facts.stderr))
    if error_type == "crash":
        facts = replace(facts, stdout=_without_runner(facts.stdout), stderr=_without_runner(facts.stderr))
    lacking = notices.lack_of_memory(run) if error_type in _MAY_LACK_MEMORY else []
    return ExecutionFailed(error_type, headline, facts, details=[*lacking, *_progress_lines(run.ledger, stack)])


def stuck_at(run: Run[Asked_co]) -> list[str]:
    """Where a run was that was interrupted: the frames of the project in its main thread, the innermost last."""
    ledger = run.ledger
    if ledger.interrupted is not None and ledger.interrupted.stack:
        return _of_the_project(ledger.interrupted.stack)
    if run.exit.reason not in ("timeout", "interrupted"):
        return []
    if ledger.escaped is not None and ledger.escaped.error_type == "KeyboardInterrupt":
        return _of_the_project(_frames(run, ledger.escaped.traceback))
    _, *dumped = _ABORTED.split(run.exit.stderr)
    threads = _THREAD.split(dumped[-1]) if dumped else []
    return _of_the_project(_frames(run, next(filter(_has_runner, threads), ""))[::-1])


def _has_runner(stack: str) -> bool:
    return any(_is_of_runner(path) for path, *_ in _TRACEBACK_LINE.findall(stack))


def _without_stack(stderr: str) -> str:
    """Without what Python prints last of a process that is ended: the message has the frames that matter."""
    printed, _, last = stderr.rpartition(_TRACEBACK)
    return _ABORTED.split(printed if last.rstrip().endswith("\nKeyboardInterrupt") else stderr)[0]


def _of_the_project(frames: Sequence[str]) -> list[str]:
    """All of them if none is of the project."""
    return [frame for frame in frames if not places.is_foreign(frame)] or [*frames]


def _without_runner(printed: str) -> str:
    """Stacks of a crash have sixty lines of pytest above those of the test."""
    return _STACK_FRAME.sub(lambda frame: "" if _is_of_runner(frame.group(1)) else frame.group(), printed)


def _is_of_runner(path: str) -> bool:
    return places.is_runner(path) or _LAUNCHER in path


def _progress_lines(ledger: Ledger, stack: Sequence[str]) -> list[str]:
    """How far the run came, and what was running."""
    told = _stack_lines(stack)
    if not ledger.session_started:
        loading = "Collection had not started: pytest was still loading plugins and conftest files."
        return [loading, *told] if ledger.hello else []
    of_workers = {each.id: _stack_lines(_of_the_project(each.stack)) for each in ledger.worker_stacks}
    if not ledger.selected:
        # In older versions of pytest an interrupted import is an error of the file.
        stopped = [each for each in ledger.collection_failures if each.error_type == "KeyboardInterrupt"]
        told += [f"stack| {in_line(each.file)}:{each.line}: in <module>" for each in stopped if each.line]
        return ["pytest was still collecting tests.", *told, *chain(*of_workers.values())]
    lines = [f"{ledger.finished} of {ledger.selected} tests had finished, {ledger.failed} of them failed."]
    if ledger.ended is not None and ledger.returned is None and ledger.interrupted is None:
        lines.append("The test session had finished; hooks that run after it (pytest_unconfigure) had not.")
    elif ledger.ended is None and ledger.finished == ledger.selected:
        lines.append("Hooks at the end of the test session (pytest_sessionfinish) had not finished.")
    running = list(ledger.running)
    for node_id in running[:MAX_RUNNING_SHOWN]:
        lines += [f"running: {label(node_id)}", *of_workers.get(node_id, [])]
    return [*lines, *told]


def _stack_lines(frames: Sequence[str]) -> list[str]:
    hidden = len(frames) - MAX_FRAMES_SHOWN
    if hidden > 0:
        frames = [frames[0], f"... {hidden} more", *frames[hidden + 1 :]]
    return [f"stack| {frame}" for frame in frames]


def _usage_headline(fault: UsageFault) -> str:
    """What pytest's messages say in one line, with the configuration file; stderr has all of them."""
    said = "; ".join(map(_in_one_line, fault.messages)) or "usage error"
    unnamed = fault.configuration is not None and fault.configuration not in said
    return f"{said} (configured in {fault.configuration})" if unnamed else said


def _in_one_line(message: str) -> str:
    """argparse puts its usage above what is wrong."""
    found = _USAGE_ERROR.search(message)
    return found.group(1) if found else message.strip().partition("\n")[0]


def _refused_arguments(run: Run[Request]) -> list[Fault]:
    """The caller's arguments that pytest refused, or that the child's reporter refused."""
    ledger = run.ledger
    if ledger.refused is not None:
        return _not_test_files(run, ledger.refused.files)
    if ledger.usage_fault is None:
        return []
    return [*_missing_targets(run), *_bad_expressions(run, ledger.usage_fault.messages)]


def _not_test_files(run: Run[Request], files: Sequence[str]) -> list[Fault]:
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


def _missing_targets(run: Run[Request]) -> list[Fault]:
    """One fault for each id that pytest did not find, unless its file skips itself or cannot be imported."""
    assert run.ledger.usage_fault is not None
    missing = {found for message in run.ledger.usage_fault.messages for found in _NOT_FOUND.findall(message)}
    broken = {event.file for event in run.ledger.collection_failures}
    broken |= {event.id for event in run.ledger.skipped_modules}
    by_cache = run.ledger.configured is not None and "lf" in run.ledger.configured.from_cache
    absent = [
        (name, target)
        for name, target in run.request.targets
        if not missing.isdisjoint(target.reported) and target.relative not in broken
    ]
    steps = [_LAST_FAILED] if by_cache else [_next_step(target) for _, target in absent[: did_you_mean.MOST_ASKED]]
    steps += [_LAST_FAILED if by_cache else SEE] * (len(absent) - len(steps))
    return [
        Fault(name, _why_missing(target, missing), "not_found", target.node_id, step)
        for (name, target), step in zip(absent, steps, strict=False)
    ]


def _why_missing(target: Target, missing: set[str]) -> str:
    if target.selector is None:
        return "exists, but pytest finds no tests in it"
    return "was not found with these parameters" if missing.isdisjoint(target.reported[:2]) else "was not found"


def _next_step(target: Target) -> str:
    if ".py::" in (target.selector or "").partition("[")[0]:
        return "it looks like several node ids; send each as its own entry of the list"
    near = target.selector and did_you_mean.of_test(target.path, target.selector)
    return f"did you mean {target.relative}::{near}?" if near else SEE


def _bad_expressions(run: Run[Request], messages: Sequence[str]) -> list[Fault]:
    found = [(match, message) for message in messages if (match := _BAD_EXPRESSION.match(message))]
    names = [(_FIELD_OF[match.group(1) or match.group(2)], message) for match, message in found]
    return [
        Fault(name, message, "bad_expression", getattr(run.request, name))
        for name, message in names
        if getattr(run.request, name) is not None  # otherwise the expression is in the project's addopts
    ]


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
            collection_errors.collection_error(event).model_dump()
            for event in run.ledger.collection_failures[:MAX_COLLECTION_ERRORS]
        ),
        environment=run.environment,
    )
