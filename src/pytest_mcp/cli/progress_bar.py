"""One line on a terminal that tells how far a run has come, drawn again a few times a second and erased in the end.

In comes the ledger, whenever something has happened; out goes the line of `progress_line`. On anything but a
terminal it only keeps the ledger.
"""

import sys
import time

import anyio

from pytest_mcp.cli import progress_line, terminal
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.events.ledger import Ledger

# Often enough to be alive, seldom enough to cost nothing. A run that takes less shows none.
REDRAW_SECONDS = 0.2
_BACK = "\r\x1b[K"


class Meter:
    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.began = time.monotonic()
        self.ledger = Ledger()
        self.is_drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def update(self, ledger: Ledger) -> None:
        self.ledger = ledger

    async def keep_drawn(self) -> None:
        try:
            while self.screen.is_live:
                await anyio.sleep(REDRAW_SECONDS)
                self._draw()
        finally:
            self.erase()

    def stop(self) -> None:
        self.screen = self.screen._replace(is_live=False)
        self.erase()

    def erase(self) -> None:
        if self.is_drawn:
            self._write(_BACK)
        self.is_drawn = False

    def _draw(self) -> None:
        if self.screen.is_live and terminal.is_in_front(sys.stderr):
            width = terminal.width(sys.stderr)
            self._write(_BACK + progress_line.line(self.ledger, self.seconds, width=width, pen=self.screen.err))
            self.is_drawn = True

    def _write(self, line: str) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()
