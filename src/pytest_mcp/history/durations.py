"""Which tests and suites have become slower or faster, the largest change first, and which are the slowest.

What a machine adds is separated from what a test costs: a run's slowdown is the median over its tests of how much
longer than usual each took. Without it, one rule decides: the median of the last runs against that of the runs before.
It is a change if it matters, and if the middle between both medians separates the runs too well for chance. Outliers,
tests with two speeds, another machine and another Python are none, whatever the noise.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import comb, exp, log
from statistics import median

from pytest_mcp.history import runs as past
from pytest_mcp.history.answer import ChangedDuration, Durations, HistoryResult, SlowTest
from pytest_mcp.history.runs import EVERYTHING, PastRun, Runs, Scope
from pytest_mcp.history.store import marks

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

# A run with fewer tests does not tell a slow machine from a slow test. Small suites make do with three.
COMMON_TESTS = 8
LEAST_TESTS = 3
# Tests and runs are estimated in turns (median polish), because a test may have run only in slow runs.
_TURNS = 2
# Keeps logarithms finite.
_SHORTEST = 1e-5
# The least runs on each side of a change, and the least change.
LEAST_BEFORE = 8
LEAST_SINCE = 4
LEAST_RATIO = 1.25
LEAST_SECONDS = 0.005
# How many such separations may be expected by chance in one answer, at each place. Measured over noise of several
# shapes, one answer of a hundred about unchanged tests names a change.
CHANCE = 0.0005

# Runs and seconds, oldest first.
Timings = Sequence[tuple[PastRun, float]]
# A run, the logarithm of its duration without what machine and slowdown add, and its seconds.
Point = tuple[PastRun, float, float]


def slow_tests(scope: Scope, place: str = "", runs: Runs | None = None) -> HistoryResult:
    runs = runs or past.recent(scope)
    compared = _compared(runs)
    below = past.ids_below(scope, place)
    subjects = _slowest(scope, compared, below)
    others = [] if below is None else _slowest(scope, compared, None)
    timings = _timings(scope, sorted({*subjects, *others}), compared)
    slow = slowdowns(timings.values())
    names = past.find_names(scope.store, subjects)
    tests = {names[test]: timings[test] for test in subjects if test in timings}
    changed = _changes(tests, slow, runs)
    suites = _changes(_suites(compared), slow, runs) if below is None else []
    is_cut = len(subjects) >= COMPARED_TESTS
    return runs.answer(
        "Too few tests ran together to tell a slower test from a slower machine." if compared and not slow else "",
        "No duration changed by more than its noise." if slow and not changed and not suites else "",
        _overall([(run, exp(slow[run.id])) for run in compared if run.id in slow], runs),
        f"Only the slowest {len(tests)} tests were compared; name a path for others." if is_cut else "",
        slow=Durations(changed=changed, suites=suites, slowest=_ranked(tests)),
    )


def slowdowns(tests: Iterable[Timings]) -> dict[int, float]:
    """The logarithm of the slowdown of each run that has enough tests to tell it."""
    logs = [[(run.id, _log(seconds)) for run, seconds in timings] for timings in tests if len(timings) > 1]
    by_run: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for test, values in enumerate(logs):
        for run, value in values:
            by_run[run].append((test, value))
    needed = max(LEAST_TESTS, min(COMMON_TESTS, max(map(len, by_run.values()), default=0)))
    known = {run: values for run, values in by_run.items() if len(values) >= needed}
    slow = dict.fromkeys(known, 0.0)
    for _ in range(_TURNS):
        own = [[value - slow[run] for run, value in values if run in slow] for values in logs]
        usual = [median(values) if values else 0.0 for values in own]
        slow = {run: median(value - usual[test] for test, value in values) for run, values in known.items()}
    return slow


def change(
    name: str, timings: Timings, slow: Mapping[int, float], machines: Mapping[int, object], series: int
) -> ChangedDuration | None:
    """Of one of `series` series that an answer is about. Runs without a known slowdown are left out."""
    points = [(run, _log(seconds) - slow[run.id], seconds) for run, seconds in timings if run.id in slow]
    points = _comparable(points, machines)
    place = _place([value for _, value, _ in points], series)
    if place is None:
        return None
    before, since = points[:place], points[place:]
    ratio = exp(median(value for _, value, _ in since) - median(value for _, value, _ in before))
    seconds = max(_SHORTEST, median(seconds for *_, seconds in before))
    if seconds * abs(ratio - 1) < LEAST_SECONDS:
        return None
    first = since[0][0]
    return ChangedDuration(
        name=name,
        before=rounded(seconds),
        now=rounded(seconds * ratio),
        since=first.moment,
        commit=first.code,
        runs=len(since),
    )


def rounded(seconds: float) -> float:
    return round(seconds, 3 if seconds >= 0.01 else 5)


def _comparable(points: list[Point], machines: Mapping[int, object]) -> list[Point]:
    """Each value as its distance from what is usual on its machine.

    A machine with few values says nothing of what is usual. One that has values only before or only after the change
    would hide it, which is better than to take a new machine for a change.
    """
    by_machine: dict[object, list[float]] = defaultdict(list)
    for run, value, _ in points:
        by_machine[machines[run.id]].append(value)
    usual = {machine: median(values) for machine, values in by_machine.items() if len(values) >= LEAST_BEFORE}
    known = [point for point in points if machines[point[0].id] in usual]
    return [(run, value - usual[machines[run.id]], seconds) for run, value, seconds in known]


def _place(values: Sequence[float], series: int) -> int | None:
    """How many values there are before the change."""
    places = range(LEAST_BEFORE, len(values) - LEAST_SINCE + 1)
    chances = {place: _chance(values[:place], values[place:]) for place in places}
    best = min(chances, key=chances.__getitem__, default=0)
    return best if best and chances[best] * series <= CHANCE else None


def _chance(before: Sequence[float], since: Sequence[float]) -> float:
    """How probable it is that so few values are on the wrong side of the middle between two medians."""
    low, high = median(before), median(since)
    if abs(high - low) < log(LEAST_RATIO):
        return 1.0
    strays, moved = (sum((value > (low + high) / 2) == (high > low) for value in values) for values in (before, since))
    return comb(len(before), strays) * comb(len(since), moved) / comb(len(before) + len(since), strays + moved)


def _log(seconds: float) -> float:
    return log(max(seconds, _SHORTEST))


def _compared(runs: Runs) -> list[PastRun]:
    """The newest runs, large ones preferred; oldest first."""
    useful = [run for run in runs.runs if run.results >= min(LEAST_TESTS, runs.most_results)]
    useful.sort(key=lambda run: (run.results >= LARGE_SHARE * runs.most_results, run.started, run.id))
    return sorted(useful[-COMPARED_RUNS:], key=lambda run: (run.started, run.id))


def _slowest(scope: Scope, compared: Sequence[PastRun], below: set[int] | None) -> list[int]:
    largest = sorted(compared, key=lambda run: (run.results, run.started))[-NEWEST_RUNS:]
    newest = [*{run.id for run in [*largest, *compared[-NEWEST_RUNS:]]}]
    sql = (
        f"SELECT test_id, MAX(duration) FROM results WHERE run_id IN ({marks(newest)}) AND outcome = 'P'"  # noqa: S608
        " AND duration IS NOT NULL GROUP BY test_id ORDER BY 2 DESC"
    )
    tests = [row[0] for row in scope.store.execute(sql, newest)]
    return [test for test in tests if below is None or test in below][:COMPARED_TESTS]


def _timings(scope: Scope, tests: Sequence[int], compared: Sequence[PastRun]) -> dict[int, Timings]:
    place = {run.id: number for number, run in enumerate(compared)}
    by_test: dict[int, list[tuple[int, float]]] = defaultdict(list)
    sql = (
        f"SELECT run_id, test_id, duration FROM results WHERE test_id IN ({marks(tests)})"  # noqa: S608
        f" AND run_id IN ({marks(compared)}) AND outcome = 'P' AND duration IS NOT NULL"
    )
    for run, test, seconds in scope.store.execute(sql, [*tests, *place]):
        by_test[test].append((place[run], seconds))
    return {test: [(compared[number], seconds) for number, seconds in sorted(each)] for test, each in by_test.items()}


def _suites(compared: Sequence[PastRun]) -> dict[str, Timings]:
    """The runs of each selection; one that stopped early is not comparable."""
    suites: dict[str, list[tuple[PastRun, float]]] = defaultdict(list)
    for run in compared:
        if run.verdict in ("passed", "failed"):
            suites["all tests" if run.selection == EVERYTHING else run.selection].append((run, run.duration))
    return dict(suites)


def _changes(series: Mapping[str, Timings], slow: Mapping[int, float], runs: Runs) -> list[ChangedDuration]:
    changes = [change(name, each, slow, runs.machines, len(series)) for name, each in series.items()]
    return sorted((each for each in changes if each is not None), key=lambda each: -abs(each.now - each.before))


def _overall(slow: Timings, runs: Runs) -> str:
    common = change("", slow, dict.fromkeys(runs.by_id, 0.0), runs.machines, 1)
    if common is None:
        return ""
    return f"All tests became {common.in_words} since {common.since}: look at the machine, or at what they share."


def _ranked(tests: Mapping[str, Timings]) -> list[SlowTest]:
    medians = {name: median(seconds for _, seconds in timings[-RANKED_RUNS:]) for name, timings in tests.items()}
    slowest = sorted(medians, key=lambda name: -medians[name])[:SLOWEST]
    return [SlowTest(node_id=name, median=rounded(medians[name])) for name in slowest]
