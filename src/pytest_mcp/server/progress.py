"""Progress notifications for a client that asked for them: increasing counts, a few per second."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from pytest_mcp import text
from pytest_mcp.process import additions
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Steps

# Between two notifications: a client shows them to a person.
PAUSE_SECONDS = 0.3


@dataclass
class Progress:
    finished: float = 0
    latest: Ledger | Steps | None = None
    updated: datetime | None = None
    # Its request is answered, with a task: from then on the client asks.
    is_polled: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)

    def update(self, latest: Ledger | Steps) -> None:
        self.latest, self.updated = latest, datetime.now(UTC)
        if latest.finished > self.finished:
            self.changed.set()

    async def report(self, session: Any) -> None:
        """`session` is the SDK's."""
        while True:
            await self.changed.wait()
            self.changed = anyio.Event()
            if self.is_polled:
                return
            if self.latest is not None and self.latest.finished > self.finished:
                self.finished = self.latest.finished
                await additions.awaited("progress", self._send(session, self.latest), instead=None)
            await anyio.sleep(PAUSE_SECONDS)

    async def _send(self, session: Any, latest: Ledger | Steps) -> None:
        await session.report_progress(latest.finished, latest.selected, words(latest))


def words(latest: Ledger | Steps) -> str:
    """For example: 123/980 · 2 failed · tests/test_x.py"""
    if isinstance(latest, Steps):
        return text.safe_line(latest.words)
    return text.safe(" · ".join([counts(latest), failed(latest), latest_file(latest)]))


def counts(ledger: Ledger) -> str:
    return f"{ledger.finished}/{ledger.selected or '?'}"


def failed(ledger: Ledger) -> str:
    return f"{ledger.failed} failed"


def latest_file(ledger: Ledger) -> str:
    return next(reversed(ledger.tests), "").partition("::")[0]
