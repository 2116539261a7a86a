"""The only module that speaks MCP as a server: rows become tools, answers and errors become replies.

What a call does is decided in `tools` and below. Every string that leaves goes through `serialize`.
"""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

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

from pytest_mcp import __version__, engine
from pytest_mcp.api import advice
from pytest_mcp.api.errors import INVALID_PARAMS, CallError, Fault, InternalError, InvalidParams, NotInitialized
from pytest_mcp.api.requests import Arguments
from pytest_mcp.api.results import Shape
from pytest_mcp.config.model import Config
from pytest_mcp.process import additions
from pytest_mcp.process.background import alongside, in_thread
from pytest_mcp.process.spare import Spare
from pytest_mcp.python import interpreter
from pytest_mcp.report import error_data, serialize
from pytest_mcp.report.report import Report
from pytest_mcp.run.run import Project
from pytest_mcp.server import apps_page, incoming, stdio, telemetry, turns
from pytest_mcp.server.apps_page import View
from pytest_mcp.server.fast_start import APPS, Handover
from pytest_mcp.server.logs import FIELDS
from pytest_mcp.server.progress import Progress
from pytest_mcp.server.stdio import Outlet
from pytest_mcp.server.tasks import EXTENSION, Tasks, is_announced
from pytest_mcp.server.telemetry import CallRecord, Observer
from pytest_mcp.server.turns import CallSlots
from pytest_mcp.tools import INSTRUCTIONS, Tool, dump, named, offered, with_notices

# The SDK answers the first request within milliseconds. If it does not, read stdin anyway.
REPEAT_SECONDS = 10
# Unread answers at which the server stops reading requests: the SDK keeps a task for each of them.
MAX_UNREAD = 1_000
# Logged for a tool that does not exist, instead of the caller's word, and for a client without a name.
UNKNOWN = "unknown"

Context = ServerRequestContext[Any, Any]
logger = logging.getLogger(__name__)


def create(config: Config, calls: CallSlots | None = None, observer: Observer | None = None) -> Server[Any]:
    """A server with all tools, for any transport. `calls` lets the caller end all calls that are running."""
    spare = Spare(wanted=config.spare, fingerprint=interpreter.state)
    tasks = None if config.task_after is None else Tasks(after=config.task_after, longest=config.max_timeout)
    handler = ToolCalls(config, calls or CallSlots(at_once=config.max_runs), spare, View(config), tasks, observer)
    server = Server(
        "pytest-mcp",
        version=__version__,
        title="pytest",
        instructions=INSTRUCTIONS,
        lifespan=handler.lifespan,
        on_list_tools=handler.list_tools,
    )
    server.add_request_handler("tools/call", types.CallToolRequestParams, handler.call)
    server.middleware.append(handler.explained)
    if handler.page.is_possible:
        _add_page(server, handler.page)
    if tasks is not None:
        tasks.add_to(server)
        server.middleware.append(_without_tasks_in_handshakes)
    return server


async def _without_tasks_in_handshakes(ctx: Context, call_next: CallNext) -> HandlerResult:
    """After a handshake a client has no tasks: the protocol of its era cannot deliver them."""
    result = await call_next(ctx)
    return apps_page.without_extension(result, EXTENSION) if ctx.method == "initialize" else result


def _add_page(server: Server[Any], page: View) -> None:
    """Serve the page as a resource, and hide that from clients that do not get it."""

    async def list_resources(_context: Context, _params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate({"resources": [apps_page.resource()]})

    async def read_resource(_context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        if params.uri != apps_page.URI:
            unknown = Fault("uri", f"there is no such resource; read {apps_page.URI}", "unknown_resource", params.uri)
            raise MCPError(**serialize.of_error(InvalidParams([unknown])))
        return types.ReadResourceResult.model_validate({"contents": [apps_page.contents()]})

    async def hidden(ctx: Context, call_next: CallNext) -> HandlerResult:
        if page.is_offered_to(ctx):
            return await call_next(ctx)
        if ctx.method in apps_page.METHODS:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", data=ctx.method)
        result = await call_next(ctx)
        return apps_page.without_page(result) if ctx.method in ("initialize", "server/discover") else result

    server.add_request_handler("resources/list", types.PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    server.extensions[APPS] = {}
    server.middleware.append(hidden)


def _fault_of_params(details: ErrorDetails) -> Fault:
    field = ".".join(str(part) for part in details["loc"]).removeprefix("params.")
    # For a missing member the input is the object around it; around `params` that is a message made up by the SDK.
    received = None if details["type"] == "missing" else details["input"]
    return Fault(field, details["msg"], details["type"], received)


async def serve_stdio(config: Config, handover: Handover) -> None:
    """Continue after `fast_start`: the SDK gets every message, but its answer to an answered one is dropped."""
    server = create(config)
    answers = Answers(handover)
    with stdio.outlet() as outlet:
        # The SDK only iterates over stdin and writes to stdout. Its own streams would block threads.
        streams = cast("Any", {"stdin": heard(handover, answers, outlet), "stdout": outlet})
        async with stdio_server(**streams) as (reader, answers.stream):
            await server.run(reader, answers, server.create_initialization_options())


async def heard(handover: Handover, answers: "Answers", outlet: Outlet) -> AsyncIterator[bytes]:
    """Yield the messages that the SDK can handle; answer the others with an error."""
    if handover.opening:
        yield handover.opening
        # Wait for the SDK's answer to it. A cancel that came first would suppress the answer that must be dropped.
        with anyio.move_on_after(REPEAT_SECONDS):
            await answers.repeated.wait()
    async for line in stdio.lines(outlet.source, handover.rest):
        await answers.wait_for_reader()
        if not line.strip():
            continue
        try:
            message = incoming.admitted(line)
        except incoming.BadMessage as refusal:
            logger.info("refused", extra={FIELDS: {"reason": str(refusal)}})
            await outlet.write(serialize.line(refusal.reply) + "\n")
        else:
            yield message
    outlet.source_ended = True


class Answers(ObjectSendStream[SessionMessage]):
    """The SDK's stream to the client, without its answer to the request that `fast_start` has answered."""

    # The SDK's own, set as soon as that has opened it.
    stream: Any

    def __init__(self, handover: Handover) -> None:
        self.answered = json.loads(handover.opening)["id"] if handover.opening else None
        self.repeated = anyio.Event()
        self.unread = 0
        self.taken = anyio.Event()

    async def send(self, item: SessionMessage) -> None:
        answer = item.message if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError) else None
        if answer and answer.id == self.answered is not None and not self.repeated.is_set():
            self.repeated.set()
            return
        self.unread += 1
        try:
            await self.stream.send(item)
        finally:
            self.unread -= 1
            self.taken.set()

    async def wait_for_reader(self) -> None:
        while self.unread > MAX_UNREAD:
            self.taken = anyio.Event()
            await self.taken.wait()

    async def aclose(self) -> None:
        await self.stream.aclose()


@dataclass(frozen=True)
class ToolCalls:
    """Answers `tools/call`, with what all calls share."""

    config: Config
    turns: CallSlots
    spare: Spare
    page: View
    tasks: Tasks | None = None
    observer: Observer | None = None

    @cached_property
    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in offered(self.config)}

    @cached_property
    def advertised(self) -> list[types.Tool]:
        """Once: making the schemas takes longer than all else in a request, and every client asks for them."""
        return [_advertised(tool) for tool in self.tools.values()]

    @asynccontextmanager
    async def lifespan(self, _server: Server[Any]) -> AsyncIterator[None]:
        try:
            async with self.spare.kept(), nullcontext() if self.tasks is None else self.tasks.running():
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await engine.finish_recording(self.config)

    async def list_tools(self, context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        has_page = self.page.is_offered_to(context)
        return types.ListToolsResult(tools=[*map(_with_page, self.advertised)] if has_page else self.advertised)

    async def explained(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Give the SDK's own errors, which say nothing but the code, the message and data of ours."""
        try:
            return await call_next(ctx)
        except ValidationError as error:
            faults = [_fault_of_params(details) for details in error.errors(include_url=False)]
            raise MCPError(**serialize.of_error(InvalidParams(faults), self.config.max_reply_bytes)) from error
        except MCPError as error:
            # Our own errors have data. The SDK's one error with this code and no data means: not initialized.
            if error.code != INVALID_PARAMS or error.data:
                raise
            raise MCPError(**serialize.of_error(NotInitialized(ctx.method))) from error

    async def call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | dict[str, Any]:
        tool = self.tools.get(params.name)
        if self.tasks is None or tool is None or not tool.runs_tests or not is_announced(context):
            return await self._called(Asked(context, self.config, Progress()), params)
        asked = Asked(context, self.config._replace(default_timeout=self.config.task_timeout), Progress())
        return await self.tasks.answer(partial(self._called, asked, params), asked.progress)

    async def _called(self, asked: "Asked", params: types.CallToolRequestParams) -> types.CallToolResult:
        request: Arguments | None = None
        name = params.name if params.name in self.tools else UNKNOWN
        with telemetry.entry(name, _client(asked.context), self.observer) as entry:
            try:
                tool = named(params.name, self.tools)
                request = tool.accept(params.arguments or {}, self.config.bounds)
                return await self._answer(tool, request, asked, entry)
            except CallError as error:
                entry.failed(error)
                return _failure(error, self.config, request)
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:  # a bug of ours fails one call, not the server
                logger.exception("bug while answering a call")
                entry.failed(bug := InternalError(error))
                return _failure(bug, self.config)

    async def _answer(self, tool: Tool, request: Arguments, asked: "Asked", entry: CallRecord) -> types.CallToolResult:
        project = Project(asked.config, self.spare, additions.sparing("progress", asked.progress.update))
        waiting = turns.PlaceInQueue(project.on_progress)
        with additions.collected() as left_out:
            async with (
                alongside(asked.progress.report(asked.context.session)),
                self.turns.one(waiting.tell),
                turns.turn_of(tool, request, project, waiting.tell) as turn,
            ):
                with self.spare.during_a_call():
                    known = await tool.handler(request, turn.project)
            entry.known(known)
            result = await in_thread(partial(tool.answer, known, request, self.config))
            page: dict[str, Any] = {}
            if isinstance(known, Report) and self.page.is_offered_to(asked.context):
                made = in_thread(partial(self.page.made_of, known, result))
                page = await additions.awaited("page", made, instead={})
        entry.answered(result)
        noticed = with_notices(result, [*turn.notices, *left_out.notices])
        answer = await in_thread(lambda: _success(noticed, colour=getattr(request, "color", False)))
        answer.meta = page or advice.meta(getattr(noticed, "next_step", None)) or None
        return answer


@dataclass(frozen=True)
class Asked:
    """A call's context, and the settings that hold for its client."""

    context: Context
    config: Config
    progress: Progress


def _client(context: Context) -> str:
    """What the client calls itself. In the older protocol on HTTP, a call carries no name but the User-Agent."""
    if params := context.session.client_params:
        return f"{params.client_info.name} {params.client_info.version}"
    headers: Mapping[str, str] = getattr(context.request, "headers", {})
    return headers.get("user-agent", UNKNOWN)


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
            read_only_hint=tool.only_reads,
            destructive_hint=tool.runs_tests,
            idempotent_hint=not tool.runs_tests,
            open_world_hint=tool.runs_tests,
        ),
        # Claude Code hides tools without this until the model searches for them.
        _meta={"anthropic/alwaysLoad": True},
    )


def _with_page(tool: types.Tool) -> types.Tool:
    return tool.model_copy(update={"meta": {**(tool.meta or {}), **apps_page.tool_meta(tool.name)}})


def _failure(error: CallError, config: Config, request: Arguments | None = None) -> types.CallToolResult:
    answer = serialize.of_error(error, config.max_reply_bytes, error_data.sent_data(error, request))
    if config.errors == "result":
        # Without structuredContent: the TypeScript SDK would validate it against the output schema.
        return types.CallToolResult(content=[_text(answer)], is_error=True)
    raise MCPError(**answer) from error


def _text(answer: Any) -> types.TextContent:
    return types.TextContent(type="text", text=serialize.line(answer))
