"""How long tests took, made comparable: what the machine adds is separated from what a test costs.

In come the durations of many tests in many runs; out come, for each test, values that no longer depend on how slow
each run was as a whole. A run's slowdown is the median over its tests of how much longer than usual each took. Tests
and runs are estimated in turns (median polish), because a test may have run only in slow runs.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

from pytest_mcp.history.questions.statistics import median

# Run, test, seconds.
Timing = tuple[int, int, float]
# A run with fewer tests does not tell a slow machine from a slow test. Small suites make do with three.
COMMON_TESTS = 8
LEAST_TESTS = 3
# Shorter tests measure the clock rather than the machine. They are used only where there are too few others.
TELLING_SECONDS = 0.002
# Keeps the logarithm finite.
LEAST_SECONDS = 1e-5
LEAST_LOG = log(LEAST_SECONDS)
_TURNS = 2


class Point(NamedTuple):
    run: int
    # The logarithm of the duration without the run's slowdown.
    value: float
    seconds: float


# Run and the logarithm of the duration.
Logs = dict[int, list[tuple[int, float]]]


@dataclass(frozen=True)
class Normalised:
    # In the order of the runs.
    tests: dict[int, list[Point]]
    # The logarithm of the slowdown of each run that has enough tests to tell it.
    slowdowns: dict[int, float]


def by_test(timings: Iterable[Timing], order: Mapping[int, int] | Sequence[int]) -> dict[int, list[tuple[int, float]]]:
    """Run and seconds, oldest first. `order` is the place of each run in time."""
    found: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for run, test, seconds in sorted(timings, key=lambda timing: order[timing[0]]):
        found[test].append((run, seconds))
    return found


def normalise(timings: Mapping[int, list[tuple[int, float]]]) -> Normalised:
    logs = {
        test: [(run, log(seconds) if seconds > LEAST_SECONDS else LEAST_LOG) for run, seconds in found]
        for test, found in timings.items()
    }
    slowdowns = _slowdowns(_telling(logs))
    tests = {
        test: [
            Point(run, value - slowdowns[run], seconds)
            for (run, value), (_, seconds) in zip(logs[test], found, strict=True)
            if run in slowdowns
        ]
        for test, found in timings.items()
    }
    return Normalised(tests, slowdowns)


def _telling(logs: Logs) -> Logs:
    """The tests that can tell how slow a run was: seen more than once, and long enough."""
    repeated = {test: values for test, values in logs.items() if len(values) > 1}
    least = log(TELLING_SECONDS)
    long = {test: values for test, values in repeated.items() if median([each for _, each in values]) > least}
    return long if len(long) >= COMMON_TESTS else repeated


def _slowdowns(logs: Logs) -> dict[int, float]:
    by_run: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for test, values in logs.items():
        for run, value in values:
            by_run[run].append((test, value))
    most = max(map(len, by_run.values()), default=0)
    needed = max(LEAST_TESTS, min(COMMON_TESTS, most))
    known = {run: values for run, values in by_run.items() if len(values) >= needed}
    slowdowns = dict.fromkeys(known, 0.0)
    for _ in range(_TURNS):
        usual = _usual(logs, slowdowns)
        slowdowns = {run: median([value - usual[test] for test, value in values]) for run, values in known.items()}
    return slowdowns


def _usual(logs: Logs, slowdowns: Mapping[int, float]) -> dict[int, float]:
    usual = {}
    for test, values in logs.items():
        if own := [value - slowdowns[run] for run, value in values if run in slowdowns]:
            usual[test] = median(own)
    return usual
