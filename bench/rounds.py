"""Take samples of several variants in turns, and compare them.

The machine is shared and its speed changes from minute to minute. So times are not compared; the result is the ratio
of two times of the same round, and the median of these ratios over all rounds.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

# Digits in the results file; enough for every figure that is shown.
DIGITS = 4

# Takes one sample and returns its seconds. Preparation before the clock starts is its own task.
Sample = Callable[[], float]


@dataclass(frozen=True)
class Spread:
    """A median and the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        # The standard library needs two values; the quartiles of one value are that value.
        low, median, high = statistics.quantiles([*values, *values] if len(values) == 1 else values, method="inclusive")
        return cls(round(median, DIGITS), round(low, DIGITS), round(high, DIGITS))


@dataclass(frozen=True)
class Rounds:
    """The seconds of each variant, round by round."""

    seconds: Mapping[str, Sequence[float]]

    @property
    def count(self) -> int:
        return min(map(len, self.seconds.values()))

    def spread(self, variant: str) -> Spread:
        return Spread.of(self.seconds[variant])

    def ratio(self, variant: str, against: str) -> Spread:
        pairs = zip(self.seconds[variant], self.seconds[against], strict=True)
        return Spread.of([own / other for own, other in pairs])


def race(
    variants: Mapping[str, Sample],
    *,
    rounds: int,
    before: Callable[[], object] = lambda: None,
    warm_up: Callable[[], object] | None = None,
) -> Rounds:
    """Run every variant once in each round, and `before` before each sample.

    The first round is not counted: it writes bytecode, fills caches and warms the server. If a round takes
    minutes, `warm_up` does this in less time instead.
    """
    if warm_up is None:
        turn(variants, 0, before)
    else:
        warm_up()
    taken = [turn(variants, number, before) for number in range(1, rounds + 1)]
    return Rounds({name: [seconds[name] for seconds in taken] for name in variants})


def turn(variants: Mapping[str, Sample], number: int, before: Callable[[], object]) -> dict[str, float]:
    seconds = {}
    for name in rotated([*variants], number):
        before()
        seconds[name] = variants[name]()
    return seconds


def rotated(names: Sequence[str], by: int) -> list[str]:
    """Change the order in every round, because a variant may be affected by the one before it."""
    start = by % len(names)
    return [*names[start:], *names[:start]]
