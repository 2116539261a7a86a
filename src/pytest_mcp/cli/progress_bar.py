"""How a run goes, on stderr: a line for each failure as it happens, and how far the run is.

On a terminal that is one line, redrawn below the others; elsewhere a line now and then. The bar gets the ledger after
every event.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import anyio

from pytest_mcp.process.report_file import POLL_SECONDS
from pytest_mcp.report import failures
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Steps
from pytest_mcp.server import progress
from pytest_mcp.terminal import capabilities, colours
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.text import cut_middle, safe_line, span

# A shorter run shows no progress line.
REDRAW_SECONDS = 0.2
# Between two lines about the progress if nothing is redrawn.
LINE_SECONDS = 30.0
# A test that runs longer than this is named instead of the file.
LONG_SECONDS = 10.0
# The report at the end has all of them.
MAX_FAILURES = 50
LINE_CHARACTERS = 300
BAR_COLUMNS = 20
# In a narrower terminal there is no bar; and in fewer columns no name of a file.
LEAST_WIDTH = 60
LEAST_FILE_COLUMNS = 8
GAP = "  "
_ERASE_LINE = "\r\x1b[K"


@dataclass
class SeenRun:
    """What was seen of one run, so that each failure is printed once."""

    not_collected: int = 0
    failed: set[str] = field(default_factory=set)
    # When each test that runs was started.
    running: dict[str, float] = field(default_factory=dict)

    def bad_news(self, ledger: Ledger, painter: Painter) -> Iterator[str]:
        """A line for each test that has failed and each file that could not be collected since the last time."""
        for event in ledger.collection_failures[self.not_collected : MAX_FAILURES]:
            yield _failure_line(f"NOT COLLECTED {event.file}", event.message or "", painter)
        self.not_collected = len(ledger.collection_failures)
        for node_id in ledger.running.keys() - self.failed if ledger.failed > len(self.failed) else ():
            record = ledger.tests[node_id]
            if record.outcome in ("failed", "error") and len(self.failed) < MAX_FAILURES:
                self.failed.add(node_id)
                cause = failures.failure_of(record).cause
                yield _failure_line(f"{record.outcome.upper()} {node_id}", cause, painter)

    def follow(self, ledger: Ledger, now: float) -> None:
        if self.running.keys() != ledger.running.keys():
            self.running = {node_id: self.running.get(node_id, now) for node_id in ledger.running}

    def long_test(self, now: float) -> str:
        """The test that has been running for longest, if that is long."""
        node_id, started = min(self.running.items(), key=lambda each: each[1], default=("", now))
        return f"{safe_line(node_id)} {span(now - started)}" if now - started >= LONG_SECONDS else ""


class ProgressBar:
    """`has_log` is whether lines stay: not if the call runs no tests, or a program reads both outputs."""

    def __init__(self, screen: Screen, *, has_log: bool) -> None:
        self.screen = screen
        self.has_log = has_log
        self.started = time.monotonic()
        self.next_line = LINE_SECONDS
        self.ledger: Ledger | Steps = Ledger()
        self.seen = SeenRun()
        self.is_drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    async def learn_whether_it_has_begun(self) -> bool:
        """Whether the project's Python has started, so that code of the project may have run."""
        if not (isinstance(self.ledger, Ledger) and self.ledger.hello):
            # Until the report was read once more.
            await anyio.sleep(2 * POLL_SECONDS)
        return isinstance(self.ledger, Ledger) and self.ledger.hello is not None

    def update(self, ledger: Ledger | Steps) -> None:
        if ledger is not self.ledger:
            self.ledger, self.seen = ledger, SeenRun()
        if self.has_log and isinstance(ledger, Ledger):
            self.announce(*self.seen.bad_news(ledger, self.screen.err))
            self.seen.follow(ledger, self.seconds)

    def announce(self, *lines: str) -> None:
        """Print lines that stay, above the progress line."""
        if lines:
            # Also erases the ^C that a terminal shows for the key.
            self._write((_ERASE_LINE if self.screen.can_redraw else "") + "".join(f"{line}\n" for line in lines))
            self.is_drawn = False

    async def keep_drawn(self) -> None:
        try:
            while self.screen.can_redraw or self.has_log:
                await anyio.sleep(REDRAW_SECONDS)
                if self.screen.can_redraw and capabilities.is_in_foreground(sys.stderr):
                    self._write(_ERASE_LINE + self._line(capabilities.width(sys.stderr)))
                    self.is_drawn = True
                elif not self.screen.can_redraw and self.seconds >= self.next_line:
                    self.next_line += LINE_SECONDS
                    self.announce(self._line(LINE_CHARACTERS))
        finally:
            self.erase()

    def stop(self) -> None:
        self.screen = self.screen._replace(can_redraw=False)
        self.has_log = False
        self.erase()

    def erase(self) -> None:
        if self.is_drawn:
            self._write(_ERASE_LINE)
        self.is_drawn = False

    def _line(self, width: int) -> str:
        line = progress_line(self.ledger, self.seconds, width=width, long_test=self.seen.long_test(self.seconds))
        has_failures = isinstance(self.ledger, Ledger) and self.ledger.failed
        return self.screen.err.paint(line, "red") if has_failures else line

    def _write(self, text: str) -> None:
        # Whoever has closed stderr wants nothing of this.
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


def progress_line(made: Ledger | Steps, seconds: float, *, width: int, long_test: str = "") -> str:
    """For example: [====>     ]  123/980  2 failed  4.2 s  tests/test_x.py

    Narrower than the terminal, so that it does not wrap. A test that runs for long stands in place of the file.
    """
    if isinstance(made, Steps):
        return colours.last_columns(f"{span(seconds)}{GAP}{progress.words(made)}", width - 1)
    failed = progress.failed(made) if made.failed else ""
    parts = [_bar(made) if width >= LEAST_WIDTH else "", _state(made), failed, span(seconds)]
    line = GAP.join(filter(None, parts))[: width - 1]
    left = width - 1 - len(line) - len(GAP)
    name = long_test or safe_line(progress.latest_file(made))
    return f"{line}{GAP}{colours.last_columns(name, left)}" if name and left >= LEAST_FILE_COLUMNS else line


def _state(ledger: Ledger) -> str:
    if ledger.items:
        return f"{len(ledger.items)} tests"
    if ledger.selected:
        return progress.counts(ledger)
    return "collecting" if ledger.session_started else "starting"


def _bar(ledger: Ledger) -> str:
    if not ledger.selected or ledger.items:
        return ""
    done = min(BAR_COLUMNS, BAR_COLUMNS * ledger.finished // ledger.selected)
    return f"[{('=' * done + '>')[:BAR_COLUMNS]:{BAR_COLUMNS}}]"


def _failure_line(what: str, why: str, painter: Painter) -> str:
    first = cut_middle(safe_line(why.strip().partition("\n")[0]), LINE_CHARACTERS, separator=" ")
    return painter.paint(safe_line(what), "red") + (f" - {first}" if first else "")
