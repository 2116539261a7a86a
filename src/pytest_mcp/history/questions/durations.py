"""Whether durations have changed: what a machine adds is separated from what a test costs.

A run's slowdown is the median over its tests of how much longer than usual each took. Without it, one rule decides: the
median of the last runs against that of the runs before. It is a change if it matters, and if the middle between both
medians separates the runs too well for chance. Outliers and tests with two speeds are none, whatever the noise.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import comb, exp, log
from statistics import median
from typing import NamedTuple

from pytest_mcp.history.answer import ChangedDuration
from pytest_mcp.history.runs import PastRun

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


class Point(NamedTuple):
    run: PastRun
    # The logarithm of the duration without the run's slowdown.
    value: float
    seconds: float


def slowdowns(tests: Iterable[Timings]) -> dict[int, float]:
    """The logarithm of the slowdown of each run that has enough tests to tell it."""
    logs = [[(run.id, _log(seconds)) for run, seconds in timings] for timings in tests if len(timings) > 1]
    by_run: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for test, values in enumerate(logs):
        for run, value in values:
            by_run[run].append((test, value))
    needed = max(LEAST_TESTS, min(COMMON_TESTS, max(map(len, by_run.values()), default=0)))
    known = {run: values for run, values in by_run.items() if len(values) >= needed}
    found = dict.fromkeys(known, 0.0)
    for _ in range(_TURNS):
        own = [[value - found[run] for run, value in values if run in found] for values in logs]
        usual = [median(values) if values else 0.0 for values in own]
        found = {run: median(value - usual[test] for test, value in values) for run, values in known.items()}
    return found


def change(
    name: str, timings: Timings, slow: Mapping[int, float], machines: Mapping[int, object], series: int
) -> ChangedDuration | None:
    """Of one of `series` series that an answer is about. Runs without a known slowdown are left out."""
    points = [Point(run, _log(seconds) - slow[run.id], seconds) for run, seconds in timings if run.id in slow]
    points = _comparable(points, machines)
    place = _place([point.value for point in points], series)
    if place is None:
        return None
    before, since = points[:place], points[place:]
    ratio = exp(median(point.value for point in since) - median(point.value for point in before))
    seconds = max(_SHORTEST, median(point.seconds for point in before))
    if seconds * abs(ratio - 1) < LEAST_SECONDS:
        return None
    first = since[0].run
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
    for point in points:
        by_machine[machines[point.run.id]].append(point.value)
    usual = {machine: median(values) for machine, values in by_machine.items() if len(values) >= LEAST_BEFORE}
    known = [(point, usual.get(machines[point.run.id])) for point in points]
    return [point._replace(value=point.value - own) for point, own in known if own is not None]


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
