"""A real client session against the real server: how a person tries a tool, or has the server examined.

In come a tool's name and its arguments; out comes the reply, and whether it is an error. An examination also
tells of the handshake, of what keeps it from coming about, and of what the server says on its standard error.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TextIO

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from pytest_mcp.config.model import Config

# A server lists its tools within a second; on a machine that is busy with other things it may take longer.
HANDSHAKE_SECONDS = 30
# What an answer may take beyond the time limit of its run: to look for a Python, to end what was started.
OVERTIME_SECONDS = 60
# The end of what a server says on its standard error, in characters.
KEPT_STDERR = 4000


@dataclass(frozen=True)
class Handshake:
    """What the server said of itself, and how long it took from its start until its tools were listed."""

    server: str
    version: str
    protocol: str
    tools: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Examination:
    """`answer` is None where there is a problem, `handshake` too where that is what failed."""

    handshake: Handshake | None = None
    answer: dict[str, Any] | None = None
    problem: str | None = None
    stderr: str = ""


OnHandshake = Callable[[Handshake], None]


async def call(tool: str, arguments: dict[str, Any], flags: Sequence[str], config: Config) -> tuple[Any, bool]:
    """Start `pytest-mcp` with the operator's own flags, call one tool, and end it."""
    async with Client(_server(flags, config)) as client:
        return await _answer(client, tool, arguments)


def call_blocking(tool: str, arguments: dict[str, Any], flags: Sequence[str], config: Config) -> tuple[Any, bool]:
    return anyio.run(call, tool, arguments, flags, config)


async def examine(tool: str, flags: Sequence[str], config: Config, on_handshake: OnHandshake) -> Examination:
    """One whole conversation, with a limit for each of its parts; `on_handshake` is told while the call goes on."""
    found = Examination()
    with _kept_stderr() as log:
        try:
            with anyio.fail_after(HANDSHAKE_SECONDS) as limit:
                begun = anyio.current_time()
                async with Client(stdio_client(_server(flags, config), errlog=log)) as client:
                    found = replace(found, handshake=await _handshake(client, begun))
                    assert found.handshake is not None
                    on_handshake(found.handshake)
                    limit.deadline = anyio.current_time() + config.default_timeout + OVERTIME_SECONDS
                    reply, failed = await _answer(client, tool, {})
            found = replace(found, problem=f"{tool}: {reply['message']}") if failed else replace(found, answer=reply)
        except* TimeoutError:
            found = replace(found, problem="the server did not answer in time")
        except* (MCPError, OSError) as group:
            found = replace(found, problem=f"the server ended, or could not be started: {_first(group)}")
        log.seek(0)
        return replace(found, stderr=log.read()[-KEPT_STDERR:])


def examine_blocking(tool: str, flags: Sequence[str], config: Config, on_handshake: OnHandshake) -> Examination:
    return anyio.run(examine, tool, flags, config, on_handshake)


def server_command(flags: Sequence[str]) -> list[str]:
    """What starts a server that is this one."""
    return [sys.executable, "-P", "-m", "pytest_mcp", *flags]


def _server(flags: Sequence[str], config: Config) -> StdioServerParameters:
    executable, *arguments = server_command(flags)
    # The SDK hands a server only a few variables unless told otherwise; ours are said again as flags.
    return StdioServerParameters(command=executable, args=arguments, env=dict(config.environment), cwd=config.root)


async def _handshake(client: Client, begun: float) -> Handshake:
    listed = await client.list_tools()
    itself = client.server_info
    return Handshake(
        server=itself.name if itself else "",
        version=itself.version if itself else "",
        protocol=client.protocol_version,
        tools=tuple(tool.name for tool in listed.tools),
        seconds=round(anyio.current_time() - begun, 3),
    )


async def _answer(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[Any, bool]:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"code": error.code, "message": error.message, "data": error.data}, True
    if result.is_error:
        return next(json.loads(block.text) for block in result.content if block.type == "text"), True
    return result.structured_content, False


@contextmanager
def _kept_stderr() -> Iterator[TextIO]:
    """A file to be read later, unless the machine has no place for one: that must not keep it from being told."""
    try:
        log: TextIO = tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - closed below
    except OSError:
        log = open(os.devnull, "w+", encoding="utf-8")  # noqa: PTH123, SIM115 - no path of ours, and closed below
    with log:
        yield log


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
