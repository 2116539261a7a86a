import random
from itertools import combinations
from math import comb, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.history.questions.statistics import median, noise, quartiles, rank_error


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_half_of_the_values_lie_on_each_side_of_the_median(values: list[int]) -> None:
    middle = median(values)

    assert sum(value < middle for value in values) <= len(values) / 2
    assert sum(value > middle for value in values) <= len(values) / 2
    low, second, high = quartiles(values)
    assert low <= second == middle <= high


def test_one_wild_value_does_not_change_the_noise() -> None:
    calm = [10.0, 10.1, 9.9, 10.2, 9.8]

    assert noise([*calm, 1000.0]) < 0.4


@pytest.mark.parametrize(("lower", "higher"), [(3, 4), (4, 3), (2, 6), (5, 1), (6, 4)])
def test_the_rank_error_is_never_below_the_share_of_all_orders_with_such_an_error(lower: int, higher: int) -> None:
    """Compared with every order of the values: that is what makes it a bound for noise of any shape."""
    every = range(lower + higher)
    splits = [set(chosen) for chosen in combinations(every, higher)]
    errors = [rank_error([value for value in every if value not in chosen], sorted(chosen)) for chosen in splits]

    assert all(sum(other <= error for other in errors) / len(splits) <= error + 1e-9 for error in errors)
    assert isclose(min(errors), min(1, 2 / comb(lower + higher, higher)))


def test_values_that_are_equal_are_no_difference() -> None:
    assert rank_error([1.0] * 9, [1.0] * 9) == 1.0


def test_the_rank_error_of_equal_samples_is_rarely_small() -> None:
    rng = random.Random(1)
    draws = [
        rank_error([rng.paretovariate(1) for _ in range(9)], [rng.paretovariate(1) for _ in range(4)])
        for _ in range(2000)
    ]

    assert sum(error <= 0.05 for error in draws) / len(draws) < 0.065
