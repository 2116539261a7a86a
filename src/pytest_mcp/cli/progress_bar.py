"""How a run goes, on stderr: on a terminal a line that is redrawn, and above it lines that stay.

The bar gets the ledger after every event. Lines that stay are about failures, and about tests that take long; if stderr
is no terminal, nothing is redrawn, and each file of tests has such a line.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

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
# A test that runs longer than this is named, and again each time that this has doubled.
LONG_SECONDS = 10.0
# The report at the end has all of them.
MAX_FAILURES = 50
LINE_CHARACTERS = 300
# With workers the tests of many files run at once, so there is a line for each of these parts instead.
PARTS = 10
BAR_COLUMNS = 20
# A file's name is not shown in fewer columns.
LEAST_FILE_COLUMNS = 8
GAP = "  "
_ERASE_LINE = "\r\x1b[K"


class RunLog:
    """The lines about a run that stay, each once. Where they are printed is decided by the bar."""

    def __init__(self, painter: Painter, *, lists_files: bool = True) -> None:
        self.painter = painter
        self.lists_files = lists_files
        # When each test that runs was started, and when it is named next.
        self.running: dict[str, float] = {}
        self.named_at: dict[str, float] = {}
        self.failed: set[str] = set()
        self.not_collected = 0
        self.file = ""
        self.outcomes: Counter[str] = Counter()
        self.part = 0

    def fresh(self) -> "RunLog":
        return RunLog(self.painter, lists_files=self.lists_files)

    def bad_news(self, ledger: Ledger) -> Iterator[str]:
        """A line for each test that has failed and each file that could not be collected since the last time."""
        for event in ledger.collection_failures[self.not_collected : MAX_FAILURES]:
            yield self._bad(f"NOT COLLECTED {event.file}", event.message or "")
        self.not_collected = len(ledger.collection_failures)
        for node_id in ledger.running.keys() - self.failed if ledger.failed > len(self.failed) else ():
            record = ledger.tests[node_id]
            if record.outcome in ("failed", "error") and len(self.failed) < MAX_FAILURES:
                self.failed.add(node_id)
                yield self._bad(f"{record.outcome.upper()} {node_id}", failures.failure_of(record).cause)

    def files(self, ledger: Ledger) -> Iterator[str]:
        """A line for each file whose tests have finished since the last time. Call it before `follow`."""
        if not self.lists_files:
            return
        for node_id in self.running.keys() - ledger.running.keys():
            self.outcomes[ledger.tests[node_id].outcome or "unknown"] += 1
        counts = ", ".join(f"{number} {name}" for name, number in sorted(self.outcomes.items()))
        done = progress.counts(ledger)
        if ledger.distributed is not None:
            part = PARTS * ledger.finished // (ledger.selected or ledger.finished or 1)
            if part > self.part:
                self.part = part
                yield f"{done}: {counts}"
            return
        latest = next(reversed(ledger.running), "").partition("::")[0]
        if counts and (ledger.ended is not None or latest not in ("", self.file)):
            yield f"{safe_line(self.file)}: {counts} ({done})"
            self.outcomes.clear()
        self.file = latest or self.file

    def follow(self, ledger: Ledger, now: float) -> None:
        if self.running.keys() != ledger.running.keys():
            self.running = {node_id: self.running.get(node_id, now) for node_id in ledger.running}
            self.named_at = {node_id: when for node_id, when in self.named_at.items() if node_id in self.running}

    def long_tests(self, now: float) -> Iterator[str]:
        """A line for each test that has been running for long, each time that has doubled."""
        for node_id, started in self.running.items():
            if now >= self.named_at.get(node_id, started + LONG_SECONDS):
                self.named_at[node_id] = now + (now - started)
                yield f"running for {span(now - started)}: {safe_line(node_id)}"

    def longest(self, now: float) -> str | None:
        """The test that has been running for longest, if that is long."""
        node_id, started = min(self.running.items(), key=lambda each: each[1], default=("", now))
        return f"{safe_line(node_id)} {span(now - started)}" if now - started >= LONG_SECONDS else None

    def _bad(self, what: str, why: str) -> str:
        first = cut_middle(safe_line(why.strip().partition("\n")[0]), LINE_CHARACTERS, separator=" ")
        return self.painter.paint(safe_line(what), "red") + (f" - {first}" if first else "")


class ProgressBar:
    """`log` is None if no lines are to stay: the call runs no tests, or a program reads both outputs."""

    def __init__(self, screen: Screen, log: RunLog | None) -> None:
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
                if self.screen.can_redraw:
                    self._draw()
                elif self.log is not None:
                    self.announce(*self.log.long_tests(self.seconds))
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

    def _draw(self) -> None:
        if capabilities.is_in_foreground(sys.stderr):
            width = capabilities.width(sys.stderr)
            long = self.log.longest(self.seconds) if self.log is not None else None
            line = progress_line(self.ledger, self.seconds, width=width, painter=self.screen.err, long=long)
            self._write(_ERASE_LINE + line)
            self.is_drawn = True

    def _write(self, text: str) -> None:
        # Whoever has closed stderr wants nothing of this.
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


def progress_line(
    made: Ledger | Steps, seconds: float, *, width: int, painter: Painter, long: str | None = None
) -> str:
    """For example: [====>     ]  123/980  2 failed  4.2 s  tests/test_x.py

    Narrower than the terminal, so that it does not wrap. Parts that do not fit are left out, the bar first. A test that
    runs for long stands in place of the file.
    """
    if isinstance(made, Steps):
        return colours.last_columns(f"{span(seconds)}{GAP}{progress.words(made)}", width - 1)
    failed = progress.failed(made) if made.failed else ""
    parts = {"bar": _bar(made), "state": _state(made), "failed": failed, "span": span(seconds)}
    for name in ("bar", "span", "failed", "state"):
        if colours.columns(_joined(parts)) >= width:
            parts[name] = ""
    left = width - 1 - colours.columns(_joined(parts)) - len(GAP)
    name = long or safe_line(progress.latest_file(made))
    file = colours.last_columns(name, left) if left >= LEAST_FILE_COLUMNS else ""
    return _joined(parts | {"failed": painter.paint(parts["failed"], "red"), "file": file})


def _joined(parts: dict[str, str]) -> str:
    return GAP.join(filter(None, parts.values()))


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
