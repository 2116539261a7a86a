from math import comb

import pytest

from pytest_mcp.investigation import rates


def test_runs_that_all_passed_leave_what_one_run_in_twenty_would_still_show() -> None:
    assert rates.interval(0, 5) == pytest.approx((0.0, 1 - 0.05 ** (1 / 5)))
    assert rates.words(0, 5) == "a failure rate up to 45 % is still possible"


def test_runs_that_all_failed_leave_the_same_for_passes() -> None:
    assert rates.interval(5, 5) == pytest.approx((0.05 ** (1 / 5), 1.0))
    assert rates.words(5, 5) == "a pass rate up to 45 % is still possible"


# From the tables of Clopper and Pearson.
@pytest.mark.parametrize(
    ("failed", "runs", "lowest", "highest"),
    [(1, 2, 0.0126, 0.9874), (1, 5, 0.0051, 0.7164), (3, 10, 0.0667, 0.6525), (10, 50, 0.1003, 0.3372)],
)
def test_mixed_runs_leave_the_exact_interval(failed: int, runs: int, lowest: float, highest: float) -> None:
    assert rates.interval(failed, runs) == pytest.approx((lowest, highest), abs=1e-4)


def test_an_interval_that_nearly_everything_lies_in_tells_nothing() -> None:
    assert [rates.is_telling(failed, runs) for failed, runs in ((1, 2), (2, 5), (0, 2), (2, 2))] == [0, 0, 1, 1]
    assert rates.is_telling(3, 10)


@pytest.mark.parametrize("runs", [1, 2, 7, 50])
@pytest.mark.parametrize("rate", [0.01, 0.2, 0.5, 0.95])
def test_the_true_rate_is_inside_in_nineteen_of_twenty_cases(runs: int, rate: float) -> None:
    def is_inside(failed: int) -> bool:
        lowest, highest = rates.interval(failed, runs)
        return lowest <= rate <= highest

    chances = [comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(runs + 1)]

    assert sum(chance for k, chance in enumerate(chances) if is_inside(k)) >= 0.925
