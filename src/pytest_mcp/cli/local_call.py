"""One tool, called in this process by the person or the script that typed its command.

In come the tool, what was typed and the project; out come an answer on standard output and an exit code. The road is
that of a client's call, without MCP. `--json` keeps to the budgets of a client; for a person there is no budget of
tokens, unless it is asked for.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError, InternalError
from pytest_mcp.api.requests import Request
from pytest_mcp.api.results import PartialResult, Shape
from pytest_mcp.cli import exit_codes, interruption, render, terminal, tool_flags
from pytest_mcp.cli.output import remark, show
from pytest_mcp.cli.progress_bar import Meter
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.model import Config
from pytest_mcp.environments import interpreter
from pytest_mcp.execution import process
from pytest_mcp.execution.background import alongside
from pytest_mcp.execution.spare import Spare
from pytest_mcp.report import serialize
from pytest_mcp.tools import Tool, dump


@dataclass(frozen=True)
class Errand:
    tool: Tool
    # The arguments for a person's eyes, made of those that were typed.
    for_a_person: Callable[[Arguments, Screen], Arguments]
    tell: Callable[[Any, Screen], None]
    exit_code: Callable[[Any], int]


def add_arguments(parser: argparse.ArgumentParser, tool: Tool) -> None:
    tool_flags.add_to(parser, tool)
    parser.add_argument("--json", action="store_true", help=f"print what {tool.name} answers, as one line of JSON")


def fulfil(errand: Errand, options: argparse.Namespace, config: Config) -> int:
    typed = tool_flags.arguments(options)
    screen = terminal.screen(config.environment, colour=typed.get("color"))
    if not options.json:
        typed, config = errand.for_a_person(typed, screen), config._replace(max_reply_bytes=sys.maxsize)
    try:
        request = errand.tool.accept(typed, config.bounds)
        assert isinstance(request, Request)  # the tool that has no tests to choose is asked by `doctor`
        result = _carried_out(errand.tool, request, config, screen)
    except CallError as error:
        _tell_error(error, errand, screen, as_json=options.json)
        return exit_codes.of_error(error)
    if options.json:
        show(serialize.line(serialize.safe(dump(result), colour=getattr(request, "color", False))))
    else:
        errand.tell(result, screen)
    return errand.exit_code(result)


def _tell_error(error: CallError, errand: Errand, screen: Screen, *, as_json: bool) -> None:
    if as_json:
        show(serialize.line(serialize.of_error(error)))
        return
    if (finished := error.data.get("partial")) is not None:
        errand.tell(PartialResult.model_validate(finished), screen)
    remark("\n".join(render.of_error(error, screen.err)))


def _carried_out(tool: Tool, request: Request, config: Config, screen: Screen) -> Shape:
    process.prepare()
    try:
        return anyio.run(_attended, tool, request, config, Meter(screen))
    except CallError:
        raise
    except Exception as bug:
        raise InternalError(bug) from bug


async def _attended(tool: Tool, request: Request, config: Config, meter: Meter) -> Shape:
    """The result, unless somebody loses patience."""
    heard: list[str] = []

    async def heed() -> None:
        heard.append((await interruption.first_signal()).name)
        meter.stop()
        patience.cancel()

    with anyio.CancelScope() as patience:
        async with alongside(heed()), alongside(meter.keep_drawn()):
            return await tool.handler(request, config, Spare(wanted=False, fingerprint=interpreter.state), meter.update)
    raise engine.interrupted(request, config, meter.ledger, seconds=meter.seconds, by=heard[0])
