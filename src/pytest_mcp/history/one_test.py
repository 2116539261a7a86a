"""What is recorded of one test: its last outcomes, how long it takes, and whether that has changed."""

from collections import defaultdict
from statistics import median, quantiles

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.history import durations, flaky
from pytest_mcp.history.answer import HistoryResult, OneTest
from pytest_mcp.history.retention import SECONDS_PER_DAY
from pytest_mcp.history.runs import EMPTY, PastResult, Runs, failures_in_a_row, letters
from pytest_mcp.text import label

# The newest durations that the quartiles are of.
MAX_DURATIONS = 200
SHOWN_DAYS = 14


def one_test(runs: Runs, node_id: str) -> HistoryResult:
    test = runs.test_id(node_id)
    if test is None:
        return _unknown(runs, node_id)
    results = runs.results_of(test)
    passes = [each for each in results if each.outcome == "P" and each.seconds is not None]
    seconds = [each.seconds or 0.0 for each in passes[-MAX_DURATIONS:]]
    # One value has no quartiles.
    quartiles = quantiles(seconds * 2 if len(seconds) == 1 else seconds, n=4, method="inclusive") if seconds else None
    flake, streak = flaky.judge(node_id, results, runs), failures_in_a_row(results)
    one = OneTest(
        node_id=node_id,
        pattern=letters(results),
        runs=len(results),
        failed=sum(each.failed for each in results),
        skipped=sum(each.outcome == "S" for each in results),
        quartiles=quartiles and [durations.rounded(each) for each in quartiles],
        trend=_trend(runs, node_id, len(passes)),
        daily=_daily(runs, test, passes)[-SHOWN_DAYS:],
        flaky=flake and f"failed {flake.failed} of {flake.runs} times, and had both outcomes on unchanged code",
        failing_since=streak[-1].run.code if streak else None,
    )
    return runs.answer(test=one).model_copy(update={"runs": len(results)})


def _unknown(runs: Runs, node_id: str) -> HistoryResult:
    if several := sorted(runs.ids_below(node_id) or ()):
        (example,) = runs.names(several[:1]).values()
        problem = f"names {len(several)} recorded tests; name one of them, for example {label(example)}"
        raise InvalidParams([Fault("node_id", problem, "several_tests", node_id)])
    return EMPTY.model_copy(update={"notices": ["No run of this test is recorded."]})


def _trend(runs: Runs, node_id: str, passes: int) -> str:
    if passes < durations.LEAST_BEFORE + durations.LEAST_SINCE:
        return "unknown: too few passes"
    slow = durations.slow_tests(runs, node_id).slow
    change = next((each for each in slow.changed if each.name == node_id), None) if slow else None
    if change is None:
        return "steady"
    at = f" ({change.commit})" if change.commit else ""
    return f"{change.in_words} since {change.since}{at}, {change.runs} runs ago"


def _daily(runs: Runs, test: int, passes: list[PastResult]) -> list[float]:
    """The median of each day, oldest first. Days whose runs were thinned out have theirs in `trends`."""
    sql = "SELECT day, median FROM trends WHERE test_id = ? AND day >= ? AND median IS NOT NULL"
    days: dict[int, float] = dict(runs.store.execute(sql, (test, int(runs.since // SECONDS_PER_DAY))))
    by_day: dict[int, list[float]] = defaultdict(list)
    for each in passes:
        by_day[int(each.run.started // SECONDS_PER_DAY)].append(each.seconds or 0.0)
    days |= {day: median(seconds) for day, seconds in by_day.items()}
    return [durations.rounded(days[day]) for day in sorted(days)]
