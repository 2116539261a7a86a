"""Whether a series of values has changed, and when. Pure.

A change is told only if all of these hold: it is large enough to matter, it is larger than the usual noise, and ranks
alone make chance improbable. The last bound holds for noise of any shape; it is divided by the number of series that
are looked at, so that one answer about any number of unchanged tests names a change by chance in at most `ERROR`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from pytest_mcp.history.questions.durations import Point
from pytest_mcp.history.questions.statistics import median, noise, rank_error

# The share of answers that may name a change where there is none.
ERROR = 0.01
# How many of the newest runs may be the changed ones: a large change is found after four, a small one after more.
WINDOWS = range(4, 17)
LEAST_BEFORE = 8
LEAST_RATIO = 1.25
LEAST_SECONDS = 0.005
# How many times the noise of one run a shift has to be that four runs show; with more runs less is enough.
NOISE_FACTOR = 2.5
# A shift of the newest runs below this share of the least one is not looked into.
SCREENED = 0.8


@dataclass(frozen=True)
class Change:
    # The median in seconds, and what that has become on a machine as fast as then.
    before: float
    now: float
    # The first run after it, and how many there are since.
    since: int
    runs: int

    @property
    def ratio(self) -> float:
        return self.now / self.before


def find(points: Sequence[Point], machines: Mapping[int, object], series: int) -> Change | None:
    """The change of one of `series` series, the first run of which is told as exactly as can be."""
    usable = _comparable(points, machines)
    if len(usable) < WINDOWS[0] + LEAST_BEFORE or not _may_have_changed([point.value for point in usable]):
        return None
    for window in WINDOWS:
        if len(usable) >= window + LEAST_BEFORE and _is_change(usable[:-window], usable[-window:], series):
            return _described(usable)
    return None


def _may_have_changed(values: Sequence[float]) -> bool:
    return abs(median(values[-WINDOWS[0] :]) - median(values)) >= SCREENED * log(LEAST_RATIO)


def _comparable(points: Sequence[Point], machines: Mapping[int, object]) -> list[Point]:
    """Each value as its distance from what is usual on its machine.

    A machine with few values says nothing of what is usual. One that has values only before or only after the change
    would hide it, which is better than to take a new machine for a change.
    """
    by_machine: dict[object, list[Point]] = defaultdict(list)
    for point in points:
        by_machine[machines[point.run]].append(point)
    if len(by_machine) == 1:
        return list(points)
    usual = {
        machine: median([point.value for point in found])
        for machine, found in by_machine.items()
        if len(found) >= LEAST_BEFORE
    }
    return [
        Point(run, value - usual[machines[run]], seconds) for run, value, seconds in points if machines[run] in usual
    ]


def _is_change(before: Sequence[Point], now: Sequence[Point], series: int) -> bool:
    old, new = [point.value for point in before], [point.value for point in now]
    shift = median(new) - median(old)
    if abs(shift) < max(log(LEAST_RATIO), NOISE_FACTOR * noise(old) * sqrt(WINDOWS[0] / len(new))):
        return False
    if _seconds(before) * abs(exp(shift) - 1) < LEAST_SECONDS:
        return False
    error = rank_error(old, new) if shift > 0 else rank_error(new, old)
    return error * series * len(WINDOWS) * 2 <= ERROR


def _described(points: Sequence[Point]) -> Change:
    split = _split([point.value for point in points])
    before, now = points[:split], points[split:]
    shift = median([point.value for point in now]) - median([point.value for point in before])
    return Change(_seconds(before), _seconds(before) * exp(shift), now[0].run, len(now))


def _split(values: Sequence[float]) -> int:
    """Where two medians fit the values best."""
    places = range(LEAST_BEFORE, len(values) - WINDOWS[0] + 1)
    return min(places, key=lambda place: _distance(values[:place]) + _distance(values[place:]))


def _distance(values: Sequence[float]) -> float:
    middle = median(values)
    return sum(abs(value - middle) for value in values)


def _seconds(points: Sequence[Point]) -> float:
    return median([point.seconds for point in points])
