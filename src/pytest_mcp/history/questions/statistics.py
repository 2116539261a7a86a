"""Robust statistics for few, noisy numbers: medians, their spread, and whether two samples differ. Pure.

Nothing here assumes a distribution. `rank_error` is exact: among samples that do not differ, the share of pairs that
are at least as far apart is at most what it returns.
"""

from collections.abc import Sequence
from math import comb

# The median distance from the median, as a standard deviation, if the noise is normal.
MAD_TO_SIGMA = 1.4826
# With so many inversions no difference is significant here; counting them would only take time.
MOST_INVERSIONS = 150


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The first quartile, the median and the third, each by linear interpolation."""
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    return at(0.25), at(0.5), at(0.75)


def noise(values: Sequence[float]) -> float:
    """How far a value usually is from the median; outliers do not count."""
    middle = median(values)
    return MAD_TO_SIGMA * median([abs(value - middle) for value in values])


def rank_error(lower: Sequence[float], higher: Sequence[float]) -> float:
    """How probable it is at most that `higher` lies so far above `lower` by chance; equal values count against it.

    The better of two exact tests. The first counts pairs in the wrong order (Mann and Whitney), the second only how
    many of `lower` reach the lowest of `higher`: it finds a difference where `lower` has spikes.
    """
    inversions = sum(low >= high for low in lower for high in higher)
    reaching = sum(low >= min(higher) for low in lower)
    total = comb(len(lower) + len(higher), len(higher))
    by_pairs = sum(_arrangements(len(lower), len(higher), inversions)) if inversions <= MOST_INVERSIONS else total
    by_lowest = comb(reaching + len(higher), len(higher))
    return min(1.0, 2 * min(by_pairs, by_lowest) / total)


def _arrangements(lower: int, higher: int, most: int) -> list[int]:
    """How many orders of so many values have 0, 1, ..., `most` inversions: the Gaussian binomial coefficients."""
    counts = [1] + [0] * most
    small = min(lower, higher)
    large = max(lower, higher)
    for factor in range(1, small + 1):
        # Times 1 - q^(large + factor), then divided by 1 - q^factor.
        for power in range(most, large + factor - 1, -1):
            counts[power] -= counts[power - large - factor]
        for power in range(factor, most + 1):
            counts[power] += counts[power - factor]
    return counts
