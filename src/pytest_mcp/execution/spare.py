"""At most one child that was started ahead of its job, so that the next call need not wait for a start.

It is used once. It is begun when a call has been answered and no other one runs, with what that call's
child was started with, and ended with the server. Whether it is still as good as a fresh one is decided
by the child itself, at the last moment.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from pytest_mcp.execution import process, supervision
from pytest_mcp.execution.background import alongside
from pytest_mcp.execution.command import Launch
from pytest_mcp.execution.supervision import SpawnError, Started

# When a call is over its answer is still on its way out; the spare begins behind it.
SETTLE_SECONDS = 0.05

# What the environment of a Python is like at this moment, to be compared with another moment.
Fingerprint = Callable[[Path], object]

logger = logging.getLogger(__name__)


class Spare:
    def __init__(self, *, wanted: bool, fingerprint: Fingerprint) -> None:
        self.wanted = wanted
        self.fingerprint = fingerprint
        self.started: Started | None = None
        self.launch: Launch | None = None
        self.environment: object = None
        self.calls = 0
        self.quiet = anyio.Event()
        # A call that comes while the spare is being started waits for it: it is further on than a new one.
        self.changing = anyio.Lock()

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """While this lasts there is a spare whenever it can help; afterwards there is none."""
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

    async def take(self, launch: Launch) -> Started | None:
        """The spare, if there is one of this kind. Whoever takes it ends it."""
        async with self.changing:
            if not self._is_as_good_as_a_new_one(launch):
                await self._drop()
            taken, self.started = self.started, None
            return taken

    def _is_as_good_as_a_new_one(self, launch: Launch) -> bool:
        """As far as can be seen from here. What changes while it starts the child itself cannot know of."""
        if self.started is None or not self.started.is_alive or self.started.launch != launch:
            return False
        return self.environment == self.fingerprint(Path(launch.argv[0]))

    def prefer(self, launch: Launch) -> None:
        """What the next spare is to be started with: the last thing that worked."""
        self.launch = launch

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
        self.environment = self.fingerprint(Path(self.launch.argv[0]))
        try:
            self.started = await process.start_ahead(self.launch)
        except SpawnError as error:
            # The next call meets the same trouble, and tells its caller.
            logger.warning("no child could be started ahead: %s", error)

    async def _drop(self) -> None:
        dropped, self.started = self.started, None
        if dropped is not None:
            with anyio.CancelScope(shield=True):
                await supervision.end(dropped)
