"""Calls that outlive their request: the client gets a task, polls its state and at the end finds the answer there.

Only clients that announce the extension get tasks, and only for calls that are not answered soon. A task is kept in
the memory of this process, while its call runs and for a limited time after that; nothing else refers to it.
The extension: https://github.com/modelcontextprotocol/ext-tasks
"""

import json
import logging
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

from pytest_mcp.api.errors import Fault, InternalError, InvalidParams
from pytest_mcp.report import serialize
from pytest_mcp.server.fast_start import extensions_in
from pytest_mcp.server.progress import Progress, words
from pytest_mcp.server.turns import shutting_down

EXTENSION = "io.modelcontextprotocol/tasks"
POLL_SECONDS = 1
# How long the answer of a finished call can be fetched, if there is room for it.
KEPT_SECONDS = 600
# The most that finished calls may take in memory; the oldest is forgotten first.
MAX_KEPT_BYTES = 64 * 1024**2
# Beyond so many calls that run or wait, a client waits for its answer.
MAX_UNFINISHED = 1_000

Json = dict[str, Any]
Work = Callable[[], Awaitable[types.CallToolResult]]

logger = logging.getLogger(__name__)


class TaskParams(types.RequestParams):
    task_id: str = Field(alias="taskId", max_length=256)


class TaskUpdateParams(TaskParams):
    input_responses: Json = Field(alias="inputResponses", default={})


def is_announced(context: Any) -> bool:
    """Whether the client of this request (the SDK's context) has tasks. Every request says so anew."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in extensions_in(context.params)


@dataclass
class TaskCall:
    """A call whose answer a client fetches when it wants. Of one that has ended, only what is sent is kept."""

    progress: Progress
    # For how long, from its creation, a client can count on it.
    lifetime: timedelta
    # Whoever knows it may read and cancel the call, so it cannot be guessed.
    identity: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)
    ended_at: datetime | None = None
    # Of a call that is waited for; None: it runs, or it was cancelled.
    outcome: types.CallToolResult | MCPError | None = None
    # How the task has ended, as JSON: objects would take many times as much memory.
    ending: bytes = b""

    async def run(self, work: Work) -> None:
        try:
            with self.scope:
                self.outcome = await work()
        except MCPError as error:
            self.outcome = error
        except Exception as error:  # a bug of ours fails one call, not the server
            logger.exception("bug while answering a call")
            self.outcome = MCPError(**serialize.of_error(InternalError(error)))
        finally:
            if self.progress.is_polled:
                ending = json.dumps(_ending(self.outcome), ensure_ascii=False)
                self.ending, self.outcome = ending.encode("utf-8", "surrogatepass"), None
            self.progress.latest = None
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
    def expiry(self) -> datetime:
        """Until then it is kept. A call that has waited for long can run for longer than was expected."""
        least = (self.ended_at or datetime.now(UTC)) + timedelta(seconds=KEPT_SECONDS)
        return max(self.created + self.lifetime, least)

    def state(self) -> Json:
        latest = self.progress.latest
        updated = self.ended_at or self.progress.updated or self.created
        common = {
            "taskId": self.identity,
            "createdAt": _written(self.created),
            "lastUpdatedAt": _written(updated),
            "ttlMs": (self.expiry - self.created) // timedelta(milliseconds=1),
            "pollIntervalMs": POLL_SECONDS * 1000,
        }
        if not self.ended.is_set():
            return common | {
                "status": "working",
                "statusMessage": "waiting to start" if latest is None else words(latest),
            }
        ending: Json = json.loads(self.ending)
        return common | ending


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
        self.calls: dict[str, TaskCall] = {}
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
        call = TaskCall(progress, self.lifetime)
        self.group.start_soon(call.run, work)
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

    def _call(self, context: Any, params: TaskParams) -> TaskCall:
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", data=context.method)
        if not is_announced(context):
            needed: Json = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"{context.method} needs {EXTENSION}", data=needed)
        self._forget()
        if params.task_id not in self.calls:
            minutes = KEPT_SECONDS // 60
            why = f"names no task of this server process, which keeps a task for up to {minutes} minutes after its end"
            raise MCPError(**serialize.of_error(InvalidParams([Fault("taskId", why, "unknown_task", params.task_id)])))
        return self.calls[params.task_id]

    def _forget(self) -> None:
        """Drop finished calls whose time is over, and the oldest while they take too much memory."""
        now = datetime.now(UTC)
        newer = 0
        for call in sorted(self.calls.values(), key=lambda call: call.ended_at or now, reverse=True):
            if call.ended_at is not None and (newer >= self.kept_bytes or call.expiry < now):
                del self.calls[call.identity]
            newer += len(call.ending)


def _ending(outcome: types.CallToolResult | MCPError | None) -> Json:
    match outcome:
        case None:
            return {"status": "cancelled"}
        case MCPError() as failure:
            error = failure.error.model_dump(mode="json", by_alias=True, exclude_none=True)
            return {"status": "failed", "statusMessage": failure.error.message.partition("\n")[0], "error": error}
        case result:
            answer = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            return {"status": "completed", "result": answer}


def _written(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
