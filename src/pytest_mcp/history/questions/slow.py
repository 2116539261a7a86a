"""Which tests and suites have become slower or faster, and which are the slowest.

In comes a scope; out come changes, the largest first. What is no change: a machine that is slow for a while, another
machine, another Python. `durations` and `changes` say how they are told apart.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log

from pytest_mcp.history.questions import change_points
from pytest_mcp.history.questions.change_points import Change
from pytest_mcp.history.questions.durations import (
    LEAST_SECONDS,
    LEAST_TESTS,
    Normalised,
    Point,
    Timing,
    by_test,
    normalise,
)
from pytest_mcp.history.questions.runs import PastRun, Runs, Scope, ids_below, marks, parts, recent
from pytest_mcp.history.questions.statistics import median

# What is read: the slowest tests in the newest runs. Together they bound the time of a question.
COMPARED_RUNS = 48
COMPARED_TESTS = 250
# The runs whose slowest tests are taken.
NEWEST_RUNS = 3
# A run with this share of the tests of the largest one is preferred: it compares most tests.
LARGE_SHARE = 0.5
# How many of the compared runs may be smaller.
SMALL_RUNS = 12
# The slowest tests are ranked by the median of so many durations.
RANKED_RUNS = 10


@dataclass(frozen=True)
class Slow:
    # By test id and, for suites, by selection.
    tests: dict[int, Change]
    suites: dict[str, Change]
    # Test id and median, the slowest first.
    slowest: list[tuple[int, float]]
    # All tests alike: the machine, or what they share.
    overall: Change | None
    runs: Runs
    compared: int = 0
    # There are more tests, faster than those that were compared.
    is_cut: bool = False
    is_comparable: bool = True
    by_run: dict[int, PastRun] = field(default_factory=dict)


def ask(scope: Scope, place: str = "", runs: Runs | None = None) -> Slow:
    runs = recent(scope) if runs is None else runs
    chosen = choose(runs)
    below = ids_below(scope, place)
    subjects = _slowest_ids(scope, chosen, below)
    reference = subjects if below is None else [*_slowest_ids(scope, chosen, None), *subjects]
    order = {run.id: place for place, run in enumerate(chosen)}
    timings = by_test(_timings(scope, sorted(set(reference)), list(order)), order)
    known = normalise(timings)
    machines = {run.id: (runs.machines[run.id], run.python) for run in chosen}
    wanted = set(subjects)
    series = {test: points for test, points in known.tests.items() if test in wanted}
    found = {test: change_points.find(points, machines, len(series)) for test, points in series.items()}
    suites = {} if below is not None else _suites(chosen, known)
    return Slow(
        tests={test: change for test, change in found.items() if change is not None},
        suites=_changed_suites(suites, machines),
        slowest=_ranked({test: timings[test] for test in timings.keys() & wanted}),
        overall=change_points.find(_overall(known, order), machines, 1),
        runs=runs,
        compared=len(series),
        is_cut=len(subjects) >= COMPARED_TESTS,
        is_comparable=bool(known.slowdowns) or not chosen,
        by_run={run.id: run for run in chosen},
    )


def choose(runs: Runs) -> list[PastRun]:
    """The newest runs with many tests, and a few of the others; oldest first."""
    useful = [run for run in reversed(runs.runs) if run.results >= min(LEAST_TESTS, runs.most_results)]
    large = [run for run in useful if run.results >= LARGE_SHARE * runs.most_results]
    small = [run for run in useful if run.results < LARGE_SHARE * runs.most_results]
    taken = large[: COMPARED_RUNS - min(len(small), SMALL_RUNS)]
    return sorted([*taken, *small[: COMPARED_RUNS - len(taken)]], key=lambda run: (run.started, run.id))


def _slowest_ids(scope: Scope, chosen: Sequence[PastRun], below: set[int] | None) -> list[int]:
    newest = [run.id for run in sorted(chosen, key=lambda run: (run.results, run.started))[-NEWEST_RUNS:]]
    newest = sorted({*newest, *(run.id for run in chosen[-NEWEST_RUNS:])})
    if not newest:
        return []
    sql = (
        f"SELECT test_id, MAX(duration) FROM results WHERE run_id IN ({marks(newest)}) AND outcome = 'P'"  # noqa: S608
        " AND duration IS NOT NULL GROUP BY test_id ORDER BY 2 DESC"
    )
    found = [row[0] for row in scope.store.select(sql, newest)]
    return [test for test in found if below is None or test in below][:COMPARED_TESTS]


def _timings(scope: Scope, tests: Sequence[int], runs: Sequence[int]) -> list[Timing]:
    found: list[Timing] = []
    for part in parts(tests):
        sql = (
            f"SELECT run_id, test_id, duration FROM results WHERE test_id IN ({marks(part)})"  # noqa: S608
            f" AND run_id IN ({marks(runs)}) AND outcome = 'P' AND duration IS NOT NULL"
        )
        found += scope.store.select(sql, [*part, *runs])
    return found


def _suites(chosen: Sequence[PastRun], known: Normalised) -> dict[str, list[Point]]:
    """The runs of each selection as one series; a run that stopped early is not comparable."""
    suites: dict[str, list[Point]] = defaultdict(list)
    for run in chosen:
        if run.id in known.slowdowns and run.verdict in ("passed", "failed"):
            value = log(max(run.duration, LEAST_SECONDS)) - known.slowdowns[run.id]
            suites[run.selection].append(Point(run.id, value, run.duration))
    return suites


def _changed_suites(suites: dict[str, list[Point]], machines: dict[int, tuple[str, str]]) -> dict[str, Change]:
    found = {selection: change_points.find(points, machines, len(suites)) for selection, points in suites.items()}
    return {selection: change for selection, change in found.items() if change is not None}


def _overall(known: Normalised, order: dict[int, int]) -> list[Point]:
    ordered = sorted(known.slowdowns, key=order.__getitem__)
    return [Point(run, known.slowdowns[run], exp(known.slowdowns[run])) for run in ordered]


def _ranked(timings: Mapping[int, list[tuple[int, float]]]) -> list[tuple[int, float]]:
    medians = {test: median([each for _, each in found[-RANKED_RUNS:]]) for test, found in timings.items()}
    return sorted(medians.items(), key=lambda entry: -entry[1])
