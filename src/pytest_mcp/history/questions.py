"""What recorded runs say: the handler of `test_history`, and one line of evidence for `investigate_failure`.

What is flaky is decided in `flaky`, what is slow in `durations`, all else here.

A test fails now if the last recorded outcome that is not a skip is a failure. One that a later run of everything no
longer has was renamed or removed; it is only counted.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from statistics import median, quantiles
from typing import NamedTuple

import anyio

from pytest_mcp.api.errors import ExecutionFailed, Fault, InvalidParams, RunFacts
from pytest_mcp.api.results import OmittedTests
from pytest_mcp.config.model import Config
from pytest_mcp.history import durations, flaky, remarks
from pytest_mcp.history.request_and_result import (
    DEFAULT_TOKENS,
    About,
    Durations,
    FailingTests,
    HistoryResult,
    OneTest,
    TestHistory,
)
from pytest_mcp.history.retention import SECONDS_PER_DAY
from pytest_mcp.history.runs import (
    EMPTY,
    EVERYTHING,
    OMITTED,
    WHOLE_SHARE,
    PastResult,
    PastRun,
    Runs,
    failures_in_a_row,
    find_runs,
    letters,
    reading,
)
from pytest_mcp.history.store import HistoryUnavailable
from pytest_mcp.process.background import in_thread
from pytest_mcp.report import serialize, tokens
from pytest_mcp.run.run import Project
from pytest_mcp.text import label, safe

# A question takes a fifth of a second. This only ends one to a database that does not answer.
MAX_ANSWER = 5

# How many entries are tried, until the answer fits.
SIZES = (200, 100, 60, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1, 0)
# The newest durations that the quartiles are of.
MAX_DURATIONS = 200
SHOWN_DAYS = 14
# The most failing tests that are looked into, those that failed last first.
MAX_TESTS = 300
# The most failures of one test.
MAX_FAILURES = 200
SHOWN_TESTS = 3
PERHAPS_FLAKY = "passed on the same code before, so perhaps flaky; investigate_failure can tell"
_LAST = """
    SELECT f.test_id, f.last,
        (SELECT p.run_id FROM results p WHERE p.test_id = f.test_id AND p.outcome = 'P' ORDER BY p.run_id DESC LIMIT 1)
    FROM (SELECT test_id, MAX(run_id) AS last FROM results WHERE outcome IN ('F', 'E') AND run_id >= ?
        GROUP BY test_id) f ORDER BY f.last DESC"""
_FAILURES = """
    SELECT run_id, cause FROM results WHERE test_id = ? AND outcome IN ('F', 'E') ORDER BY run_id DESC LIMIT ?"""


class _Streak(NamedTuple):
    """The failures of a test since it passed the last time."""

    first: int
    runs: int
    passed: int | None
    cause: str | None


async def answer(request: TestHistory, project: Project) -> HistoryResult:
    with anyio.move_on_after(MAX_ANSWER):
        return await in_thread(partial(_answer, request, project.config))
    raise _unreadable(f"it did not answer within {MAX_ANSWER} seconds")


async def evidence(config: Config, node_id: str) -> list[str]:
    """At most one line; none if the history cannot be read in time."""
    if config.history is None:
        return []
    past = await remarks.remarks_in_time(config.history, config.root, [[node_id]])
    return [f"recorded runs: {words}" for words in past.values()]


def _answer(request: TestHistory, config: Config) -> HistoryResult:
    assert config.history is not None
    try:
        with reading(config.history, config.root, time.time() - request.days * SECONDS_PER_DAY) as runs:
            whole = QUESTIONS[request.about](runs, request.place)
            return fitted(whole, most_tokens=request.max_tokens or DEFAULT_TOKENS, ceiling=config.max_reply_bytes)
    except HistoryUnavailable as error:
        raise _unreadable(str(error)) from error


def _unreadable(why: str) -> ExecutionFailed:
    return ExecutionFailed("environment", f"The history cannot be read: {why}", RunFacts())


def fitted(whole: HistoryResult, *, most_tokens: int, ceiling: int) -> HistoryResult:
    """With as many entries as fit; the others are counted."""
    for size in SIZES:
        answer = _cut(whole, size)
        sent = safe(serialize.line(answer.model_dump(mode="json")))
        if len(sent.encode()) <= ceiling and tokens.estimate(sent) <= most_tokens:
            break
    return answer


def _cut(whole: HistoryResult, most: int) -> HistoryResult:
    """At most so many entries of each list, and of one test a part of its runs and days."""
    slow, failing, test = whole.slow, whole.failing, whole.test
    left = whole.omitted.tests if whole.omitted else 0
    left += len((whole.flaky or [])[most:]) + sum(group.count for group in (failing or [])[most:])
    if slow is not None:
        left += len(slow.changed[most:]) + len(slow.suites[most:])
        slow = Durations(changed=slow.changed[:most], suites=slow.suites[:most], slowest=slow.slowest[: max(1, most)])
    if test is not None:
        daily = test.daily[max(0, len(test.daily) - most) :]
        test = test.model_copy(update={"pattern": test.pattern[-5 * most - 1 :], "daily": daily})
    lists = {"flaky": whole.flaky and whole.flaky[:most], "failing": failing and failing[:most]}
    omitted = OmittedTests(tests=left, hint=OMITTED) if left else None
    return whole.model_copy(update={**lists, "slow": slow, "test": test, "omitted": omitted})


def failing_tests(runs: Runs, place: str = "") -> HistoryResult:
    """Since which run, at which commit it still passed, and whether it failed before that."""
    below = runs.ids_below(place)
    last = [
        (test, failure, passed)
        for test, failure, passed in runs.store.execute(_LAST, (runs.first_id,))
        if failure in runs.by_id and (passed is None or passed < failure) and (below is None or test in below)
    ]
    newest_whole = _newest_whole(runs)
    now = {test: passed for test, failure, passed in last if failure >= newest_whole}
    gone, more = len(last) - len(now), len(now) - MAX_TESTS
    return runs.answer(
        "" if now else "Nothing fails: each test passed in the last run that had it.",
        f"{gone} failed test(s) are left out: a later run of the whole suite no longer has them." if gone else "",
        failing=_groups(runs, dict([*now.items()][:MAX_TESTS])),
        omitted=OmittedTests(tests=more, hint=OMITTED) if more > 0 else None,
    )


def _newest_whole(runs: Runs) -> int:
    """The id of the newest run that had every test; 0 if there is none."""
    least = WHOLE_SHARE * runs.most_results
    everything = [run for run in runs.runs if run.selection == EVERYTHING]
    whole = [run for run in everything if run.verdict == "passed" or (run.errors == 0 and run.results >= least)]
    return max((run.id for run in whole), default=0)


def _groups(runs: Runs, failing: dict[int, int | None]) -> list[FailingTests]:
    """Tests that fail since the same run with the same cause are one. The newest first, the largest of those."""
    groups: dict[tuple[_Streak, bool], list[int]] = defaultdict(list)
    earlier: dict[int, int] = {}
    for test, passed in failing.items():
        failures = runs.store.execute(_FAILURES, (test, MAX_FAILURES))
        current = [run for run, _ in failures if passed is None or run > passed]
        earlier[test] = len(failures) - len(current)
        groups[_Streak(current[-1], len(current), passed, failures[0][1]), earlier[test] > 0].append(test)
    known = find_runs(runs.store, [run for streak, _ in groups for run in (streak.first, streak.passed) if run])
    names = runs.names([test for tests in groups.values() for test in tests[:SHOWN_TESTS]])
    ordered = sorted(groups.items(), key=lambda group: (-group[0][0].first, -len(group[1])))
    return [
        _group(streak, len(tests), [names[test] for test in tests[:SHOWN_TESTS]], earlier[tests[0]], known)
        for (streak, _), tests in ordered
    ]


def _group(
    streak: _Streak, count: int, node_ids: list[str], failed_before: int, known: dict[int, PastRun]
) -> FailingTests:
    since, last_pass = known.get(streak.first), known.get(streak.passed or 0)
    is_same_code = bool(since and last_pass and since.state is not None and since.state == last_pass.state)
    return FailingTests(
        count=count,
        node_ids=node_ids,
        since=since and since.moment,
        commit=since and since.code,
        runs=streak.runs,
        passed_at=last_pass and (last_pass.code or last_pass.moment),
        failed_before=failed_before,
        hint=PERHAPS_FLAKY if is_same_code else None,
    )


def one_test(runs: Runs, node_id: str) -> HistoryResult:
    """Its last outcomes, how long it takes, and whether that has changed."""
    test = runs.test_id(node_id)
    if test is None:
        return _unknown_test(runs, node_id)
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


def _unknown_test(runs: Runs, node_id: str) -> HistoryResult:
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


QUESTIONS: dict[About, Callable[[Runs, str], HistoryResult]] = {
    "flaky": flaky.flaky_tests,
    "slow": durations.slow_tests,
    "failing": failing_tests,
    "test": one_test,
}
