"""Which tests and suites have become slower or faster, the largest change first, and which are the slowest.

Only runs on one machine by one Python are compared: those of which there are most. What a busy machine adds to all
tests of a run alike is subtracted: the median of how much longer than usual each of them took. Then one rule decides,
in `change`: the median of the last runs against that of the runs before, beyond the spread of both. Durations are
compared as logarithms: twice as long is as far as half as long.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import exp, log
from statistics import median, mode

from pytest_mcp.history.request_and_result import ChangedDuration, Durations, HistoryResult, SlowTest
from pytest_mcp.history.runs import EVERYTHING, PastRun, Runs
from pytest_mcp.history.store import marks

# What is read: the slowest tests in the newest runs. Together they bound the time of a question.
COMPARED_RUNS = 48
COMPARED_TESTS = 250
# How many runs the slowest tests are taken from, the newest of equally large ones.
LARGEST_RUNS = 6
# A run with this share of the tests of the largest one is preferred: it compares most tests.
LARGE_SHARE = 0.5
# The slowest tests are ranked by the median of so many durations.
RANKED_RUNS = 10
SLOWEST = 5
# A quicker test is none of them, however few there are.
LEAST_SLOW = 0.001
# A run with fewer tests does not tell a slow machine from a slow test.
LEAST_TESTS = 3
# The least runs on each side of a change, and the least change.
LEAST_BEFORE = 8
LEAST_SINCE = 5
LEAST_RATIO = 1.25
LEAST_SECONDS = 0.005
# The share of runs that may be outliers. Measured over noise of several shapes: of a hundred answers about unchanged
# tests, one names a change.
STRAYS = 0.18
# Keeps logarithms finite.
_SHORTEST = 1e-5

# Runs with the logarithm of a duration in each, oldest first.
Series = list[tuple[PastRun, float]]


def slow_tests(runs: Runs, place: str = "") -> HistoryResult:
    compared = _compared(runs)
    below = runs.ids_below(place)
    every = _slowest_first(runs, compared)
    subjects = [test for test in every if below is None or test in below][:COMPARED_TESTS]
    series = _series(runs, sorted({*subjects, *every[:COMPARED_TESTS]}), compared)
    slow = slowdowns(series.values())
    names = runs.names(subjects)
    tests = {names[test]: series[test] for test in subjects if test in series}
    changed = _changes(tests, slow)
    suites = _changes(_suites(compared), slow) if below is None else []
    all_alike = change("", [(run, slow[run.id]) for run in compared if run.id in slow])
    is_cut = len(subjects) == COMPARED_TESTS
    return runs.answer(
        "Too few tests ran together to tell a slower test from a slower machine." if compared and not slow else "",
        "No duration changed by more than its noise." if slow and not changed and not suites else "",
        f"All tests became {all_alike.in_words} since {all_alike.since}: look at the machine, or at what they share."
        if all_alike
        else "",
        f"Only the slowest {len(tests)} tests were compared; name a path for others." if is_cut else "",
        slow=Durations(changed=changed, suites=suites, slowest=_slowest(tests)),
    )


def slowdowns(tests: Iterable[Series]) -> dict[int, float]:
    """The logarithm of the slowdown of each run that has enough tests to tell it."""
    by_run: dict[int, list[float]] = defaultdict(list)
    for series in tests:
        usual = median(value for _, value in series)
        for run, value in series if len(series) > 1 else ():
            by_run[run.id].append(value - usual)
    return {run: median(values) for run, values in by_run.items() if len(values) >= LEAST_TESTS}


def change(name: str, series: Series) -> ChangedDuration | None:
    """A series is parted where its values are nearest to the medians of both parts.

    That is a change if nearly all values of each part are well beyond the median of the other: neither outliers nor a
    test with two speeds make one.
    """
    values = [value for _, value in series]
    places = range(LEAST_BEFORE, len(values) - LEAST_SINCE + 1)
    if not places:
        return None
    place = min(places, key=lambda place: _distance(values[:place]) + _distance(values[place:]))
    before, now = median(values[:place]), median(values[place:])
    sign = 1 if now > before else -1
    gaps = [(value - before) * sign for value in values[place:]], [(now - value) * sign for value in values[:place]]
    least = min(sorted(each)[int(STRAYS * (len(each) - 1))] for each in gaps)
    if least < log(LEAST_RATIO) or abs(exp(now) - exp(before)) < LEAST_SECONDS:
        return None
    first, seconds = series[place][0], {"before": rounded(exp(before)), "now": rounded(exp(now))}
    return ChangedDuration(name=name, **seconds, since=first.moment, commit=first.code, runs=len(values) - place)


def _distance(values: Sequence[float]) -> float:
    middle = median(values)
    return sum(abs(value - middle) for value in values)


def rounded(seconds: float) -> float:
    return round(seconds, 3 if seconds >= 0.01 else 5)


def _compared(runs: Runs) -> list[PastRun]:
    """The newest runs of the usual machine, large ones preferred; oldest first."""
    useful = [run for run in runs.runs if run.results >= min(LEAST_TESTS, runs.most_results)]
    usual = mode(runs.machines[run.id] for run in reversed(useful)) if useful else None
    useful = [run for run in useful if runs.machines[run.id] == usual]
    useful.sort(key=lambda run: (run.results >= LARGE_SHARE * runs.most_results, run.started, run.id))
    return sorted(useful[-COMPARED_RUNS:], key=lambda run: (run.started, run.id))


def _slowest_first(runs: Runs, compared: Sequence[PastRun]) -> list[int]:
    """The tests of the largest runs."""
    largest = [run.id for run in sorted(compared, key=lambda run: (run.results, run.started))[-LARGEST_RUNS:]]
    sql = (
        f"SELECT test_id, MAX(duration) FROM results WHERE run_id IN ({marks(largest)}) AND outcome = 'P'"  # noqa: S608
        " AND duration IS NOT NULL GROUP BY test_id ORDER BY 2 DESC"
    )
    return [row[0] for row in runs.store.execute(sql, largest)]


def _series(runs: Runs, tests: Sequence[int], compared: Sequence[PastRun]) -> dict[int, Series]:
    by_test: dict[int, dict[int, float]] = defaultdict(dict)
    sql = (
        f"SELECT run_id, test_id, duration FROM results WHERE test_id IN ({marks(tests)})"  # noqa: S608
        f" AND run_id IN ({marks(compared)}) AND outcome = 'P' AND duration IS NOT NULL"
    )
    for run, test, seconds in runs.store.execute(sql, [*tests, *(run.id for run in compared)]):
        by_test[test][run] = seconds
    return {
        test: [(run, _log(seconds[run.id])) for run in compared if run.id in seconds]
        for test, seconds in by_test.items()
    }


def _suites(compared: Sequence[PastRun]) -> dict[str, Series]:
    """The runs of each selection; one that stopped early is not comparable."""
    suites: dict[str, Series] = defaultdict(list)
    for run in compared:
        if run.verdict in ("passed", "failed"):
            suites["all tests" if run.selection == EVERYTHING else run.selection].append((run, _log(run.duration)))
    return suites


def _log(seconds: float) -> float:
    return log(max(seconds, _SHORTEST))


def _changes(series: dict[str, Series], slow: dict[int, float]) -> list[ChangedDuration]:
    """Runs without a known slowdown do not count."""
    own = {
        name: [(run, value - slow[run.id]) for run, value in each if run.id in slow] for name, each in series.items()
    }
    changes = [change(name, each) for name, each in own.items()]
    return sorted(filter(None, changes), key=lambda each: -abs(each.now - each.before))


def _slowest(tests: dict[str, Series]) -> list[SlowTest]:
    medians = {name: exp(median(value for _, value in series[-RANKED_RUNS:])) for name, series in tests.items()}
    slow = [name for name, seconds in medians.items() if seconds >= LEAST_SLOW]
    slowest = sorted(slow, key=lambda name: -medians[name])[:SLOWEST]
    return [SlowTest(node_id=name, median=rounded(medians[name])) for name in slowest]
