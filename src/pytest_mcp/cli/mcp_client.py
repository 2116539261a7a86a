"""An MCP client that starts a server, or connects to one, and calls `explain_environment`, for `pytest-mcp doctor`.

The SDK takes seconds to load on a busy machine. It is loaded when a server is examined: by then `doctor` has said so.
"""

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TextIO

import anyio

from pytest_mcp.api.advice import Sentence, from_meta
from pytest_mcp.config.model import HISTORY_VARIABLE, Config

if TYPE_CHECKING:
    import httpx2
    from mcp import Client, StdioServerParameters

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
    return CheckedServer(
        connect=lambda log: _stdio(flags, config, log),
        limit=config.default_timeout + CALL_OVERHEAD_SECONDS,
        failure="the server exited or could not be started",
    )


def remote(url: str, token: str | None, limit: float) -> CheckedServer:
    """A server on HTTP."""
    refusals: list[int] = []
    return CheckedServer(lambda _: _http(url, token, refusals), limit + CALL_OVERHEAD_SECONDS, "no answer", refusals)


def _stdio(flags: Sequence[str], config: Config, log: TextIO) -> Any:
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    return stdio_client(_server(flags, config), errlog=log)


@asynccontextmanager
async def _http(url: str, token: str | None, refusals: list[int]) -> AsyncIterator[Any]:
    import httpx2  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    async def note(response: "httpx2.Response") -> None:
        if response.is_error:
            refusals.append(response.status_code)

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    http = httpx2.AsyncClient(headers=headers, event_hooks={"response": [note]}, timeout=SILENCE_SECONDS)
    async with http, streamable_http_client(url, http_client=http) as streams:
        yield streams


def examine(
    arguments: dict[str, Any], server: CheckedServer, on_handshake: Callable[[Handshake], None] = lambda _: None
) -> Examination:
    """A handshake and one call, each with a time limit; `on_handshake` is called before the tool is."""
    return anyio.run(_examine, arguments, server, on_handshake)


async def _examine(
    arguments: dict[str, Any], server: CheckedServer, on_handshake: Callable[[Handshake], None]
) -> Examination:
    import httpx2  # noqa: PLC0415
    from mcp import Client, MCPError  # noqa: PLC0415

    result = Examination()
    with _kept_stderr() as log:
        try:
            with anyio.fail_after(HANDSHAKE_SECONDS) as limit:
                started = anyio.current_time()
                async with Client(server.connect(log)) as client:
                    handshake = await _handshake(client, started)
                    result = replace(result, handshake=handshake)
                    on_handshake(handshake)
                    limit.deadline = anyio.current_time() + server.limit
                    result = replace(result, **await _answer(client, arguments))
        except* TimeoutError:
            result = replace(result, problem="the server did not answer in time")
        except* (MCPError, OSError, httpx2.HTTPError) as group:
            reason = f"HTTP status {server.refusals[-1]}" if server.refusals else _first(group)
            result = replace(result, problem=f"{server.failure}: {reason}")
        log.seek(0)
        return replace(result, stderr=log.read()[-KEPT_STDERR:])


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


async def _handshake(client: "Client", started: float) -> Handshake:
    tools = tuple(tool.name for tool in (await client.list_tools()).tools)
    seconds = round(anyio.current_time() - started, 3)
    name, version = (client.server_info.name, client.server_info.version) if client.server_info else ("", "")
    return Handshake(name, version, client.protocol_version, tools, seconds)


async def _answer(client: "Client", arguments: dict[str, Any]) -> dict[str, Any]:
    """What is found by the call."""
    from mcp import MCPError  # noqa: PLC0415

    try:
        result = await client.call_tool(TOOL, arguments)
    except MCPError as error:
        return {"problem": f"{TOOL}: {error.message}"}
    if result.is_error:
        reply = next(json.loads(block.text) for block in result.content if block.type == "text")
        return {"problem": f"{TOOL}: {reply['message']}"}
    return {"answer": result.structured_content, "next_step": from_meta(result.meta)}


@contextmanager
def _kept_stderr() -> Iterator[TextIO]:
    """A temporary file, or /dev/null if none can be created: `doctor` must then still report everything else."""
    try:
        log: TextIO = tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - closed below
    except OSError:
        log = open(os.devnull, "w+", encoding="utf-8")  # noqa: PTH123, SIM115 - closed below
    with log:
        yield log


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
