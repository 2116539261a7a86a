"""Calls that outlive their request: the client gets a task, polls its state and at the end finds the answer there.

Only clients that announce the extension get tasks, and only for calls that are not answered soon. A task is kept in
the memory of this process, while its call runs and for a limited time after that; nothing else refers to it.
The extension: https://github.com/modelcontextprotocol/ext-tasks
"""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp import MCPError
from mcp.server import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.report import serialize
from pytest_mcp.server.concurrency import shutting_down
from pytest_mcp.server.fast_start import extensions_in
from pytest_mcp.server.progress import Progress, words

EXTENSION = "io.modelcontextprotocol/tasks"
POLL_SECONDS = 1
# How long the answer of a finished call can be fetched.
KEPT_SECONDS = 600
# The most that finished calls may take in memory; the oldest is forgotten first.
MAX_KEPT_BYTES = 64 * 1024**2
# Beyond so many calls that run or wait, a client waits for its answer.
MAX_UNFINISHED = 1_000

Json = dict[str, Any]
Work = Callable[[], Awaitable[types.CallToolResult]]


class TaskParams(types.RequestParams):
    task_id: str = Field(alias="taskId", max_length=256)


class TaskUpdateParams(TaskParams):
    input_responses: Json = Field(alias="inputResponses", default={})


def is_announced(context: Any) -> bool:
    """Whether the client of this request (the SDK's context) has tasks. Every request says so anew."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in extensions_in(context.params)


@dataclass
class Call:
    """A call whose answer a client fetches when it wants."""

    work: Work
    progress: Progress
    # For how long, from its creation, a client can count on it.
    lifetime: timedelta
    # Whoever knows it may read and cancel the call, so it cannot be guessed.
    identity: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)
    ended_at: datetime | None = None
    # None: it runs, or it was cancelled.
    outcome: types.CallToolResult | MCPError | None = None

    async def run(self) -> None:
        try:
            with self.scope:
                self.outcome = await self.work()
        except MCPError as error:
            self.outcome = error
        finally:
            self.ended_at = datetime.now(UTC)
            self.ended.set()

    def answer(self) -> types.CallToolResult:
        match self.outcome:
            case None:
                raise MCPError(**serialize.of_error(shutting_down()))
            case MCPError() as error:
                raise error
            case result:
                return result

    @property
    def bytes_kept(self) -> int:
        """About as many as the text of the answer has, twice: it is there as an object too."""
        blocks = self.outcome.content if isinstance(self.outcome, types.CallToolResult) else []
        return sum(2 * len(block.text) for block in blocks if isinstance(block, types.TextContent))

    def state(self) -> Json:
        latest = self.progress.latest
        updated = self.ended_at or self.progress.updated or self.created
        common = {
            "taskId": self.identity,
            "createdAt": _written(self.created),
            "lastUpdatedAt": _written(updated),
            "ttlMs": self.lifetime // timedelta(milliseconds=1),
            "pollIntervalMs": POLL_SECONDS * 1000,
        }
        if not self.ended.is_set():
            return common | {
                "status": "working",
                "statusMessage": "waiting to start" if latest is None else words(latest),
            }
        match self.outcome:
            case None:
                return common | {"status": "cancelled"}
            case MCPError() as failure:
                error = failure.error.model_dump(mode="json", by_alias=True, exclude_none=True)
                return common | {"status": "failed", "statusMessage": _first_line(failure), "error": error}
            case result:
                answer = result.model_dump(mode="json", by_alias=True, exclude_none=True)
                return common | {"status": "completed", "result": answer}


class Tasks:
    """`after` seconds a client waits for an answer; `longest` is how long a call can take."""

    def __init__(
        self,
        *,
        after: float,
        longest: float,
        kept_bytes: int = MAX_KEPT_BYTES,
        max_unfinished: int = MAX_UNFINISHED,
    ) -> None:
        self.after = after
        self.lifetime = timedelta(seconds=longest + KEPT_SECONDS)
        self.kept_bytes = kept_bytes
        self.max_unfinished = max_unfinished
        self.calls: dict[str, Call] = {}
        self.group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """At the end of the block every call ends."""
        async with anyio.create_task_group() as self.group:
            try:
                yield
            finally:
                self.group.cancel_scope.cancel()

    async def answer(self, work: Work, progress: Progress) -> types.CallToolResult | Json:
        """The answer, if it comes soon, else a task. Who leaves before that has cancelled the call."""
        self._forget()
        if self.group is None or sum(not call.ended.is_set() for call in self.calls.values()) >= self.max_unfinished:
            return await work()
        call = Call(work, progress, self.lifetime)
        self.group.start_soon(call.run)
        try:
            with anyio.move_on_after(self.after):
                await call.ended.wait()
        except anyio.get_cancelled_exc_class():
            call.scope.cancel()
            raise
        if call.ended.is_set():
            return call.answer()
        progress.is_polled = True
        self.calls[call.identity] = call
        return {"resultType": "task", **call.state()}

    def add_to(self, server: Server[Any]) -> None:
        """Serve the methods of the extension."""

        async def get(context: Any, params: TaskParams) -> Json:
            return self._call(context, params).state()

        async def cancel(context: Any, params: TaskParams) -> Json:
            self._call(context, params).scope.cancel()
            return {}

        async def update(context: Any, params: TaskUpdateParams) -> Json:
            """No call asks its client anything, so there is nothing that this could answer."""
            self._call(context, params)
            return {}

        server.extensions[EXTENSION] = {}
        server.add_request_handler("tasks/get", TaskParams, get)
        server.add_request_handler("tasks/cancel", TaskParams, cancel)
        server.add_request_handler("tasks/update", TaskUpdateParams, update)

    def _call(self, context: Any, params: TaskParams) -> Call:
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", data=context.method)
        if not is_announced(context):
            needed: Json = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"{context.method} needs {EXTENSION}", data=needed)
        self._forget()
        if params.task_id not in self.calls:
            minutes = KEPT_SECONDS // 60
            why = f"names no task of this server process, which keeps a task for {minutes} minutes after its end"
            raise MCPError(**serialize.of_error(InvalidParams([Fault("taskId", why, "unknown_task", params.task_id)])))
        return self.calls[params.task_id]

    def _forget(self) -> None:
        """Drop finished calls whose time is over, and the oldest while they take too much memory."""
        oldest = datetime.now(UTC) - timedelta(seconds=KEPT_SECONDS)
        finished = [call for call in self.calls.values() if call.ended_at is not None]
        left = sum(call.bytes_kept for call in finished)
        for call in sorted(finished, key=lambda call: call.ended_at or oldest):
            assert call.ended_at is not None
            if left <= self.kept_bytes and call.ended_at >= oldest:
                break
            left -= call.bytes_kept
            del self.calls[call.identity]


def _first_line(error: MCPError) -> str:
    return error.error.message.partition("\n")[0]


def _written(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
