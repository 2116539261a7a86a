"""The server on HTTP: `app` decides what is answered, as on stdio, and `http_guard` who may ask.

It keeps no state between requests, so any of several servers can answer any request. On a signal it shuts down in
order: runs are ended and answered, then connections are closed.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from pytest_mcp.config.endpoint import Endpoint
from pytest_mcp.config.model import Config
from pytest_mcp.process.background import alongside
from pytest_mcp.server.app import create
from pytest_mcp.server.http_guard import MAX_BODY, MAX_HEADERS, PATH, Guard
from pytest_mcp.server.logs import FIELDS
from pytest_mcp.server.turns import CallSlots

# How often a connection is checked: it must have a request that is being answered, or have brought one since.
CHECK_SECONDS = 20
# So many bytes of a waiting answer must have been read since. What the system buffers counts as read.
LEAST_TAKEN = 2**19
# A fraction of the descriptors that a process may open: runs need some too.
MAX_CONNECTIONS = 256

# After a signal, runs may finish for so long; then they are ended.
PARTING_SECONDS = 2
# For ending them and for clients to read the answers; then their connections are cut.
ENDING_SECONDS = 5
# uvicorn's own limit for the shutdown, which should never be reached.
LAST_SECONDS = PARTING_SECONDS + ENDING_SECONDS + 3

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"

logger = logging.getLogger(__name__)


async def serve(config: Config, endpoint: Endpoint, listener: socket.socket) -> None:
    """Answer until a signal says stop; then end every run and return."""
    for warning in endpoint.warnings:
        logger.warning(warning)
    calls = CallSlots(at_once=config.max_runs)
    settings = uvicorn.Config(
        application(config, endpoint, calls),
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=CHECK_SECONDS,
        timeout_graceful_shutdown=LAST_SECONDS,
        h11_max_incomplete_event_size=MAX_HEADERS,
    )
    await HttpServer(settings, calls).serve(sockets=[listener])


def application(config: Config, endpoint: Endpoint, calls: CallSlots) -> ASGIApp:
    metrics = None
    if endpoint.metrics:
        # Needs the library of an extra.
        from pytest_mcp.server.metrics import Metrics  # noqa: PLC0415

        metrics = Metrics(calls)
    app = create(config, calls, metrics.count if metrics else None).streamable_http_app(
        streamable_http_path=PATH,
        # Without sessions any replica can answer. With SSE progress arrives, and a client that leaves is noticed.
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        # `Guard` checks Host and Origin, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, endpoint, metrics.respond if metrics else None)


class HttpServer(uvicorn.Server):
    """uvicorn's server, which lets runs finish or answers them when it is told to stop."""

    def __init__(self, settings: uvicorn.Config, calls: CallSlots) -> None:
        super().__init__(settings)
        self.calls = calls

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Not uvicorn's handlers: with them the SDK's streams notice the signal and stop at once.
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, loop, number)
        yield

    def _stop(self, loop: asyncio.AbstractEventLoop, received: signal.Signals) -> None:
        self.should_exit = True
        logger.info("stopping", extra={FIELDS: {"signal": received.name, "calls": len(self.calls.scopes)}})
        for number in (signal.SIGINT, signal.SIGTERM):
            # A second signal ends the server at once; the supervisors then end the runs.
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        async with alongside(self._part()):
            await super().shutdown(sockets)

    async def _part(self) -> None:
        await anyio.sleep(PARTING_SECONDS)
        self.calls.end()
        await anyio.sleep(ENDING_SECONDS)
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class Connection(H11Protocol):
    """uvicorn's, with timeouts: it waits forever for the rest of a header, and for a client to read its answer."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
        else:
            self.loop.call_later(CHECK_SECONDS, self._check, None, 0)

    def _check(self, before: object, unread: int) -> None:
        """`before` is the request that was there the last time, and `unread` what its answer was waiting with."""
        left = self.transport.get_write_buffer_size() if self.flow.write_paused else 0
        is_idle = self.cycle is None or self.cycle.response_complete
        if self.cycle is before and is_idle and not left:
            self.transport.close()
        elif self.cycle is before and unread and left > unread - LEAST_TAKEN:
            self.transport.abort()
        if not self.transport.is_closing():
            self.loop.call_later(CHECK_SECONDS, self._check, self.cycle, left)
