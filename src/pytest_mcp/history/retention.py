"""What happens to old runs: they are deleted, and for each test and day a trend stays.

Runs that are older than the operator wants, or too many for the size limit, become rows of `trends`: some of them at a
time, each time in one transaction, so that no other writer waits long.
"""

from collections.abc import Sequence
from itertools import accumulate
from statistics import median

from pytest_mcp.config.model import History
from pytest_mcp.history.store import Row, Store

SECONDS_PER_DAY = 86_400
# How many results one transaction deletes, unless a single run has more, and how many runs.
MAX_RESULTS = 20_000
MAX_RUNS = 200
# How many such transactions follow one recorded run. What is left follows the next.
MAX_STEPS = 5
# A row of `runs` takes as much as so many results.
RESULTS_PER_RUN = 8

# Without the newest run, which always stays.
_OLDEST = """SELECT id, started, passed + failed + skipped + errors FROM runs
    WHERE id < (SELECT MAX(id) FROM runs) ORDER BY started, id LIMIT ?"""
_SIZE = "SELECT COALESCE(SUM(passed + failed + skipped + errors), 0), COUNT(*) FROM runs"
# If a day has a trend already, of runs that were recorded late, both count by their runs.
_TREND = """INSERT INTO trends (test_id, day, runs, failed, median) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (test_id, day) DO UPDATE SET
        median = COALESCE((trends.median * trends.runs + excluded.median * excluded.runs)
            / (trends.runs + excluded.runs), trends.median, excluded.median),
        runs = trends.runs + excluded.runs, failed = trends.failed + excluded.failed"""


def thin(store: Store, limits: History, *, now: float) -> None:
    for _ in range(MAX_STEPS):
        chosen = _chosen(store, limits, now)
        if not chosen:
            return
        with store.transaction():
            # Before anything is read: another process that thins the same runs waits here, and then finds no results.
            _delete(store, "runs", "id", [run_id for run_id, _, _ in chosen])
            for day, runs in _by_day(chosen).items():
                _replace(store, day, runs)


def _chosen(store: Store, limits: History, now: float) -> list[Row]:
    """The oldest runs of which there are too many, up to what one transaction should delete."""
    oldest = store.execute(_OLDEST, (MAX_RUNS,))
    ((results, runs),) = store.execute(_SIZE)
    before = now - limits.keep_days * SECONDS_PER_DAY
    excess = int(results) + runs * RESULTS_PER_RUN - limits.max_bytes // store.bytes_per_result
    ends = accumulate(run[2] + RESULTS_PER_RUN for run in oldest)
    return [
        run
        for number, (run, end) in enumerate(zip(oldest, ends, strict=True))
        if (run[1] < before or end - run[2] <= excess) and (number == 0 or end <= MAX_RESULTS)
    ]


def _by_day(runs: Sequence[Row]) -> dict[int, list[int]]:
    days: dict[int, list[int]] = {}
    for run_id, started, _ in runs:
        days.setdefault(int(started // SECONDS_PER_DAY), []).append(run_id)
    return days


def _replace(store: Store, day: int, runs: list[int]) -> None:
    of_tests: dict[int, list[Row]] = {}
    for run_id in runs:
        for test_id, *row in store.execute(
            "SELECT test_id, outcome, duration FROM results WHERE run_id = ?", (run_id,)
        ):
            of_tests.setdefault(test_id, []).append(tuple(row))
    store.executemany(_TREND, [_trend(test_id, day, rows) for test_id, rows in sorted(of_tests.items())])
    _delete(store, "results", "run_id", runs)


def _delete(store: Store, table: str, column: str, ids: Sequence[int]) -> None:
    sql = f"DELETE FROM {table} WHERE {column} = ?"  # noqa: S608 - names of ours
    store.executemany(sql, [(each,) for each in sorted(ids)])


def _trend(test_id: int, day: int, rows: Sequence[Row]) -> Row:
    durations = [duration for outcome, duration in rows if duration is not None and outcome != "S"]
    failed = sum(outcome in "FE" for outcome, _ in rows)
    return test_id, day, len(rows), failed, median(durations) if durations else None
