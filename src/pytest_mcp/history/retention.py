"""What happens to old runs: they are deleted, and for each test and day a trend stays.

In come a store, its limits and the time; runs that are older than the operator wants, or too many for the size limit,
are replaced by rows in `trends`. A part of them at a time, each in one transaction: no other writer waits long.
"""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from pytest_mcp.config.model import History
from pytest_mcp.history.store import Store, Transaction

SECONDS_OF_A_DAY = 86_400
# How many results one transaction deletes at most, unless a single run has more.
MOST_RESULTS = 20_000
# How many such transactions follow one run; what is left follows the next.
MOST_STEPS = 5

_OLDEST = "SELECT id, started, passed + failed + skipped + errors FROM runs ORDER BY started, id LIMIT 200"
_RESULTS = "SELECT test_id, outcome, duration FROM results WHERE run_id = ?"
_TREND = """INSERT INTO trends (test_id, day, runs, failed, median) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (test_id, day) DO UPDATE SET
        median = COALESCE((trends.median * trends.runs + excluded.median * excluded.runs)
            / (trends.runs + excluded.runs), trends.median, excluded.median),
        runs = trends.runs + excluded.runs, failed = trends.failed + excluded.failed"""

Row = tuple[Any, ...]


def thin(store: Store, limits: History, *, now: float) -> None:
    for _ in range(MOST_STEPS):
        before = now - limits.keep_days * SECONDS_OF_A_DAY
        if store.size() > limits.max_bytes:
            # Also today's runs, but never the last one.
            before = now
        with store.transaction() as transaction:
            chosen = _chosen(transaction.execute(_OLDEST), before)
            for day, runs in _by_day(chosen).items():
                _replace(transaction, day, runs)
        if not chosen:
            return


def _chosen(oldest: Sequence[Row], before: float) -> list[Row]:
    """The oldest runs, as many as one transaction should delete. The newest of all stays."""
    chosen: list[Row] = []
    results = 0
    for run in oldest[:-1] if len(oldest) < 200 else oldest:
        results += run[2]
        if run[1] >= before or (chosen and results > MOST_RESULTS):
            break
        chosen.append(run)
    return chosen


def _by_day(runs: Iterable[Row]) -> dict[int, list[int]]:
    days: dict[int, list[int]] = {}
    for run_id, started, _ in runs:
        days.setdefault(int(started // SECONDS_OF_A_DAY), []).append(run_id)
    return days


def _replace(transaction: Transaction, day: int, runs: list[int]) -> None:
    of_tests: dict[int, list[Row]] = {}
    for run_id in runs:
        for test_id, outcome, duration in transaction.execute(_RESULTS, (run_id,)):
            of_tests.setdefault(test_id, []).append((outcome, duration))
    transaction.executemany(_TREND, [_trend(test_id, day, rows) for test_id, rows in sorted(of_tests.items())])
    for table, column in (("results", "run_id"), ("runs", "id")):
        transaction.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(run_id,) for run_id in runs])  # noqa: S608


def _trend(test_id: int, day: int, rows: Sequence[Row]) -> Row:
    durations = [duration for outcome, duration in rows if duration is not None and outcome != "S"]
    failed = sum(outcome in "FE" for outcome, _ in rows)
    return test_id, day, len(rows), failed, median(durations) if durations else None
