"""How many calls of a server run at once, in which order, and how all of them are ended.

A call that waits or runs when the server stops is answered with an error: without one, a client of the older protocol
would wait forever.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from pytest_mcp.api.errors import ExecutionFailed, RunFacts


class Calls:
    def __init__(self, *, at_once: int) -> None:
        self.at_once = at_once
        # In the order in which they came: the first of them run, the others wait.
        self.scopes: list[anyio.CancelScope] = []
        self.moved = anyio.Event()
        self.ended = False

    @property
    def waiting(self) -> int:
        return max(0, len(self.scopes) - self.at_once)

    @asynccontextmanager
    async def one(self, tell: Callable[[int], None]) -> AsyncIterator[None]:
        """Wait for a turn, first come first served, and keep it during the block.

        `tell` gets how many calls are before this one, while it waits.
        """
        with anyio.CancelScope() as scope:
            self.scopes.append(scope)
            if self.ended:
                scope.cancel()
            try:
                await anyio.lowlevel.checkpoint()
                while (ahead := self.scopes.index(scope) - self.at_once) >= 0:
                    tell(ahead)
                    await self.moved.wait()
                yield
            finally:
                self.scopes.remove(scope)
                self.moved.set()
                self.moved = anyio.Event()
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
