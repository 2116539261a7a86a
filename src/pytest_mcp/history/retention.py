"""What happens to old runs: they are deleted, and for each test and day a trend stays.

Runs that are older than the operator wants, or too many for the size limit, become rows of `trends`: some of them at a
time, each time in one transaction, so that no other writer waits long.
"""

from collections import defaultdict
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
_RESULTS = "SELECT test_id, outcome, duration FROM results WHERE run_id = ?"
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
        ids = [(run_id,) for run_id, _ in sorted(chosen)]
        with store.transaction():
            # Before anything is read: another process that thins the same runs waits here, and then finds no results.
            store.executemany("DELETE FROM runs WHERE id = ?", ids)
            by_day: dict[tuple[int, int], list[Row]] = defaultdict(list)
            for run_id, started in chosen:
                for test_id, *result in store.execute(_RESULTS, (run_id,)):
                    by_day[test_id, int(started // SECONDS_PER_DAY)].append(tuple(result))
            store.executemany(_TREND, [(*key, *_trend(by_day[key])) for key in sorted(by_day)])
            store.executemany("DELETE FROM results WHERE run_id = ?", ids)


def _chosen(store: Store, limits: History, now: float) -> list[Row]:
    """Id and start of the oldest runs of which there are too many, up to what one transaction should delete."""
    oldest = store.execute(_OLDEST, (MAX_RUNS,))
    ((results, runs),) = store.execute(_SIZE)
    before = now - limits.keep_days * SECONDS_PER_DAY
    excess = int(results) + runs * RESULTS_PER_RUN - limits.max_bytes // store.bytes_per_result
    ends = accumulate(run[2] + RESULTS_PER_RUN for run in oldest)
    return [
        (run_id, started)
        for number, ((run_id, started, size), end) in enumerate(zip(oldest, ends, strict=True))
        if (started < before or end - size <= excess) and (number == 0 or end <= MAX_RESULTS)
    ]


def _trend(results: list[Row]) -> Row:
    durations = [duration for outcome, duration in results if duration is not None and outcome != "S"]
    failed = sum(outcome in "FE" for outcome, _ in results)
    return len(results), failed, median(durations) if durations else None
