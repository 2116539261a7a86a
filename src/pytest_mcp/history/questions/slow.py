"""Which tests and suites have become slower or faster, the largest change first, and which are the slowest.

A machine that is slow for a while, another machine and another Python are no change; `durations` tells them apart.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp
from statistics import median

from pytest_mcp.history.answer import ChangedDuration, Durations, HistoryResult, SlowTest
from pytest_mcp.history.questions import durations
from pytest_mcp.history.questions.durations import Timings
from pytest_mcp.history.runs import (
    EVERYTHING,
    PastRun,
    Runs,
    Scope,
    find_names,
    ids_below,
    marks,
    recent,
)

# What is read: the slowest tests in the newest runs. Together they bound the time of a question.
COMPARED_RUNS = 48
COMPARED_TESTS = 250
# The runs whose slowest tests are taken: so many of the largest, and of the newest.
NEWEST_RUNS = 3
# A run with this share of the tests of the largest one is preferred: it compares most tests.
LARGE_SHARE = 0.5
# The slowest tests are ranked by the median of so many durations.
RANKED_RUNS = 10
SLOWEST = 5


def ask(scope: Scope, place: str = "", runs: Runs | None = None) -> HistoryResult:
    runs = runs or recent(scope)
    compared = _compared(runs)
    below = ids_below(scope, place)
    subjects = _slowest(scope, compared, below)
    others = [] if below is None else _slowest(scope, compared, None)
    timings = _timings(scope, sorted({*subjects, *others}), compared)
    slow = durations.slowdowns(timings.values())
    names = find_names(scope.store, subjects)
    tests = {names[test]: timings[test] for test in subjects if test in timings}
    changed = _changes(tests, slow, runs)
    suites = _changes(_suites(compared), slow, runs) if below is None else []
    return runs.answer(
        "Too few tests ran together to tell a slower test from a slower machine." if compared and not slow else "",
        "No duration changed by more than its noise." if slow and not changed and not suites else "",
        _overall([(run, exp(slow[run.id])) for run in compared if run.id in slow], runs),
        f"Only the slowest {len(tests)} tests were compared; name a path for others."
        if len(subjects) >= COMPARED_TESTS
        else "",
        slow=Durations(changed=changed, suites=suites, slowest=_ranked(tests)),
    )


def _compared(runs: Runs) -> list[PastRun]:
    """The newest runs, large ones preferred; oldest first."""
    useful = [run for run in runs.runs if run.results >= min(durations.LEAST_TESTS, runs.most_results)]
    useful.sort(key=lambda run: (run.results >= LARGE_SHARE * runs.most_results, run.started, run.id))
    return sorted(useful[-COMPARED_RUNS:], key=lambda run: (run.started, run.id))


def _slowest(scope: Scope, compared: Sequence[PastRun], below: set[int] | None) -> list[int]:
    largest = sorted(compared, key=lambda run: (run.results, run.started))[-NEWEST_RUNS:]
    newest = [*{run.id for run in [*largest, *compared[-NEWEST_RUNS:]]}]
    sql = (
        f"SELECT test_id, MAX(duration) FROM results WHERE run_id IN ({marks(newest)}) AND outcome = 'P'"  # noqa: S608
        " AND duration IS NOT NULL GROUP BY test_id ORDER BY 2 DESC"
    )
    found = [row[0] for row in scope.store.select(sql, newest)]
    return [test for test in found if below is None or test in below][:COMPARED_TESTS]


def _timings(scope: Scope, tests: Sequence[int], compared: Sequence[PastRun]) -> dict[int, Timings]:
    place = {run.id: number for number, run in enumerate(compared)}
    found: dict[int, list[tuple[int, float]]] = defaultdict(list)
    sql = (
        f"SELECT run_id, test_id, duration FROM results WHERE test_id IN ({marks(tests)})"  # noqa: S608
        f" AND run_id IN ({marks(compared)}) AND outcome = 'P' AND duration IS NOT NULL"
    )
    for run, test, seconds in scope.store.select(sql, [*tests, *place]):
        found[test].append((place[run], seconds))
    return {test: [(compared[number], seconds) for number, seconds in sorted(each)] for test, each in found.items()}


def _suites(compared: Sequence[PastRun]) -> dict[str, Timings]:
    """The runs of each selection; one that stopped early is not comparable."""
    suites: dict[str, list[tuple[PastRun, float]]] = defaultdict(list)
    for run in compared:
        if run.verdict in ("passed", "failed"):
            suites["all tests" if run.selection == EVERYTHING else run.selection].append((run, run.duration))
    return dict(suites)


def _changes(series: Mapping[str, Timings], slow: Mapping[int, float], runs: Runs) -> list[ChangedDuration]:
    found = [durations.change(name, each, slow, runs.machines, len(series)) for name, each in series.items()]
    return sorted((each for each in found if each is not None), key=lambda each: -abs(each.now - each.before))


def _overall(slowdowns: Timings, runs: Runs) -> str:
    found = durations.change("", slowdowns, dict.fromkeys(runs.by_id, 0.0), runs.machines, 1)
    if found is None:
        return ""
    return f"All tests became {found.in_words} since {found.since}: look at the machine, or at what they share."


def _ranked(tests: Mapping[str, Timings]) -> list[SlowTest]:
    medians = {name: median(seconds for _, seconds in timings[-RANKED_RUNS:]) for name, timings in tests.items()}
    slowest = sorted(medians, key=lambda name: -medians[name])[:SLOWEST]
    return [SlowTest(node_id=name, median=durations.rounded(medians[name])) for name in slowest]
