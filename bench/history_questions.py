"""`python -m bench.history_questions [--rows N]`: how long each question to the history takes.

Two histories with as many results: few runs of a large suite, and many runs of a few tests, as agents do them. Each
question is asked on a store that is opened for it, as the server does. Beside the time stands its ratio to reading
all results with one bare SELECT.
"""

import argparse
import math
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_mcp.history import durations, flaky, questions
from pytest_mcp.history.remarks import remarks
from pytest_mcp.history.runs import Runs, read_runs
from pytest_mcp.history.sqlite import SqliteStore
from pytest_mcp.history.store import open_store

ROWS = 1_000_000
ROUNDS = 7
LIMIT_SECONDS = 0.2
PROJECT = "shop"
DAYS = 30
# One test in so many is flaky, and one is broken by a state of the code and mended later.
FLAKY_EVERY = 50
BROKEN_EVERY = 20
RUNS_PER_STATE = 12

Row = tuple[object, ...]


@dataclass(frozen=True)
class Shape:
    name: str
    tests: int
    tests_per_run: int


SHAPES = (Shape("whole suites of 1,000 tests", 1_000, 1_000), Shape("runs of 50 of 5,000 tests", 5_000, 50))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.history_questions")
    parser.add_argument("--rows", type=int, default=ROWS, help="results in each history (default: %(default)s)")
    rows = parser.parse_args().rows
    print("| history | question | milliseconds | of a bare SELECT |\n| --- | --- | --- | --- |")
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.db"
            fill(path, shape, rows)
            bare = best(partial(bare_select, path), rounds=2)
            for name, seconds in measured(path).items():
                late = " (too slow)" if seconds > LIMIT_SECONDS else ""
                print(f"| {shape.name} | {name} | {1000 * seconds:.0f}{late} | {seconds / bare:.3f} |", flush=True)


def measured(path: Path) -> dict[str, float]:
    """The median time of each question."""
    with_store: dict[str, Callable[[Runs], object]] = {
        "flaky": flaky.flaky_tests,
        "slow": durations.slow_tests,
        "failing": questions.failing_tests,
        "test": lambda runs: questions.one_test(runs, name_of(0)),
        "notices of five failures": lambda runs: remarks(runs, [[name_of(test)] for test in range(0, 250, 50)]),
    }
    return {name: best(partial(asked, path, ask), ROUNDS) for name, ask in with_store.items()}


def asked(path: Path, ask: Callable[[Runs], object]) -> object:
    store = open_store(str(path))
    try:
        return ask(read_runs(store, PROJECT))
    finally:
        store.close()


def best(work: Callable[[], object], rounds: int) -> float:
    """The median; the first round, which fills the caches of the file system, does not count."""
    work()
    return statistics.median(took(work) for _ in range(rounds))


def took(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def bare_select(path: Path) -> list[Row]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT run_id, test_id, outcome, duration FROM results").fetchall()
    finally:
        connection.close()


def name_of(test: int) -> str:
    return f"tests/test_{test // 20}.py::test_{test}"


def fill(path: Path, shape: Shape, rows: int) -> None:
    """With flaky, broken, mended and slower tests on machines of changing speed."""
    runs = max(1, rows // shape.tests_per_run)
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    with connection:
        names = [(test + 1, PROJECT, name_of(test)) for test in range(shape.tests)]
        connection.executemany("INSERT INTO tests VALUES (?, ?, ?)", names)
        connection.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * 18)})", run_rows(shape, runs))
        connection.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, NULL)", result_rows(shape, runs))
    connection.execute("ANALYZE")
    connection.close()


def run_rows(shape: Shape, runs: int) -> Iterator[Row]:
    began = time.time() - DAYS * 86_400
    for run in range(runs):
        state = f"{run // RUNS_PER_STATE:064x}"
        selection = "{}" if shape.tests_per_run == shape.tests else '{"path":"tests"}'
        head = (run + 1, f"{run:032x}", began + run * DAYS * 86_400 / runs, PROJECT, "/shop", state[:40], state, 0)
        counts = (shape.tests_per_run, 0, 0, 0)
        yield (*head, selection, "passed", *counts, 10.0, "3.12", "8.4", f"host-{run % 3}")


def result_rows(shape: Shape, runs: int) -> Iterator[Row]:
    rng = random.Random(17)
    for run in range(runs):
        speed = math.exp(rng.gauss(0, 0.3))
        first = (run * shape.tests_per_run) % shape.tests
        for test in range(first, first + shape.tests_per_run):
            failed = fails(test, run, runs, rng)
            seconds = (
                0.001 * (1 + test % 100) * speed * rng.uniform(0.9, 1.1) * (2 if test == 7 and run > runs - 8 else 1)
            )
            yield (run + 1, test + 1, "F" if failed else "P", seconds, "ab" * 8 if failed else None)


def fails(test: int, run: int, runs: int, rng: random.Random) -> bool:
    if test % FLAKY_EVERY == 0:
        return rng.random() < 0.05
    return test % BROKEN_EVERY == 3 and (run // 40 + test) % 12 == 0 and run > runs // 2


if __name__ == "__main__":
    main()
