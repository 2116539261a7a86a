"""What is recorded of one test: its last outcomes, how long it takes, and whether that has changed."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from pytest_mcp.history.questions import flaky, slow
from pytest_mcp.history.questions.change_points import Change
from pytest_mcp.history.questions.flaky import Flaky, Result
from pytest_mcp.history.questions.runs import PastRun, Runs, Scope, recent
from pytest_mcp.history.questions.statistics import median, quartiles

# The newest durations that the quartiles are of.
MOST_DURATIONS = 200
SECONDS_PER_DAY = 86_400
# Fewer passes say nothing about a trend.
LEAST_DURATIONS = 12

Trend = Literal["steady", "changed", "unknown"]


@dataclass(frozen=True)
class Answer:
    node_id: str
    runs: Runs
    # Oldest first.
    results: list[Result]
    quartiles: tuple[float, float, float] | None
    # The median of each day with a pass, oldest first.
    daily: list[float]
    trend: Trend
    change: Change | None
    flaky: Flaky | None

    @property
    def failing_since(self) -> PastRun | None:
        """The first of the failures since it passed the last time, if it fails now."""
        ran = [result for result in self.results if result.outcome != "S"]
        passed = max((place for place, result in enumerate(ran) if result.outcome == "P"), default=-1)
        return self.runs.by_id[ran[passed + 1].run] if passed + 1 < len(ran) else None


def find(scope: Scope, node_id: str) -> int | None:
    found = scope.store.select("SELECT id FROM tests WHERE project = ? AND node_id = ?", (scope.project, node_id))
    return found[0][0] if found else None


def ask(scope: Scope, node_id: str, test: int) -> Answer:
    runs = recent(scope)
    results = flaky.history(scope, test, runs)
    timings = _timings(scope, test, runs)
    change = slow.ask(scope, node_id, runs).tests.get(test) if len(timings) >= LEAST_DURATIONS else None
    trend: Trend = "unknown" if len(timings) < LEAST_DURATIONS else "changed" if change else "steady"
    newest = [seconds for _, seconds in timings[-MOST_DURATIONS:]]
    return Answer(
        node_id,
        runs,
        results,
        quartiles(newest) if newest else None,
        _daily(scope, test, timings),
        trend,
        change,
        flaky.judge(results, runs),
    )


def _timings(scope: Scope, test: int, runs: Runs) -> list[tuple[float, float]]:
    """Start and duration of the newest passes, oldest first."""
    sql = (
        "SELECT run_id, duration FROM results WHERE test_id = ? AND run_id >= ? AND outcome = 'P'"
        " AND duration IS NOT NULL ORDER BY run_id DESC LIMIT ?"
    )
    rows = scope.store.select(sql, (test, runs.first_id, flaky.MOST_RESULTS))
    return sorted((runs.by_id[run].started, seconds) for run, seconds in rows if run in runs.by_id)


def _daily(scope: Scope, test: int, timings: list[tuple[float, float]]) -> list[float]:
    """Days whose runs were thinned out have their median in `trends`."""
    sql = "SELECT day, median FROM trends WHERE test_id = ? AND day >= ? AND median IS NOT NULL"
    days: dict[int, float] = dict(scope.store.select(sql, (test, int(scope.since // SECONDS_PER_DAY))))
    by_day: dict[int, list[float]] = defaultdict(list)
    for started, seconds in timings:
        by_day[int(started // SECONDS_PER_DAY)].append(seconds)
    days |= {day: median(found) for day, found in by_day.items()}
    return [days[day] for day in sorted(days)]
