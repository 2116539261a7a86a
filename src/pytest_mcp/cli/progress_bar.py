"""Show on stderr how a run goes: a line that is redrawn on a terminal, and the lines of `log`.

In comes the ledger after every event; out goes the text of `line` and `log`. What stays of a run is printed above the
line. If stderr is no terminal, there is no such line, and each file of tests has a line that stays.
"""

import sys
import time
from collections.abc import Iterable
from contextlib import suppress

import anyio

from pytest_mcp.cli import progress_line
from pytest_mcp.cli.progress_log import Log
from pytest_mcp.process.report_file import POLL_SECONDS
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Steps
from pytest_mcp.terminal import capabilities
from pytest_mcp.terminal.capabilities import Screen

# A shorter run shows no progress line.
REDRAW_SECONDS = 0.2
_ERASE_LINE = "\r\x1b[K"


class ProgressBar:
    """`log` is None if no lines are to stay: the call runs no tests, or a program reads both outputs."""

    def __init__(self, screen: Screen, log: Log | None) -> None:
        self.screen = screen
        self.log = log
        self.started = time.monotonic()
        self.ledger: Ledger | Steps = Ledger()
        self.is_drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def has_begun(self) -> bool:
        """Whether the project's Python has started, so that code of the project may have run."""
        return isinstance(self.ledger, Ledger) and self.ledger.hello is not None

    async def learn_whether_it_has_begun(self) -> bool:
        """The same, after the report was read once more."""
        if not self.has_begun:
            await anyio.sleep(2 * POLL_SECONDS)
        return self.has_begun

    def update(self, ledger: Ledger | Steps) -> None:
        if self.log is not None and ledger is not self.ledger:
            self.log = self.log.fresh()  # another run begins
        self.ledger = ledger
        if self.log is not None and isinstance(ledger, Ledger):
            self.announce(*self.log.bad_news(ledger), *(() if self.screen.can_redraw else self.log.files(ledger)))
            self.log.follow(ledger, self.seconds)

    def announce(self, *lines: str) -> None:
        """Print lines that stay, above the progress line."""
        if lines:
            # Also erases the ^C that a terminal shows for the key.
            self._write((_ERASE_LINE if self.screen.can_redraw else "") + "".join(f"{line}\n" for line in lines))
            self.is_drawn = False

    async def keep_drawn(self) -> None:
        try:
            while self.screen.can_redraw or self.log is not None:
                await anyio.sleep(REDRAW_SECONDS)
                self._draw() if self.screen.can_redraw else self.announce(*self._long_tests())
        finally:
            self.erase()

    def stop(self) -> None:
        self.screen = self.screen._replace(can_redraw=False)
        self.log = None
        self.erase()

    def erase(self) -> None:
        if self.is_drawn:
            self._write(_ERASE_LINE)
        self.is_drawn = False

    def _long_tests(self) -> Iterable[str]:
        return () if self.log is None else self.log.long_tests(self.seconds)

    def _draw(self) -> None:
        if capabilities.is_in_foreground(sys.stderr):
            width = capabilities.width(sys.stderr)
            long = self.log.longest(self.seconds) if self.log is not None else None
            text = progress_line.line(self.ledger, self.seconds, width=width, painter=self.screen.err, long=long)
            self._write(_ERASE_LINE + text)
            self.is_drawn = True

    def _write(self, text: str) -> None:
        # Whoever has closed stderr wants nothing of this.
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()
