"""What happens in a run, as lines that stay: failures, files, and tests that take long.

In come the ledger after every event and the time; out come the lines that are new. Whether and where they are printed
is decided in `bar`. Pure.
"""

from collections import Counter
from collections.abc import Iterator

from pytest_mcp.report import failures
from pytest_mcp.run.ledger import Ledger, TestRecord
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.text import cut_middle, safe_line, span

# A test that runs longer than this is named, and again each time that this has doubled.
LONG_SECONDS = 10.0
# The report at the end has all of them.
MOST_FAILURES = 50
LINE_CHARACTERS = 300
# With workers the tests of many files run at once, so there is a line for each of these parts instead.
PARTS = 10


class Log:
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

    def fresh(self) -> "Log":
        return Log(self.painter, lists_files=self.lists_files)

    def bad_news(self, ledger: Ledger) -> Iterator[str]:
        """A line for each test that has failed and each file that could not be collected since the last time."""
        for event in ledger.collection_failures[self.not_collected : MOST_FAILURES]:
            yield self._bad(f"NOT COLLECTED {event.file}", event.message or "")
        self.not_collected = len(ledger.collection_failures)
        for node_id in ledger.running.keys() - self.failed if ledger.failed > len(self.failed) else ():
            record = ledger.tests[node_id]
            if record.outcome in ("failed", "error") and len(self.failed) < MOST_FAILURES:
                self.failed.add(node_id)
                yield self._bad(f"{_word(record)} {node_id}", failures.of_record(record).cause)

    def files(self, ledger: Ledger) -> Iterator[str]:
        """A line for each file whose tests have finished since the last time. Call it before `follow`."""
        if not self.lists_files:
            return
        for node_id in self.running.keys() - ledger.running.keys():
            self.outcomes[ledger.tests[node_id].outcome or "unknown"] += 1
        if ledger.distributed is not None:
            yield from self._parts(ledger)
            return
        latest = next(reversed(ledger.running), "").partition("::")[0]
        if self.outcomes and (ledger.ended is not None or latest not in ("", self.file)):
            yield f"{safe_line(self.file)}: {_counts(self.outcomes)} ({ledger.finished}/{ledger.selected or '?'})"
            self.outcomes.clear()
        self.file = latest or self.file

    def follow(self, ledger: Ledger, now: float) -> None:
        """Note which tests run."""
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
        if not self.running:
            return None
        node_id, started = min(self.running.items(), key=lambda each: each[1])
        return f"{safe_line(node_id)} {span(now - started)}" if now - started >= LONG_SECONDS else None

    def _parts(self, ledger: Ledger) -> Iterator[str]:
        part = PARTS * ledger.finished // (ledger.selected or ledger.finished or 1)
        if part > self.part:
            self.part = part
            yield f"{ledger.finished}/{ledger.selected or '?'}: {_counts(self.outcomes)}"

    def _bad(self, what: str, why: str) -> str:
        first = cut_middle(safe_line(why.strip().partition("\n")[0]), LINE_CHARACTERS, separator=" ")
        return self.painter.paint(safe_line(what), "red") + (f" - {first}" if first else "")


def _word(record: TestRecord) -> str:
    return "FAILED" if record.outcome == "failed" else "ERROR"


def _counts(outcomes: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(outcomes.items()))
