"""The progress line on a terminal: redrawn a few times a second, erased at the end.

In comes the ledger after every event; out goes the text of `progress_line`. If stderr is not a terminal, only the
ledger is kept.
"""

import sys
import time

import anyio

from pytest_mcp.cli import progress_line, terminal
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.steps import Steps

# A shorter run shows no progress line.
REDRAW_SECONDS = 0.2
_ERASE_LINE = "\r\x1b[K"


class ProgressBar:
    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.started = time.monotonic()
        self.ledger: Ledger | Steps = Ledger()
        self.is_drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def update(self, ledger: Ledger | Steps) -> None:
        self.ledger = ledger

    async def keep_drawn(self) -> None:
        try:
            while self.screen.can_redraw:
                await anyio.sleep(REDRAW_SECONDS)
                self._draw()
        finally:
            self.erase()

    def stop(self) -> None:
        self.screen = self.screen._replace(can_redraw=False)
        self.erase()

    def erase(self) -> None:
        if self.is_drawn:
            self._write(_ERASE_LINE)
        self.is_drawn = False

    def _draw(self) -> None:
        if self.screen.can_redraw and terminal.is_in_foreground(sys.stderr):
            width = terminal.width(sys.stderr)
            line = progress_line.line(self.ledger, self.seconds, width=width, painter=self.screen.err)
            self._write(_ERASE_LINE + line)
            self.is_drawn = True

    def _write(self, line: str) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()
