"""What is recorded of one test: its last outcomes, how long it takes, and whether that has changed."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median, quantiles

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.history import durations, flaky
from pytest_mcp.history import runs as past
from pytest_mcp.history.answer import HistoryResult, OneTest
from pytest_mcp.history.retention import SECONDS_PER_DAY
from pytest_mcp.history.runs import EMPTY, Runs, Scope
from pytest_mcp.text import label

# The newest durations that the quartiles are of.
MAX_DURATIONS = 200
SHOWN_DAYS = 14

# When a run started, and how long the test took in it.
Passes = Sequence[tuple[float, float]]


def one_test(scope: Scope, node_id: str) -> HistoryResult:
    test = past.find(scope, node_id)
    if test is None:
        return _unknown(scope, node_id)
    runs = past.recent(scope)
    results = past.results_of(scope, test, runs)
    passes = [(each.run.started, each.seconds) for each in results if each.outcome == "P" and each.seconds is not None]
    flake, streak = flaky.judge(node_id, results, runs), past.streak_of(results)
    one = OneTest(
        node_id=node_id,
        pattern=past.letters(results),
        runs=len(results),
        failed=sum(each.failed for each in results),
        skipped=sum(each.outcome == "S" for each in results),
        quartiles=_quartiles([seconds for _, seconds in passes[-MAX_DURATIONS:]]),
        trend=_trend(scope, node_id, runs, passes),
        daily=_daily(scope, test, passes)[-SHOWN_DAYS:],
        flaky=flake and f"failed {flake.failed} of {flake.runs} times, and had both outcomes on unchanged code",
        failing_since=streak[-1].run.code if streak else None,
    )
    return runs.answer(test=one).model_copy(update={"runs": len(results)})


def _unknown(scope: Scope, node_id: str) -> HistoryResult:
    several = sorted(past.ids_below(scope, node_id) or ())
    if several:
        (example,) = past.find_names(scope.store, several[:1]).values()
        problem = f"names {len(several)} recorded tests; name one of them, for example {label(example)}"
        raise InvalidParams([Fault("node_id", problem, "several_tests", node_id)])
    return EMPTY.model_copy(update={"notices": ["No run of this test is recorded."]})


def _quartiles(seconds: Sequence[float]) -> list[float] | None:
    # One value has none.
    twice = [*seconds, *seconds] if len(seconds) == 1 else seconds
    return [durations.rounded(each) for each in quantiles(twice, n=4, method="inclusive")] if seconds else None


def _trend(scope: Scope, node_id: str, runs: Runs, passes: Passes) -> str:
    if len(passes) < durations.LEAST_BEFORE + durations.LEAST_SINCE:
        return "unknown: too few passes"
    answer = durations.slow_tests(scope, node_id, runs).slow
    change = next((each for each in answer.changed if each.name == node_id), None) if answer else None
    if change is None:
        return "steady"
    at = f" ({change.commit})" if change.commit else ""
    return f"{change.in_words} since {change.since}{at}, {change.runs} runs ago"


def _daily(scope: Scope, test: int, passes: Passes) -> list[float]:
    """The median of each day, oldest first. Days whose runs were thinned out have theirs in `trends`."""
    sql = "SELECT day, median FROM trends WHERE test_id = ? AND day >= ? AND median IS NOT NULL"
    days: dict[int, float] = dict(scope.store.execute(sql, (test, int(scope.since // SECONDS_PER_DAY))))
    by_day: dict[int, list[float]] = defaultdict(list)
    for started, seconds in passes:
        by_day[int(started // SECONDS_PER_DAY)].append(seconds)
    days |= {day: median(seconds) for day, seconds in by_day.items()}
    return [durations.rounded(days[day]) for day in sorted(days)]
