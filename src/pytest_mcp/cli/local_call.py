"""Call one tool in this process, for `pytest-mcp run`, `discover`, `investigate`, `history` and `call`.

The call goes through the same code as a client's, without MCP. `--json` keeps to the same token limits as a client's
call; for people there is no limit unless one is typed.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from pytest_mcp import engine
from pytest_mcp.api import requests
from pytest_mcp.api.errors import CallError, InternalError
from pytest_mcp.api.results import Shape
from pytest_mcp.cli import exit_codes, page_file, render_run, tool_flags, typed_advice
from pytest_mcp.cli.progress_bar import ProgressBar
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.cli.typed_advice import Typist
from pytest_mcp.config.model import MAX_REPLY_BYTES, Config
from pytest_mcp.config.options import typed_flags
from pytest_mcp.process import additions, process
from pytest_mcp.process.background import alongside
from pytest_mcp.process.interruption import Interruption, of_call
from pytest_mcp.process.spare import Spare
from pytest_mcp.process.start import Waiting
from pytest_mcp.process.supervisor_protocol import INTERRUPTION_SECONDS
from pytest_mcp.python import interpreter
from pytest_mcp.report import error_data, no_result, serialize, shard_reports
from pytest_mcp.report.report import report_without_run
from pytest_mcp.run.run import Project
from pytest_mcp.server import turns
from pytest_mcp.terminal import capabilities
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.output import print_message, show, show_on_stderr
from pytest_mcp.tools import Tool, dump, named, offered, with_notices

# How many folders a command names that is to be typed.
MAX_FOLDERS = 20
TAKE_FOLDERS = ("run", "discover")
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
# In seconds, for a call that was told to end at once.
MAX_STOP = 10.0
TEARING_DOWN = "interrupted: fixtures are torn down first; Ctrl-C again ends the run at once"


@dataclass(frozen=True)
class CallOutcome:
    # None if the arguments were refused.
    request: requests.Arguments | None
    # What the tool returned; None if it raised.
    known: Any = None
    # One of both: what a client would get.
    answer: Shape | None = None
    problem: CallError | None = None

    def as_sent(self, ceiling: int = MAX_REPLY_BYTES) -> Any:
        if self.problem is not None:
            return serialize.of_error(self.problem, ceiling, error_data.sent_data(self.problem, self.request))
        assert self.answer is not None
        return serialize.safe(dump(self.answer), colour=getattr(self.request, "color", False))


class ToolCommand:
    """A command that calls one tool.

    `known` is what the tool returned, or the report of a call that was refused; `answer` is what a client would get.
    """

    # Whether it runs the tests once: failures are printed as they happen, and fixtures are torn down after Ctrl-C.
    runs_tests = False

    def __init__(self, tool: Tool, options: argparse.Namespace, config: Config, child: Waiting | None = None) -> None:
        self.tool = tool
        self.options = options
        self.config = config
        # One that waits for its job.
        self.child = child
        # The operator's flags that were typed.
        self.settings = typed_flags(options, os.environ)
        self.page = page_file.wanted(options)

    def for_people(self, typed: Arguments, _screen: Screen) -> Arguments:
        """The arguments for output that people read, made from those that were typed."""
        return typed

    def print_answer(self, known: Any, answer: Any, screen: Screen) -> None:
        raise NotImplementedError

    def exit_code(self, known: Any, answer: Any) -> int:
        raise NotImplementedError

    def print_problem(self, _known: Any, _request: Any, _screen: Screen, text: str) -> None:
        """Say why there is no result. The request is None if it was refused, `text` is that of the error."""
        show_on_stderr(text)

    def rerun_command(self, rerun: Arguments | None) -> str | None:
        return None if rerun is None else tool_flags.rerun_command(rerun, self.settings, self.config.root)


def run(command: ToolCommand) -> int:
    # One event loop for the call and for what is recorded of it, which is written after the answer was printed.
    with asyncio.Runner() as runner:
        code = _run(command, runner)
        if problem := runner.run(engine.finish_recording(command.config, is_awaited=True)):
            print_message(f"this run was not recorded in the history: {problem}")
    return code


def reply(options: argparse.Namespace, arguments: Arguments, config: Config, child: Waiting | None) -> tuple[Any, bool]:
    """What a client gets for this call, and whether it is an error."""
    try:
        tool = named(options.tool, {tool.name: tool for tool in offered(config)})
    except CallError as error:
        return serialize.of_error(error, config.max_reply_bytes), True
    command = ToolCommand(tool, options, config, child)
    with asyncio.Runner() as runner:
        outcome = _outcome(command, arguments, ProgressBar(capabilities.screen({}), has_log=False), runner)
        runner.run(engine.finish_recording(config, is_awaited=True))
    return outcome.as_sent(config.max_reply_bytes), outcome.problem is not None


def _run(command: ToolCommand, runner: asyncio.Runner) -> int:
    options, config = command.options, command.config
    arguments = tool_flags.from_root(tool_flags.arguments(options), config.root)
    screen = capabilities.screen(config.environment, colour=arguments.get("color"))
    if not options.json:
        arguments = command.for_people(arguments, screen)
        command.config = config._replace(max_reply_bytes=sys.maxsize)
    # A program that reads the answer as JSON may read both outputs as one.
    has_log = command.runs_tests and (screen.can_redraw or (screen.can_log and not options.json))
    outcome = _outcome(command, arguments, ProgressBar(screen, has_log=has_log), runner)
    problem, known = outcome.problem, outcome.known
    if problem is not None and known is None:
        known = report_without_run(problem, part=config.shard)
    _print(command, outcome, known, screen)
    code = exit_codes.of_error(problem) if problem is not None else command.exit_code(known, outcome.answer)
    if command.page is None:
        return code
    origin = page_file.origin(options.command, tool_flags.arguments(options), command.settings, config.root)
    return command.page.write(partial(page_file.page_of, known, origin, config)) or code


def _print(command: ToolCommand, outcome: CallOutcome, known: Any, screen: Screen) -> None:
    if command.options.json:
        show(shard_reports.to_json(known) if command.config.shard else serialize.line(outcome.as_sent()))
    elif outcome.problem is not None:
        text = _for_people(outcome.problem, command, screen)
        command.print_problem(known, outcome.request, screen, text)
    else:
        command.print_answer(known, outcome.answer, screen)


def _for_people(error: CallError, command: ToolCommand, screen: Screen) -> str:
    options, root = command.options, command.config.root
    typed = tool_flags.arguments(options)
    error = typed_advice.with_ref(error, typed)

    def with_folders(folders: Sequence[str]) -> str:
        paths = [tool_flags.typed_path(folder, root) for folder in folders[:MAX_FOLDERS]]
        return tool_flags.command(options.command, {"node_ids": paths}, command.settings)

    def with_python(python: str) -> list[str]:
        words = ["pytest-mcp", *command.settings, options.command, "--python", python]
        return [*words, *tool_flags.as_typed(typed)]

    typist = Typist(root, with_python, with_folders if options.command in TAKE_FOLDERS else None)
    return "\n".join(render_run.error_lines(error, screen.err, typed_advice.message(error, typist)))


def _outcome(command: ToolCommand, arguments: Arguments, bar: ProgressBar, runner: asyncio.Runner) -> CallOutcome:
    request, known = None, None
    process.prepare()
    try:
        request = command.tool.accept(arguments, command.config.bounds)
        known, notices = runner.run(_call(command, request, bar))
        answer = command.tool.answer(known, request, command.config)
    except CallError as error:
        return CallOutcome(request, known, problem=error)
    except Exception as bug:  # noqa: BLE001 - it is printed with its traceback
        return CallOutcome(request, known, problem=InternalError(bug))
    return CallOutcome(request, known, with_notices(answer, notices))


async def _call(command: ToolCommand, request: requests.Arguments, bar: ProgressBar) -> tuple[Any, list[str]]:
    """What the tool returns, and notices on what could not be added to it. A signal ends the call."""
    interruption = Interruption()
    of_call.set(interruption)
    child = command.child
    spare = None if child is None else Spare(wanted=False, fingerprint=interpreter.state, started=child)
    project = Project(command.config, spare, additions.sparing("progress", bar.update))
    waiting, has_begun = turns.PlaceInQueue(project.on_progress), anyio.Event()
    with anyio.CancelScope() as scope:

        async def end_on_signal() -> None:
            await _interrupt_on_signal(interruption, bar if command.runs_tests else None)
            bar.stop()
            if has_begun.is_set():
                # Then every process ends. What takes longer is not waiting for one.
                await anyio.sleep(MAX_STOP)
            scope.cancel()

        async with alongside(end_on_signal()), alongside(bar.keep_drawn()):
            with additions.collected() as left_out:
                async with turns.turn_of(command.tool, request, project, waiting.tell) as turn:
                    has_begun.set()
                    known = await command.tool.handler(request, turn.project)
            return known, [*turn.notices, *left_out.notices]
    raise no_result.interrupted_before(interruption.by or "")


async def _interrupt_on_signal(interruption: Interruption, bar: ProgressBar | None) -> None:
    """With the bar of a run of tests, the first Ctrl-C tears fixtures down."""
    async with _signals() as signals:
        received = await anext(signals)
        if received == "SIGINT" and bar is not None and await bar.learn_whether_it_has_begun():
            bar.announce(TEARING_DOWN)
            interruption.ask()
            with anyio.move_on_after(INTERRUPTION_SECONDS):
                received = await anext(signals)
    interruption.force(received)


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
