"""An MCP client that starts a server, or connects to one, and calls `explain_environment`, for `pytest-mcp doctor`.

The SDK takes seconds to load on a busy machine. It is loaded when a server is examined: by then `doctor` has said so.
"""

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TextIO

import anyio

from pytest_mcp.api.advice import Sentence, from_meta
from pytest_mcp.config.model import HISTORY_VARIABLE, Config

if TYPE_CHECKING:
    import httpx2
    from mcp import Client, StdioServerParameters
    from mcp.types import CallToolResult

TOOL = "explain_environment"
# A server lists its tools within a second, but a busy machine may take longer.
HANDSHAKE_SECONDS = 30
# How much longer than its run a call may take: to find the interpreter, to end processes.
CALL_OVERHEAD_SECONDS = 60
# How long a server on HTTP may send nothing. It sends something every 15 seconds.
SILENCE_SECONDS = 60
# How many characters of the server's stderr are kept, its end.
KEPT_STDERR = 4000


@dataclass(frozen=True)
class Handshake:
    """What the server reported about itself; `seconds` from its start until it had listed its tools."""

    server: str
    version: str
    protocol: str
    tools: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Examination:
    """`answer` is None if there is a problem; `handshake` is None if the handshake failed."""

    handshake: Handshake | None = None
    answer: dict[str, Any] | None = None
    # That of the answer, with its advice; empty if the answer has none, or no advice in it.
    next_step: Sentence = field(default_factory=Sentence)
    problem: str | None = None
    stderr: str = ""


@dataclass(frozen=True)
class CheckedServer:
    # Opens the connection; what a started server writes to stderr goes to the file.
    connect: Callable[[TextIO], Any]
    # How long a call may take, in seconds.
    limit: float
    # What it means if the connection fails.
    failure: str
    # The HTTP status of every response that was an error.
    refusals: list[int] = field(default_factory=list)


def local(flags: Sequence[str], config: Config) -> CheckedServer:
    """A server that is started with these flags."""

    def connect(log: TextIO) -> Any:
        from mcp.client.stdio import stdio_client  # noqa: PLC0415

        return stdio_client(_server(flags, config), errlog=log)

    limit = config.default_timeout + CALL_OVERHEAD_SECONDS
    return CheckedServer(connect, limit, "the server exited or could not be started")


def server_command(flags: Sequence[str]) -> list[str]:
    """The command that starts this copy of pytest-mcp as a server."""
    return [sys.executable, "-P", "-m", "pytest_mcp", *flags]


def _server(flags: Sequence[str], config: Config) -> "StdioServerParameters":
    from mcp import StdioServerParameters  # noqa: PLC0415

    executable, *arguments = server_command(flags)
    # Without `env`, the SDK passes only a few variables. Our own variables are passed as flags, except an address that
    # may contain a password.
    history = {HISTORY_VARIABLE: config.history.address} if config.history else {}
    environment = {**config.environment, **history}
    return StdioServerParameters(command=executable, args=arguments, env=environment, cwd=config.root)


def remote(url: str, token: str | None, limit: float) -> CheckedServer:
    """A server on HTTP."""
    refusals: list[int] = []

    async def note(response: "httpx2.Response") -> None:
        if response.is_error:
            refusals.append(response.status_code)

    @asynccontextmanager
    async def connect(_: TextIO) -> AsyncIterator[Any]:
        import httpx2  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        headers = {"Authorization": f"Bearer {token}"} if token else {}
        http = httpx2.AsyncClient(headers=headers, event_hooks={"response": [note]}, timeout=SILENCE_SECONDS)
        async with http, streamable_http_client(url, http_client=http) as streams:
            yield streams

    return CheckedServer(connect, limit + CALL_OVERHEAD_SECONDS, "no answer", refusals)


def examine(
    arguments: dict[str, Any], server: CheckedServer, on_handshake: Callable[[Handshake], None] = lambda _: None
) -> Examination:
    """A handshake and one call, each with a time limit; `on_handshake` is called before the tool is."""
    with _stderr_file() as log:
        result = anyio.run(_examine, arguments, server, on_handshake, log)
        log.seek(0)
        return replace(result, stderr=log.read()[-KEPT_STDERR:])


def _stderr_file() -> TextIO:
    try:
        return tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")
    except OSError:  # `doctor` must then still report everything else
        return open(os.devnull, "w+", encoding="utf-8")  # noqa: PTH123


async def _examine(
    arguments: dict[str, Any], server: CheckedServer, on_handshake: Callable[[Handshake], None], log: TextIO
) -> Examination:
    import httpx2  # noqa: PLC0415
    from mcp import Client, MCPError  # noqa: PLC0415

    result = Examination()
    try:
        with anyio.fail_after(HANDSHAKE_SECONDS) as limit:
            started = anyio.current_time()
            async with Client(server.connect(log)) as client:
                handshake = await _handshake(client, started)
                result = Examination(handshake)
                on_handshake(handshake)
                limit.deadline = anyio.current_time() + server.limit
                result = _examination(handshake, await client.call_tool(TOOL, arguments))
    except* TimeoutError:
        result = replace(result, problem="the server did not answer in time")
    except* (MCPError, OSError, httpx2.HTTPError) as group:
        reason = f"HTTP status {server.refusals[-1]}" if server.refusals else _first(group)
        result = replace(result, problem=f"{TOOL if result.handshake else server.failure}: {reason}")
    return result


async def _handshake(client: "Client", started: float) -> Handshake:
    tools = tuple(tool.name for tool in (await client.list_tools()).tools)
    info = client.server_info
    name, version = (info.name, info.version) if info else ("", "")
    return Handshake(name, version, client.protocol_version, tools, round(anyio.current_time() - started, 3))


def _examination(handshake: Handshake, reply: "CallToolResult") -> Examination:
    if not reply.is_error:
        return Examination(handshake, reply.structured_content, from_meta(reply.meta))
    error = next(json.loads(block.text) for block in reply.content if block.type == "text")
    return Examination(handshake, problem=f"{TOOL}: {error['message']}")


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
