"""How many calls of a server run at once, in which order, and how all of them are ended.

A call that waits or runs when the server stops is answered with an error: without one, a client of the older protocol
would wait forever.
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
        """Wait for a slot, first come first served, and hold it during the block."""
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
            raise shutting_down()

    def end(self) -> None:
        """End every call that waits or runs, and every later one as soon as it comes."""
        self.ended = True
        for scope in self.scopes:
            scope.cancel()


def shutting_down() -> ExecutionFailed:
    return ExecutionFailed(
        "interrupted",
        "pytest execution failed: the server is shutting down and stopped this run",
        RunFacts(),
        details=["Call again after it has restarted."],
    )
