"""The spare: at most one child that was started ahead of its job, so that the next call need not wait for a start.

It is used once. It is started when a call has been answered and no other call runs, with the launch of that call's
child, and it ends with the server. The child itself decides, when its job comes, whether it is still valid.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from pytest_mcp.process import process
from pytest_mcp.process.background import alongside
from pytest_mcp.process.job import Launch, SpawnError
from pytest_mcp.process.start import Waiting

# The answer of a call is still being sent when the call is over; the spare starts after it.
SETTLE_SECONDS = 0.05

# The state of a Python's environment now, to compare it with its state at another time.
Fingerprint = Callable[[Path], object]

logger = logging.getLogger(__name__)


class Spare:
    """A command's is its first child, `started` before the event loop: then no other is `wanted`."""

    def __init__(self, *, wanted: bool, fingerprint: Fingerprint, started: Waiting | None = None) -> None:
        self.wanted = wanted
        self.fingerprint = fingerprint
        self.started = started
        # That of a run that has worked: the next spare is started with it.
        self.launch: Launch | None = None
        self.calls = 0
        self.quiet = anyio.Event()
        # A call that comes while the spare is being started waits for it: that is faster than a new start.
        self.changing = anyio.Lock()

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Keep a spare ready during this block; end it afterwards."""
        try:
            async with alongside(self._keep()):
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._drop()

    @contextmanager
    def during_a_call(self) -> Iterator[None]:
        self.calls += 1
        try:
            yield
        finally:
            self.calls -= 1
            if not self.calls:
                self.quiet.set()

    async def take(self, launch: Launch) -> Waiting | None:
        """The spare, if there is a valid one for this launch. Whoever takes it must end it."""
        async with self.changing:
            if not self._is_valid_for(launch):
                await self._drop()
            taken, self.started = self.started, None
            return taken

    def _is_valid_for(self, launch: Launch) -> bool:
        """As far as the server can see. The child cannot know what changed while it was being started."""
        if self.started is None or not self.started.is_alive or self.started.launch != launch:
            return False
        return self.started.environment == self.fingerprint(Path(launch.argv[0]))

    async def _keep(self) -> None:
        while self.wanted:
            await self.quiet.wait()
            self.quiet = anyio.Event()
            await anyio.sleep(SETTLE_SECONDS)
            async with self.changing:
                await self._start_if_quiet()

    async def _start_if_quiet(self) -> None:
        if self.calls or self.started is not None or self.launch is None:
            return
        environment = self.fingerprint(Path(self.launch.argv[0]))
        try:
            self.started = await process.start_ahead(self.launch, environment)
        except SpawnError as error:
            # The next call fails in the same way and reports it.
            logger.warning("no child could be started ahead: %s", error)

    async def _drop(self) -> None:
        dropped, self.started = self.started, None
        if dropped is not None:
            await process.end(dropped)
