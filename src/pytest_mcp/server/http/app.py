"""The server on HTTP: `server/app.py` decides what is answered, as on stdio, and `guard` who may ask.

In come the config and the endpoint. The server keeps no state between requests, so any of several servers can answer
any request. On a signal it shuts down in order: runs are ended and answered, then connections are closed.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from pytest_mcp.config.endpoint import Endpoint
from pytest_mcp.config.model import Config
from pytest_mcp.process.background import alongside
from pytest_mcp.server.app import create
from pytest_mcp.server.concurrency import Calls
from pytest_mcp.server.http.connection import IDLE_SECONDS, Connection
from pytest_mcp.server.http.guard import LARGEST_BODY, LARGEST_HEADERS, PATH, Guard
from pytest_mcp.server.log_format import FIELDS

if TYPE_CHECKING:
    from pytest_mcp.server.http.metrics import Metrics

# After a signal, runs may finish for so long; then they are ended.
PARTING_SECONDS = 2
# For ending them and for clients to read the answers; then their connections are cut.
ENDING_SECONDS = 5
# uvicorn's own limit for the shutdown, which should never be reached.
LAST_SECONDS = PARTING_SECONDS + ENDING_SECONDS + 3

logger = logging.getLogger(__name__)


async def serve(config: Config, endpoint: Endpoint, listener: socket.socket) -> None:
    """Answer until a signal says stop; then end every run and return."""
    for warning in endpoint.warnings:
        logger.warning(warning)
    calls = Calls(at_once=config.max_runs)
    settings = uvicorn.Config(
        application(config, endpoint, calls),
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=LAST_SECONDS,
        h11_max_incomplete_event_size=LARGEST_HEADERS,
    )
    await Server(settings, calls).serve(sockets=[listener])


def application(config: Config, endpoint: Endpoint, calls: Calls) -> ASGIApp:
    metrics = _metrics(calls) if endpoint.metrics else None
    app = create(config, calls, metrics.count if metrics else None).streamable_http_app(
        streamable_http_path=PATH,
        # Without sessions any replica can answer. With SSE progress arrives, and a client that leaves is noticed.
        stateless_http=True,
        max_request_body_size=LARGEST_BODY,
        # `Guard` checks Host and Origin, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Guard(app, endpoint, metrics.respond if metrics else None)


def _metrics(calls: Calls) -> "Metrics":
    # Needs the library of an extra.
    from pytest_mcp.server.http.metrics import Metrics  # noqa: PLC0415

    return Metrics(calls)


class Server(uvicorn.Server):
    """uvicorn's server, which lets runs finish or answers them when it is told to stop."""

    def __init__(self, settings: uvicorn.Config, calls: Calls) -> None:
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
