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
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError, ExecutionFailed, InternalError
from pytest_mcp.api.requests import Arguments as Asked
from pytest_mcp.api.requests import Request, Survey
from pytest_mcp.api.results import PartialResult, Shape
from pytest_mcp.cli import exit_codes, render, terminal
from pytest_mcp.cli.arguments import tool_flags, typed_advice, typed_paths
from pytest_mcp.cli.arguments.tool_flags import Arguments
from pytest_mcp.cli.output import print_message, show, show_on_stderr
from pytest_mcp.cli.progress.bar import ProgressBar
from pytest_mcp.cli.progress.log import Log
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.config.model import Config
from pytest_mcp.config.options import typed_flags
from pytest_mcp.environments import interpreter
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.execution import additions, process, supervisor_client
from pytest_mcp.execution.background import alongside
from pytest_mcp.execution.spare import Spare
from pytest_mcp.execution.start import Waiting
from pytest_mcp.execution.stop_timeouts import INTERRUPTION_SECONDS
from pytest_mcp.report import serialize
from pytest_mcp.report.shards import facts
from pytest_mcp.tools import Tool, dump, named, offered, with_notices

# How many folders a command names that is to be typed.
MOST_FOLDERS = 20
TAKE_FOLDERS = ("run", "discover")
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
TEARING_DOWN = "interrupted: fixtures are torn down first; Ctrl-C again ends the run at once"


@dataclass(frozen=True)
class ToolCommand:
    tool: Tool
    # The arguments for output that people read, made from those that were typed.
    for_people: Callable[[Arguments, Screen], Arguments]
    print_result: Callable[[Any, Screen], None]
    exit_code: Callable[[Any], int]
    # Called with what a run has that was cut short, and with the text of its error.
    print_partial: Callable[[PartialResult, Screen, str], None] | None = None
    # Called with the result or the error after it was printed; an exit code replaces that of the answer.
    after: Callable[[Any], int | None] = lambda _: None
    # Called with an error: the answer that the command has nevertheless, if it has one.
    rescued: Callable[[CallError], Shape | None] = lambda _: None
    # Whether it runs the tests once: failures are printed as they happen, and fixtures are torn down after Ctrl-C.
    runs_tests: bool = False
    # A child that waits for its job.
    child: Waiting | None = None


@dataclass(frozen=True)
class LocalCall:
    tool: Tool
    request: Asked
    config: Config
    child: Waiting | None
    # Whether Ctrl-C is passed on to pytest first, which then has some time for its fixtures.
    tears_down: bool = False


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
        request = tool.accept(arguments, config.bounds)
        bar = ProgressBar(terminal.screen({}), None)
        result = _called(_call(LocalCall(tool, request, config, child), bar), runner)
    except CallError as error:
        return serialize.of_error(error, config.max_reply_bytes), True
    return serialize.safe(dump(result), colour=getattr(request, "color", False)), False


def _run(command: ToolCommand, options: argparse.Namespace, config: Config, runner: asyncio.Runner) -> int:
    arguments = typed_paths.from_root(tool_flags.arguments(options), config.root)
    screen = terminal.screen(config.environment, colour=arguments.get("color"))
    if not options.json:
        arguments = command.for_people(arguments, screen)
        config = config._replace(max_reply_bytes=sys.maxsize)
    try:
        request = command.tool.accept(arguments, config.bounds)
        bar = _bar(command, options, screen)
        call = LocalCall(command.tool, request, config, command.child, tears_down=command.runs_tests)
        result = _called(_call(call, bar), runner)
    except CallError as error:
        rescued = command.rescued(error)
        if rescued is None:
            return _failed(error, command, options, config, screen)
        result = rescued
    if options.json:
        show(serialize.line(serialize.safe(dump(result), colour=getattr(request, "color", False))))
    else:
        command.print_result(result, screen)
    return command.after(result) or command.exit_code(result)


def _failed(error: CallError, command: ToolCommand, options: argparse.Namespace, config: Config, screen: Screen) -> int:
    if options.json:
        show(serialize.line(serialize.of_error(error) | _shard(config)))
    else:
        error = typed_advice.with_refs(error, tool_flags.arguments(options), config.root)
        error = _in_typed_words(error, options, config)
        message = typed_advice.message(error, config.root, partial(_with_python, options))
        _print_error(error, command, screen, message)
    return command.after(error) or exit_codes.of_error(error)


def _in_typed_words(error: CallError, options: argparse.Namespace, config: Config) -> CallError:
    """If folders are to be named: the command that names them."""
    fix = error.fix if isinstance(error, ExecutionFailed) else None
    if fix is not None and fix.folders and options.command in TAKE_FOLDERS:
        folders = [typed_paths.typed(folder, config.root) for folder in fix.folders[:MOST_FOLDERS]]
        line = tool_flags.command(options.command, {"node_ids": folders}, typed_flags(options, os.environ))
        hidden = len(fix.folders) - len(folders)
        error.message = error.message.replace(fix.line, f"{line} (and {hidden} more folders)" if hidden else line)
    return error


def _bar(command: ToolCommand, options: argparse.Namespace, screen: Screen) -> ProgressBar:
    # A program that reads the answer as JSON may read both outputs as one.
    has_log = command.runs_tests and (screen.can_redraw or (screen.can_log and not options.json))
    is_quiet = command.runs_tests and options.quieter > options.louder
    return ProgressBar(screen, Log(screen.err, lists_files=not is_quiet) if has_log else None)


def _shard(config: Config) -> dict[str, Any]:
    """With `run --shard`: which shard it was, so that `merge` can say which one did not finish."""
    return {} if config.shard is None else {"shard": dump(facts.of_error(config.shard))}


def _with_python(options: argparse.Namespace, python: str) -> list[str]:
    """The command that was typed, with this Python."""
    given = tool_flags.arguments(options)
    if "node_id" in given:
        given["node_id"] = [given["node_id"]]  # a list is typed without a flag
    settings = typed_flags(options, os.environ)
    return ["pytest-mcp", *settings, options.command, "--python", python, *tool_flags.as_typed(given)]


def _print_error(error: CallError, command: ToolCommand, screen: Screen, message: str) -> None:
    text = "\n".join(render.of_error(error, screen.err, message))
    if (partial := error.data.get("partial")) is not None and command.print_partial is not None:
        command.print_partial(PartialResult.model_validate(partial), screen, text)
    else:
        show_on_stderr(text)


def _called(call: Coroutine[Any, Any, Shape], runner: asyncio.Runner) -> Shape:
    process.prepare()
    try:
        return runner.run(call)
    except CallError:
        raise
    except Exception as bug:
        raise InternalError(bug) from bug


async def _call(call: LocalCall, bar: ProgressBar) -> Shape:
    """The result of the tool. A signal cancels the call and raises the error `interrupted`."""
    received: list[str] = []
    event = anyio.Event()
    spare = None if call.child is None else Spare(wanted=False, fingerprint=interpreter.state, started=call.child)
    if call.tears_down:
        supervisor_client.interruption.set(event)

    async def interrupt_on_signal() -> None:
        async with _signals() as signals:
            received.append(await anext(signals))
            if received == ["SIGINT"] and call.tears_down and await bar.learn_whether_it_has_begun():
                bar.announce(TEARING_DOWN)
                event.set()
                with anyio.move_on_after(INTERRUPTION_SECONDS):
                    received.append(await anext(signals))
        bar.stop()
        scope.cancel()

    with anyio.CancelScope() as scope:
        async with alongside(interrupt_on_signal()), alongside(bar.keep_drawn()):
            with additions.collected() as left_out:
                result = await call.tool.handler(
                    call.request, call.config, spare, additions.sparing("progress", bar.update)
                )
            return with_notices(result, left_out.notices)
    made = bar.ledger if isinstance(bar.ledger, Ledger) else Ledger()
    ran = call.request if isinstance(call.request, Request) else Survey()
    raise engine.interrupted(ran, call.config, made, seconds=bar.seconds, by=received[-1])


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
