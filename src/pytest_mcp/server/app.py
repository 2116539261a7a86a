"""The only module that speaks MCP as a server: rows become tools, answers and errors become replies.

What a call does is decided in `tools` and below. Every string that leaves goes through `serialize`.
"""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import anyio
import mcp_types as types
from anyio.abc import ObjectSendStream
from mcp import MCPError
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pytest_mcp import __version__
from pytest_mcp.api.errors import INVALID_PARAMS, CallError, Fault, InternalError, InvalidParams, NotInitialized
from pytest_mcp.api.results import Shape
from pytest_mcp.config.model import Config
from pytest_mcp.environments import interpreter
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.execution.background import alongside, in_thread
from pytest_mcp.execution.spare import Spare
from pytest_mcp.report import serialize
from pytest_mcp.server import incoming, progress, stdio, telemetry
from pytest_mcp.server.concurrency import Calls
from pytest_mcp.server.fast_start import Handover
from pytest_mcp.server.log_format import FIELDS
from pytest_mcp.server.stdio import Outlet
from pytest_mcp.server.telemetry import Entry
from pytest_mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, Tool, dump

# At most a few progress notes a second; a client shows them to a person.
PROGRESS_SECONDS = 0.3
# The SDK answers an opening within milliseconds. If it should not, to go on is better than to be deaf.
REPEAT_SECONDS = 10
# Answers that wait for a client to read. Beyond that nothing more is read from it: the SDK keeps a task for each.
MOST_UNREAD = 1_000
# In a log, for a name that is the caller's and not ours.
UNKNOWN_TOOL = "unknown"

Context = ServerRequestContext[Any, Any]
logger = logging.getLogger(__name__)


def create(config: Config, calls: Calls | None = None) -> Server[Any]:
    """A server with all tools, ready to be run on any transport. Whoever hands in `concurrency` can end them."""
    turns = calls or Calls(at_once=config.max_runs)
    spare = Spare(wanted=config.spare, fingerprint=interpreter.state)

    @asynccontextmanager
    async def lifespan(_server: Server[Any]) -> AsyncIterator[None]:
        async with spare.kept():
            yield

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_advertised(tool) for tool in TOOLS])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        with telemetry.entry(params.name if params.name in BY_NAME else UNKNOWN_TOOL) as entry:
            try:
                return await _call(params.name, params.arguments or {}, config, context, turns, spare, entry)
            except CallError as error:
                entry.failed(error)
                return _failure(error, config)
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:  # whatever a bug of ours raises costs one answer, not the server
                logger.exception("bug while answering a call")
                entry.failed(bug := InternalError(error))
                return _failure(bug, config)

    server = Server(
        "pytest-mcp",
        version=__version__,
        title="pytest",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )

    async def explained(ctx: Context, call_next: CallNext) -> HandlerResult:
        """The SDK's own refusals have no more than a code; they are answered as ours are."""
        try:
            return await call_next(ctx)
        except ValidationError as error:
            faults = [_fault_of_params(details) for details in error.errors(include_url=False)]
            raise MCPError(**serialize.of_error(InvalidParams(faults), config.max_reply_bytes)) from error
        except MCPError as error:
            # Our own errors have data. The SDK's only one of this code without is of a request before the handshake.
            if error.code != INVALID_PARAMS or error.data:
                raise
            raise MCPError(**serialize.of_error(NotInitialized(ctx.method))) from error

    server.middleware.append(explained)
    return server


def _fault_of_params(details: ErrorDetails) -> Fault:
    field = ".".join(str(part) for part in details["loc"]).removeprefix("params.")
    # Of what is missing, the SDK names the object around it, for `params` a message that it made up itself.
    received = None if details["type"] == "missing" else details["input"]
    return Fault(field, details["msg"], details["type"], received)


async def serve_stdio(config: Config, handover: Handover) -> None:
    """Go on where the front has stopped: the SDK hears everything, and repeats nothing that was answered."""
    server = create(config)
    answers = Answers(handover)
    with stdio.outlet() as outlet:
        # The SDK asks only for something to iterate over and something to write to; its own block threads.
        streams = cast("Any", {"stdin": heard(handover, answers, outlet), "stdout": outlet})
        async with stdio_server(**streams) as (reader, answers.stream):
            await server.run(reader, answers, server.create_initialization_options())


async def heard(handover: Handover, answers: "Answers", outlet: Outlet) -> AsyncIterator[bytes]:
    """Every message that the SDK answers or may ignore; the others are answered here."""
    if handover.opening:
        yield handover.opening
        # Nothing else is heard until then: a cancel would leave the opening without the answer to be dropped.
        with anyio.move_on_after(REPEAT_SECONDS):
            await answers.repeated.wait()
    async for line in stdio.lines(outlet.source, handover.rest):
        await answers.wait_for_reader()
        if not line.strip():
            continue
        try:
            message = incoming.admitted(line)
        except incoming.Refused as refusal:
            logger.info("refused", extra={FIELDS: {"reason": str(refusal)}})
            await outlet.write(serialize.line(refusal.reply) + "\n")
        else:
            yield message
    outlet.source_ended = True


class Sending(Protocol):
    """What the SDK's own stream can do."""

    async def send(self, item: SessionMessage) -> None: ...
    async def aclose(self) -> None: ...


class Answers(ObjectSendStream[SessionMessage]):
    """The SDK's way to the client, without its answer to the opening that the front has answered."""

    # The SDK's own stream, as soon as it is there.
    stream: Sending

    def __init__(self, handover: Handover) -> None:
        self.answered = json.loads(handover.opening)["id"] if handover.opening else None
        self.repeated = anyio.Event()
        self.unread = 0
        self.taken = anyio.Event()

    async def send(self, item: SessionMessage) -> None:
        if self._is_repetition(item.message):
            self.repeated.set()
            return
        self.unread += 1
        try:
            await self.stream.send(item)
        finally:
            self.unread -= 1
            self.taken.set()

    async def wait_for_reader(self) -> None:
        while self.unread > MOST_UNREAD:
            self.taken = anyio.Event()
            await self.taken.wait()

    def _is_repetition(self, message: types.JSONRPCMessage) -> bool:
        if self.answered is None or self.repeated.is_set():
            return False
        return isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id == self.answered

    async def aclose(self) -> None:
        await self.stream.aclose()


async def _call(
    name: str,
    arguments: dict[str, Any],
    config: Config,
    context: Context,
    turns: Calls,
    spare: Spare,
    entry: Entry,
) -> types.CallToolResult:
    tool = BY_NAME.get(name)
    if tool is None:
        known = " or ".join(BY_NAME)
        raise InvalidParams([Fault("name", f"there is no such tool; call {known}", "unknown_tool", name)])
    request = tool.accept(arguments, config.bounds)
    notes = Progress()
    async with turns.one(), alongside(notes.report(context)):
        with spare.during_a_call():
            result = await tool.handler(request, config, spare, notes.update)
    entry.answered(result)
    return await in_thread(lambda: _success(result, colour=getattr(request, "color", False)))


def _success(result: Shape, *, colour: bool) -> types.CallToolResult:
    answer = serialize.safe(dump(result), colour=colour)
    return types.CallToolResult(content=[_text(answer)], structured_content=answer)


def _advertised(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=False,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
        # Claude Code keeps tools without this out of sight until they are searched for.
        _meta={"anthropic/alwaysLoad": True},
    )


def _failure(error: CallError, config: Config) -> types.CallToolResult:
    answer = serialize.of_error(error, config.max_reply_bytes)
    if config.errors == "result":
        # Without structuredContent: the TypeScript SDK would hold it against the output schema.
        return types.CallToolResult(content=[_text(answer)], is_error=True)
    raise MCPError(**answer) from error


def _text(answer: Any) -> types.TextContent:
    return types.TextContent(type="text", text=serialize.line(answer))


@dataclass
class Progress:
    """Live counts for a client that asked for them: strictly increasing, a few a second."""

    finished: int = 0
    ledger: Ledger | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)

    def update(self, ledger: Ledger) -> None:
        self.ledger = ledger
        if ledger.finished > self.finished:
            self.changed.set()

    async def report(self, context: Context) -> None:
        while True:
            await self.changed.wait()
            self.changed = anyio.Event()
            if self.ledger is not None and self.ledger.finished > self.finished:
                self.finished = self.ledger.finished
                await context.session.report_progress(self.finished, self.ledger.selected, progress.words(self.ledger))
            await anyio.sleep(PROGRESS_SECONDS)
