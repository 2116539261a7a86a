"""How often a test may fail in truth, when it failed k times in n runs.

Exact (Clopper-Pearson) bounds at 95 %. Where all runs agree the bound is one-sided: five passes in five runs are still
possible for a test that fails in 45 % of its runs.
"""

from collections.abc import Callable
from math import comb

# What is left to chance.
ERROR = 0.05
# A wider interval says nothing: after one pass and one failure it is 1 % to 99 %.
WIDEST = 0.6
_STEPS = 40


def interval(failed: int, runs: int) -> tuple[float, float]:
    """The lowest and the highest rate of failure that these runs do not contradict."""
    error = ERROR if failed in (0, runs) else ERROR / 2
    lowest = 0.0 if failed == 0 else _root(lambda rate: 1 - _at_most(failed - 1, runs, rate) - error)
    highest = 1.0 if failed == runs else _root(lambda rate: error - _at_most(failed, runs, rate))
    return lowest, highest


def is_telling(failed: int, runs: int) -> bool:
    lowest, highest = interval(failed, runs)
    return failed in (0, runs) or highest - lowest <= WIDEST


def words(failed: int, runs: int) -> str:
    """For evidence: what is still possible."""
    lowest, highest = interval(failed, runs)
    if failed == 0:
        return f"a failure rate up to {_percent(highest)} is still possible"
    if failed == runs:
        return f"a pass rate up to {_percent(1 - lowest)} is still possible"
    return f"it fails in {_percent(lowest)} to {_percent(highest)} of runs"


def _percent(rate: float) -> str:
    return f"{100 * rate:.0f} %"


def _at_most(failed: int, runs: int, rate: float) -> float:
    """The probability of so many failures or fewer."""
    return sum(comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(failed + 1))


def _root(rising: Callable[[float], float]) -> float:
    """Where a function that rises from below 0 to above 0 between 0 and 1 is 0."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2
