"""Runs to record, processes that record them, and histories whose truth is known.

Without pytest, which these processes would have to import.
"""

import math
import random
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_mcp.history.runs import Runs, read_runs
from pytest_mcp.history.store import RunRow, Store, TestRow, open_store
from tests.support.paths import ROOT

DAY = 86_400
# A Thursday in 2026.
NOW = 1_790_000_000.0


def run_row(**given: Any) -> RunRow:
    plain = RunRow(
        key=uuid.uuid4().hex,
        started=NOW,
        project="shop",
        root="/projects/shop",
        commit_id="c" * 40,
        state="5" * 64,
        dirty=0,
        selection="{}",
        verdict="passed",
        passed=1,
        failed=0,
        skipped=0,
        errors=0,
        duration=0.5,
        python="3.11.7",
        pytest="9.2.0",
        host="laptop",
    )
    return replace(plain, **given)


def passing(count: int) -> list[TestRow]:
    return [TestRow(f"tests/test_a.py::test_{number}", "P", 0.001) for number in range(count)]


def counts(store: Store) -> tuple[int, int, int]:
    """How many runs, tests and results there are."""
    runs, tests, results = (
        store.execute(f"SELECT COUNT(*) FROM {name}")[0][0] for name in ("runs", "tests", "results")
    )
    return runs, tests, results


# Prints a line for each run as soon as it is stored.
_WRITER = """
import sys
from pytest_mcp.history.store import open_store
from tests.support.history.histories import passing, run_row

address, runs, tests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for _ in range(runs):
    store, run = open_store(address), run_row(passed=tests)
    store.record(run, passing(tests))
    store.close()
    print(run.key, flush=True)
"""


def writer(address: str, *, runs: int, tests: int) -> "subprocess.Popen[str]":
    """A process that records this many runs, one after the other."""
    command = [sys.executable, "-c", _WRITER, address, str(runs), str(tests)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write_together(address: str, *, processes: int, runs: int, tests: int) -> None:
    """Processes that record at the same time, and create the tables together, lose nothing and double nothing."""
    writers = [writer(address, runs=runs, tests=tests) for _ in range(processes)]

    ended = [each.communicate() for each in writers]

    assert [(each.returncode, said[-500:]) for each, (_, said) in zip(writers, ended, strict=True)] == [
        (0, "")
    ] * processes
    with closing(open_store(address)) as store:
        stored = sorted(key for (key,) in store.execute("SELECT key FROM runs"))
        assert stored == sorted(key for printed, _ in ended for key in printed.split())
        assert counts(store) == (processes * runs, tests, processes * runs * tests)


def kill_writers(path: str, moments: Sequence[int]) -> None:
    """Killed while they write: what they had acknowledged is there, and every run that is there is whole."""
    acknowledged: list[str] = []
    for moment in moments:
        process = writer(path, runs=10_000, tests=40 * moment)
        assert process.stdout is not None
        acknowledged += [process.stdout.readline().strip() for _ in range(moment % 4 + 1)]
        process.kill()
        # Of what readline has read ahead, communicate knows nothing.
        acknowledged += process.stdout.read().split()
        process.communicate()

    with closing(open_store(path)) as store:
        stored = {key for (key,) in store.execute("SELECT key FROM runs")}
        part = "SELECT id FROM runs WHERE passed <> (SELECT COUNT(*) FROM results WHERE run_id = runs.id)"
        assert store.execute("PRAGMA integrity_check") == [("ok",)]
        assert set(acknowledged) <= stored
        assert len(stored) <= len(acknowledged) + len(moments)
        assert store.execute(part) == []


PROJECT = "shop"
START = 1_700_000_000.0
HOUR = 3_600.0
# How many tests an invented suite has.
SUITE = 12


@dataclass
class Past:
    """A real database, filled with what a test invents. Each run starts an hour after the one before it."""

    address: str
    number: int = 0
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.store = open_store(self.address)

    def runs(self, since: float = 0.0) -> Runs:
        return read_runs(self.store, PROJECT, since)

    @property
    def now(self) -> float:
        """A moment after the last run."""
        return START + HOUR * (self.number + 0.5)

    def run(self, outcomes: Mapping[str, str] | Sequence[TestRow], **facts: object) -> None:
        """Tests are named with their letter, or given whole. In a transaction it takes a fraction of the time."""
        if isinstance(outcomes, Mapping):
            causes = {"F": "ab" * 8, "E": "ab" * 8}
            tests = [TestRow(name, letter, 0.01, causes.get(letter)) for name, letter in outcomes.items()]  # type: ignore[arg-type]
        else:
            tests = list(outcomes)
        count = {letter: sum(test.outcome == letter for test in tests) for letter in "PFSE"}
        self.number += 1
        run = run_row(
            key=f"{self.number:032x}",
            started=START + HOUR * self.number,
            duration=1.0,
            passed=count["P"],
            failed=count["F"],
            skipped=count["S"],
            errors=count["E"],
            verdict="failed" if count["F"] + count["E"] else "passed",
        )
        self.store.insert(replace(run, **facts), tests)  # type: ignore[arg-type]

    def suite(self, runs: int, *, slower_from: int = 10_000, factor: float = 2.0) -> None:
        """On a machine of changing speed; the first test takes longer from a run on."""
        rng = random.Random(5)
        with self.store.transaction():
            for number in range(runs):
                speed = math.exp(rng.gauss(0, 0.4))
                seconds = [0.05 * (test + 1) * speed * math.exp(rng.gauss(0, 0.04)) for test in range(SUITE)]
                seconds[0] *= factor if number >= slower_from else 1
                rows = [TestRow(f"t.py::test_{test}", "P", took) for test, took in enumerate(seconds)]
                self.run(rows, duration=sum(seconds), commit_id=f"{number:040x}")

    def letters(self, name: str, pattern: str, **facts: object) -> None:
        """One test, one run for each letter."""
        for letter in pattern:
            self.run({name: letter}, **facts)
