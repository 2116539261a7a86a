"""How the history is measured: what it adds to a call, and how long a run is written into a large one.

The rows are in `rows`.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from bench import kernel
from bench.measures import BARE
from bench.projects import Suite
from bench.results import Figure, Measurement
from bench.rounds import Rounds, Sample, race
from bench.servers import MAX_CALL, PROGRAM, Server
from pytest_mcp.history.store import open_store
from tests.support.git import git
from tests.support.history.histories import NOW, passing, run_row

WITH, WITHOUT = "with a history", "without"
RECORDED, INSERTED = "a recorded run", "bare INSERT of its results"
TESTS_OF_A_RUN = 1_000


def call(folder: Path, suite: Suite, rounds: int) -> Measurement:
    """Two servers in turns, in a git checkout. Both are idle before every sample."""
    project = suite.write(folder)
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
        git(*command, cwd=project)
    plain: list[str | Path] = [PROGRAM, f"--python={BARE.python}", f"--timeout={MAX_CALL}"]
    recording = [*plain, f"--history={folder.parent / 'history.db'}"]
    with Server(plain, project) as without, Server(recording, project) as recorded:
        without.handshake()
        recorded.handshake()

        def rest() -> None:
            for server in (without, recorded):
                kernel.wait_for_rest(server.pid)

        variants: dict[str, Sample] = {
            WITH: lambda: recorded.execute(suite),
            WITHOUT: lambda: without.execute(suite),
        }
        return _compared(race(variants, rounds=rounds, before=rest), WITH, WITHOUT)


def recording(folder: Path, results: int, rounds: int) -> Measurement:
    """One run of a thousand tests, in a file with this many results; and the same rows by one INSERT alone."""
    folder.mkdir(parents=True)
    files = {name: fill(folder / f"{name}.db", results) for name in ("recorded", "inserted")}
    variants: dict[str, Sample] = {
        RECORDED: lambda: _record(files["recorded"]),
        INSERTED: lambda: _insert(files["inserted"]),
    }
    return _compared(race(variants, rounds=rounds), RECORDED, INSERTED)


def fill(path: Path, results: int) -> Path:
    """A history of runs of a thousand tests each, five minutes apart."""
    store = open_store(str(path))
    runs, tests = max(1, results // TESTS_OF_A_RUN), passing(TESTS_OF_A_RUN)
    for number in range(runs):
        store.record(run_row(started=NOW + 300 * (number - runs), passed=len(tests)), tests)
    store.close()
    return path


def _record(path: Path) -> float:
    run, tests = run_row(passed=TESTS_OF_A_RUN), passing(TESTS_OF_A_RUN)
    store = open_store(str(path))
    started = time.perf_counter()
    store.record(run, tests)
    seconds = time.perf_counter() - started
    store.close()
    return seconds


def _insert(path: Path) -> float:
    """Into the same table, with the same settings."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 8000")
        (run,) = connection.execute("SELECT MAX(run_id) + 1 FROM results").fetchone()
        rows = [(run, test, "P", 0.001, None, None) for test in range(1, TESTS_OF_A_RUN + 1)]
        started = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
        return time.perf_counter() - started


def _compared(done: Rounds, name: str, against: str) -> Measurement:
    figures = tuple(Figure(each, "s", done.count, done.spread(each)) for each in (name, against))
    return Measurement(figures, done.ratio(name, against))
