"""The calls of one server while they last: how many run at once, in which order, and the end of all of them.

A call that waits or runs when the server stops is answered all the same: a client of the older protocol that
hears nothing would wait for ever. What a call does is none of this module's business.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from pytest_mcp.api.errors import ExecutionFailed, RunFacts


class Calls:
    def __init__(self, *, at_once: int) -> None:
        self.slots = anyio.CapacityLimiter(at_once)
        self.scopes: set[anyio.CancelScope] = set()
        self.ended = False

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a turn, first come first served, and have it while the block lasts."""
        with anyio.CancelScope() as scope:
            self.scopes.add(scope)
            if self.ended:
                scope.cancel()
            try:
                async with self.slots:
                    yield
            finally:
                self.scopes.discard(scope)
        if scope.cancelled_caught:
            raise ExecutionFailed(
                "interrupted",
                "pytest execution failed: the server was told to stop and has ended this run",
                RunFacts(),
                details=["Call again once it is back."],
            )

    def end(self) -> None:
        """Every call that is here, and every one that still comes."""
        self.ended = True
        for scope in self.scopes:
            scope.cancel()
