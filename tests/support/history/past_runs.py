"""Recorded runs whose truth is known: a real database, filled with what a test invents."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pytest_mcp.history import insertion
from pytest_mcp.history.opening import open_store
from pytest_mcp.history.rows import TestRow
from pytest_mcp.history.runs import PastRun, Scope
from pytest_mcp.history.store import Store, Transaction
from tests.support.history.histories import run_row

PROJECT = "shop"
START = 1_700_000_000.0
HOUR = 3_600.0
# Its number is its id.
PAST_RUN = PastRun(1, START, "abcdef0123", "s", 1, "{}", "failed", 1, 1, 0, 0, 1.0, "3.12", "8.4", "desk")
BLANK = run_row(key="", started=START, project=PROJECT, passed=0, duration=1.0)


@dataclass
class Past:
    """Each run starts an hour after the one before it."""

    address: str
    number: int = 0
    store: Store = field(init=False)
    writer: Transaction | None = None

    def __post_init__(self) -> None:
        self.store = open_store(self.address)

    @property
    def scope(self) -> Scope:
        return Scope(self.store, PROJECT)

    def run(self, outcomes: Mapping[str, str] | Sequence[TestRow], **facts: object) -> int:
        """Returns the run's id. Tests are named with their letter, or given whole."""
        tests = (
            [
                TestRow(name, letter, 0.01, cause="ab" * 8 if letter in "FE" else None)  # type: ignore[arg-type]
                for name, letter in outcomes.items()
            ]
            if isinstance(outcomes, Mapping)
            else list(outcomes)
        )
        counts = {letter: sum(test.outcome == letter for test in tests) for letter in "PFSE"}
        self.number += 1
        row = replace(
            BLANK,
            key=f"{self.number:032x}",
            started=START + HOUR * self.number,
            passed=counts["P"],
            failed=counts["F"],
            skipped=counts["S"],
            errors=counts["E"],
            verdict="failed" if counts["F"] + counts["E"] else "passed",
        )
        whole = replace(row, **facts)  # type: ignore[arg-type]
        return self.store.record(whole, tests) if self.writer is None else insertion.insert(self.writer, whole, tests)

    @property
    def now(self) -> float:
        """A moment after the last run."""
        return START + HOUR * (self.number + 0.5)

    @contextmanager
    def in_one_transaction(self) -> Iterator[None]:
        """Many runs in a fraction of the time."""
        with self.store.transaction() as transaction:
            self.writer = transaction
            yield
        self.writer = None

    def store_trend(self, name: str, *, day: int, median: float) -> None:
        with self.store.transaction() as transaction:
            (row,) = transaction.execute("SELECT id FROM tests WHERE node_id = ?", (name,))
            transaction.execute("INSERT INTO trends VALUES (?, ?, 1, 0, ?)", (row[0], day, median))

    def letters(self, name: str, pattern: str, **facts: object) -> None:
        """One test, one run for each letter."""
        for letter in pattern:
            self.run({name: letter}, **facts)

    def node_id(self, test: int) -> str:
        return str(self.store.select("SELECT node_id FROM tests WHERE id = ?", (test,))[0][0])
