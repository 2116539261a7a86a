"""Call one tool in this process, for `pytest-mcp run`, `discover`, `investigate` and `call`.

In come the tool, the parsed command line and the settings; out come an answer on stdout and an exit code. The call
goes through the same code as a client's call, without MCP. `--json` keeps to the same token limits as a client's call;
for people there is no limit unless one is typed.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError, InternalError
from pytest_mcp.api.requests import Arguments as Asked
from pytest_mcp.api.results import Shape
from pytest_mcp.cli import exit_codes, render_run, tool_flags, typed_advice, typed_paths
from pytest_mcp.cli.progress_bar import ProgressBar
from pytest_mcp.cli.progress_log import Log
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.cli.typed_advice import Typist
from pytest_mcp.config.model import MAX_REPLY_BYTES, Config
from pytest_mcp.config.options import typed_flags
from pytest_mcp.process import additions, process
from pytest_mcp.process.background import alongside
from pytest_mcp.process.interruption import Interruption, of_call
from pytest_mcp.process.spare import Spare
from pytest_mcp.process.start import Waiting
from pytest_mcp.process.stop_timeouts import INTERRUPTION_SECONDS
from pytest_mcp.python import interpreter
from pytest_mcp.report import no_result, serialize
from pytest_mcp.run.run import Project
from pytest_mcp.terminal import capabilities
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.output import print_message, show, show_on_stderr
from pytest_mcp.tools import Tool, dump, named, offered, with_notices

# How many folders a command names that is to be typed.
MOST_FOLDERS = 20
TAKE_FOLDERS = ("run", "discover")
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
# In seconds, for a call that was told to end at once.
LONGEST_STOP = 10.0
TEARING_DOWN = "interrupted: fixtures are torn down first; Ctrl-C again ends the run at once"


@dataclass(frozen=True)
class ToolCommand:
    tool: Tool
    # The arguments for output that people read, made from those that were typed.
    for_people: Callable[[Arguments, Screen], Arguments]
    # Both get what is known of the call, and the answer that was made of it.
    print_result: Callable[[Any, Any, Screen], None]
    exit_code: Callable[[Any, Any], int]
    # Gets what is known of a call without a result, the request unless it was refused, and the text of the error.
    print_problem: Callable[[Any, Any, Screen, str], None] = lambda _known, _request, _screen, text: show_on_stderr(
        text
    )
    # What is known of a call that was refused.
    of_error: Callable[[CallError], Any] = lambda error: error
    # The line that `--json` prints instead of the answer or the error.
    as_json: Callable[[Any], str] | None = None
    # Called with what is known after it was printed; an exit code replaces that of the answer.
    after: Callable[[Any], int | None] = lambda _: None
    # Whether it runs the tests once: failures are printed as they happen, and fixtures are torn down after Ctrl-C.
    runs_tests: bool = False
    # A child that waits for its job.
    child: Waiting | None = None


@dataclass(frozen=True)
class LocalCall:
    tool: Tool
    arguments: Arguments
    config: Config
    child: Waiting | None
    # Whether Ctrl-C is passed on to pytest first, which then has some time for its fixtures.
    tears_down: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a call came to."""

    # None if the arguments were refused.
    request: Asked | None
    # What the tool returned; None if it raised.
    known: Any = None
    # One of both: what a client would get.
    answer: Shape | None = None
    problem: CallError | None = None


def run(command: ToolCommand, options: argparse.Namespace, config: Config) -> int:
    # One event loop for the call and for what is recorded of it, which is written after the answer was printed.
    with asyncio.Runner() as runner:
        code = _run(command, options, config, runner)
        if config.history and (problem := runner.run(engine.finish_recording(config, is_awaited=True))):
            print_message(f"this run was not recorded in the history: {problem}")
    return code


def reply(name: str, arguments: Arguments, config: Config, child: Waiting | None) -> tuple[Any, bool]:
    """What a client gets for this call, and whether it is an error."""
    with asyncio.Runner() as runner:
        answer = _reply(name, arguments, config, child, runner)
        if config.history:
            runner.run(engine.finish_recording(config, is_awaited=True))
    return answer


def _reply(
    name: str, arguments: Arguments, config: Config, child: Waiting | None, runner: asyncio.Runner
) -> tuple[Any, bool]:
    try:
        tool = named(name, {tool.name: tool for tool in offered(config)})
    except CallError as error:
        return serialize.of_error(error, config.max_reply_bytes), True
    bar = ProgressBar(capabilities.screen({}), None)
    outcome = _outcome(LocalCall(tool, arguments, config, child), bar, runner)
    return _as_sent(outcome, config.max_reply_bytes), outcome.problem is not None


def _as_sent(outcome: Outcome, ceiling: int = MAX_REPLY_BYTES) -> Any:
    if outcome.problem is not None:
        return serialize.of_error(outcome.problem, ceiling)
    assert outcome.answer is not None
    return serialize.safe(dump(outcome.answer), colour=getattr(outcome.request, "color", False))


def _run(command: ToolCommand, options: argparse.Namespace, config: Config, runner: asyncio.Runner) -> int:
    arguments = typed_paths.from_root(tool_flags.arguments(options), config.root)
    screen = capabilities.screen(config.environment, colour=arguments.get("color"))
    if not options.json:
        arguments = command.for_people(arguments, screen)
        config = config._replace(max_reply_bytes=sys.maxsize)
    call = LocalCall(command.tool, arguments, config, command.child, tears_down=command.runs_tests)
    outcome = _outcome(call, _bar(command, options, screen), runner)
    problem, known = outcome.problem, outcome.known
    if problem is not None and known is None:
        known = command.of_error(problem)
    if options.json:
        show(command.as_json(known) if command.as_json else serialize.line(_as_sent(outcome)))
    elif problem is not None:
        command.print_problem(known, outcome.request, screen, _for_people(problem, options, config, screen))
    else:
        command.print_result(known, outcome.answer, screen)
    code = exit_codes.of_error(problem) if problem is not None else command.exit_code(known, outcome.answer)
    return command.after(known) or code


def _for_people(error: CallError, options: argparse.Namespace, config: Config, screen: Screen) -> str:
    error = typed_advice.with_refs(error, tool_flags.arguments(options), config.root)
    return "\n".join(render_run.of_error(error, screen.err, typed_advice.message(error, _typist(options, config))))


def _typist(options: argparse.Namespace, config: Config) -> Typist:
    with_folders = partial(_with_folders, options, config.root) if options.command in TAKE_FOLDERS else None
    return Typist(config.root, partial(_with_python, options), with_folders)


def _with_folders(options: argparse.Namespace, root: Path, folders: Sequence[str]) -> str:
    """The command that names them."""
    named = [typed_paths.typed(folder, root) for folder in folders[:MOST_FOLDERS]]
    line = tool_flags.command(options.command, {"node_ids": named}, typed_flags(options, os.environ))
    hidden = len(folders) - len(named)
    return f"{line} (and {hidden} more folders)" if hidden else line


def _bar(command: ToolCommand, options: argparse.Namespace, screen: Screen) -> ProgressBar:
    # A program that reads the answer as JSON may read both outputs as one.
    has_log = command.runs_tests and (screen.can_redraw or (screen.can_log and not options.json))
    is_quiet = command.runs_tests and options.quieter > options.louder
    return ProgressBar(screen, Log(screen.err, lists_files=not is_quiet) if has_log else None)


def _with_python(options: argparse.Namespace, python: str) -> list[str]:
    """The command that was typed, with this Python."""
    given = tool_flags.arguments(options)
    if "node_id" in given:
        given["node_id"] = [given["node_id"]]  # a list is typed without a flag
    settings = typed_flags(options, os.environ)
    return ["pytest-mcp", *settings, options.command, "--python", python, *tool_flags.as_typed(given)]


def _outcome(call: LocalCall, bar: ProgressBar, runner: asyncio.Runner) -> Outcome:
    request, known = None, None
    process.prepare()
    try:
        with _bugs_as_errors():
            request = call.tool.accept(call.arguments, call.config.bounds)
            known, notices = runner.run(_call(call, request, bar))
            answer = call.tool.answer(known, request, call.config)
    except CallError as error:
        return Outcome(request, known, problem=error)
    return Outcome(request, known, with_notices(answer, notices))


@contextmanager
def _bugs_as_errors() -> Iterator[None]:
    try:
        yield
    except CallError:
        raise
    except Exception as bug:
        raise InternalError(bug) from bug


async def _call(call: LocalCall, request: Asked, bar: ProgressBar) -> tuple[Any, list[str]]:
    """What the tool returns, and notices on what could not be added to it. A signal ends the call."""
    interruption = Interruption()
    of_call.set(interruption)
    spare = None if call.child is None else Spare(wanted=False, fingerprint=interpreter.state, started=call.child)
    project = Project(call.config, spare, additions.sparing("progress", bar.update))

    async def interrupt_on_signal() -> None:
        async with _signals() as signals:
            received = await anext(signals)
            if received == "SIGINT" and call.tears_down and await bar.learn_whether_it_has_begun():
                bar.announce(TEARING_DOWN)
                interruption.ask()
                with anyio.move_on_after(INTERRUPTION_SECONDS):
                    received = await anext(signals)
        bar.stop()
        interruption.force(received)
        # Then every process ends. What takes longer is not waiting for one.
        await anyio.sleep(LONGEST_STOP)
        scope.cancel()

    with anyio.CancelScope() as scope:
        async with alongside(interrupt_on_signal()), alongside(bar.keep_drawn()):
            with additions.collected() as left_out:
                known = await call.tool.handler(request, project)
            return known, left_out.notices
    raise no_result.interrupted_before(interruption.by or "")


@asynccontextmanager
async def _signals() -> AsyncIterator[AsyncIterator[str]]:
    """The names of the signals that come during the block. One that comes after it ends this process."""
    try:
        with anyio.open_signal_receiver(*INTERRUPTS) as signals:
            yield (number.name async for number in signals)
    finally:
        # Also if no signal came: Python's default handler would print a traceback.
        for number in INTERRUPTS:
            signal.signal(number, signal.SIG_DFL)
