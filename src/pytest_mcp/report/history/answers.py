"""The answers of `test_history`: what the questions found in the words and within the size of an answer.

Pure: findings in, an answer out. The most important entries come first; those that do not fit are counted.
"""

from collections.abc import Callable, Mapping, Sequence

from pytest_mcp.api.history import (
    DEFAULT_TOKENS,
    ChangedDuration,
    Durations,
    FailingTests,
    FlakyTest,
    HistoryResult,
    OneTest,
    SlowTest,
    TestHistory,
)
from pytest_mcp.api.results import OmittedTests
from pytest_mcp.history.questions import failing, flaky, one_test, slow
from pytest_mcp.history.questions.change_points import Change
from pytest_mcp.history.questions.flaky import Result
from pytest_mcp.history.questions.runs import EVERYTHING, PastRun, Runs
from pytest_mcp.report import serialize, tokens
from pytest_mcp.text import safe

# How many entries are tried, until the answer fits.
SIZES = (200, 100, 60, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1, 0)
SHOWN_RUNS = 40
SHOWN_TESTS = 3
SLOWEST = 5
SHOWN_DAYS = 14
BY_ORDER = "failed only in runs of everything, passed only in others; investigate_failure can tell if it is the order"
PERHAPS_FLAKY = "passed on the same code before, so perhaps flaky; investigate_failure can tell"
OMITTED = "raise max_tokens, or name a path"

Names = Mapping[int, str]
EMPTY = HistoryResult(runs=0, flaky=None, slow=None, failing=None, test=None, notices=[], omitted=None)


def fitted(made: Callable[[int], HistoryResult], request: TestHistory, *, ceiling: int) -> HistoryResult:
    """The answer with the most entries that fits; `made` makes it with at most so many."""
    most = request.max_tokens or DEFAULT_TOKENS
    answer = made(SIZES[0])
    for size in SIZES:
        answer = made(size)
        sent = safe(serialize.line(answer.model_dump(mode="json")))
        if len(sent.encode()) <= ceiling and tokens.estimate(sent) <= most:
            break
    return answer


def of_flaky(found: flaky.Answer, names: Names, most: int) -> HistoryResult:
    shown = [_flaky(each, found.runs, names) for each in found.tests[:most]]
    notices = [
        *_unread(found.runs, "No test had both outcomes on the same code." if not found.tests else None),
        *([f"{found.unexamined} further sets of failures were not compared; name a path."] if found.unexamined else []),
    ]
    return EMPTY.model_copy(
        update={
            "runs": len(found.runs.runs),
            "flaky": shown,
            "notices": notices,
            "omitted": _omitted(len(found.tests) - len(shown) + found.more),
        }
    )


def of_slow(found: slow.Slow, names: Names, most: int) -> HistoryResult:
    changed = sorted(found.tests.items(), key=lambda entry: -abs(entry[1].now - entry[1].before))
    suites = [_changed(_suite(name), change, found.by_run) for name, change in list(found.suites.items())[:most]]
    shown = [_changed(names[test], change, found.by_run) for test, change in changed[:most]]
    slowest = [SlowTest(node_id=names[test], median=_rounded(seconds)) for test, seconds in found.slowest[:SLOWEST]]
    return EMPTY.model_copy(
        update={
            "runs": len(found.runs.runs),
            "slow": Durations(changed=shown, suites=suites, slowest=slowest[: max(1, most)]),
            "notices": [*_unread(found.runs), *_of_durations(found)],
            "omitted": _omitted(len(changed) - len(shown) + len(found.suites) - len(suites)),
        }
    )


def of_failing(found: failing.Answer, names: Names, most: int) -> HistoryResult:
    shown = [_failing(group, names) for group in found.groups[:most]]
    gone = f"Left out, because a later run of everything no longer has them: {found.gone} tests that failed."
    notices = [
        *_unread(
            found.runs, "Nothing fails: each test passed in the last run that had it." if not found.groups else None
        ),
        *([gone] if found.gone else []),
    ]
    left = sum(len(group.tests) for group in found.groups[most:])
    return EMPTY.model_copy(
        update={
            "runs": len(found.runs.runs),
            "failing": shown,
            "notices": notices,
            "omitted": _omitted(left + found.more),
        }
    )


def of_test(found: one_test.Answer, most: int) -> HistoryResult:
    letters = _letters(found.results)
    since = found.failing_since
    test = OneTest(
        node_id=found.node_id,
        pattern=letters[-min(SHOWN_RUNS, 5 * most + 1) :],
        runs=len(letters),
        failed=letters.count("F") + letters.count("E"),
        skipped=letters.count("S"),
        quartiles=None if found.quartiles is None else [_rounded(value) for value in found.quartiles],
        trend=_trend(found),
        daily=[_rounded(value) for value in found.daily[-min(SHOWN_DAYS, most) :]] if most else [],
        flaky=None if found.flaky is None else rate(found.flaky),
        failing_since=None if since is None else since.code,
    )
    return EMPTY.model_copy(update={"runs": len(letters), "test": test, "notices": _unread(found.runs)})


def of_nothing(notice: str) -> HistoryResult:
    return EMPTY.model_copy(update={"notices": [notice]})


def rate(found: flaky.Flaky) -> str:
    return f"failed {found.failed} of {found.runs} times, and had both outcomes on unchanged code"


def _flaky(each: flaky.FlakyTest, runs: Runs, names: Names) -> FlakyTest:
    since = runs.by_id[each.flaky.since]
    return FlakyTest(
        node_id=names[each.test],
        failed=each.flaky.failed,
        runs=each.flaky.runs,
        pattern=_letters(each.results)[-SHOWN_RUNS:],
        states=each.flaky.states,
        since=since.moment,
        commit=since.code,
        also=each.also,
        hint=BY_ORDER if each.flaky.is_order else None,
    )


def _changed(name: str, change: Change, runs: Mapping[int, PastRun]) -> ChangedDuration:
    since = runs[change.since]
    return ChangedDuration(
        name=name,
        before=_rounded(change.before),
        now=_rounded(change.now),
        since=since.moment,
        commit=since.code,
        runs=change.runs,
    )


def _failing(group: failing.Failing, names: Names) -> FailingTests:
    return FailingTests(
        count=len(group.tests),
        node_ids=[names[test] for test in group.tests[:SHOWN_TESTS]],
        since=None if group.since is None else group.since.moment,
        commit=None if group.since is None else group.since.code,
        runs=group.runs,
        passed_at=None if group.passed is None else group.passed.code or group.passed.moment,
        failed_before=group.earlier,
        hint=PERHAPS_FLAKY if group.is_same_code else None,
    )


def _of_durations(found: slow.Slow) -> list[str]:
    notices = []
    if not found.is_comparable:
        notices.append("Too few tests ran together to tell a slower test from a slower machine.")
    elif not found.tests and not found.suites and found.runs.runs:
        notices.append("No duration changed by more than its noise.")
    if found.overall is not None:
        since = found.by_run[found.overall.since].moment
        faster = "slower" if found.overall.ratio > 1 else "faster"
        times = max(found.overall.ratio, 1 / found.overall.ratio)
        notices.append(
            f"All tests alike are {times:.1f} times {faster} since {since}: the machine, or what they share."
        )
    if found.is_cut:
        notices.append(f"Only the slowest {found.compared} tests were compared; name a path for others.")
    return notices


def _unread(runs: Runs, otherwise: str | None = None) -> list[str]:
    if not runs.runs:
        return ["No run of this project is recorded in these days."]
    skipped = f"Only the newest {len(runs.runs)} runs were read; {runs.skipped} older ones are in these days too."
    return [*([skipped] if runs.skipped else []), *([otherwise] if otherwise else [])]


def _trend(found: one_test.Answer) -> str:
    if found.change is None:
        return {"steady": "steady", "unknown": "unknown: too few passes"}[found.trend]
    slower = "slower" if found.change.ratio > 1 else "faster"
    times = max(found.change.ratio, 1 / found.change.ratio)
    since = found.runs.by_id[found.change.since]
    at = f" ({since.code})" if since.code else ""
    return f"{times:.1f} times {slower} since {since.moment}{at}, {found.change.runs} runs ago"


def _suite(selection: str) -> str:
    return "all tests" if selection == EVERYTHING else selection


def _letters(results: Sequence[Result]) -> str:
    return "".join(result.outcome for result in results)


def _omitted(number: int) -> OmittedTests | None:
    return OmittedTests(tests=number, hint=OMITTED) if number else None


def _rounded(seconds: float) -> float:
    return round(seconds, 3 if seconds >= 0.01 else 5)
