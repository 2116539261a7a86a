from collections.abc import Callable, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.investigation.bisection import Search

Effect = Callable[[Sequence[int]], bool | None]


class Tries:
    """An oracle that keeps what it was asked."""

    def __init__(self, has_effect: Effect, most: int = 10_000) -> None:
        self.has_effect = has_effect
        self.asked: list[tuple[int, ...]] = []
        self.most = most

    async def __call__(self, chosen: Sequence[int]) -> bool | None:
        if len(self.asked) >= self.most:
            raise TimeoutError
        self.asked.append(tuple(chosen))
        return self.has_effect(chosen)


@given(number=st.integers(1, 60), data=st.data())
async def test_a_smallest_set_is_found_whenever_more_tests_never_undo_the_effect(
    number: int, data: st.DataObject
) -> None:
    sets = data.draw(st.lists(st.sets(st.integers(0, number - 1), min_size=1, max_size=4), min_size=1, max_size=3))
    tries = Tries(lambda chosen: any(each <= set(chosen) for each in sets))

    found = await Search(range(number), tries).run()

    assert set(found) in [each for each in sets if not any(other < each for other in sets)]
    assert found == sorted(found)
    assert len(set(tries.asked)) == len(tries.asked)


@given(number=st.integers(1, 12), seed=st.integers(0, 2**32), share=st.floats(0.1, 0.9))
async def test_whatever_the_oracle_says_the_set_that_is_found_has_the_effect(
    number: int, seed: int, share: float
) -> None:
    """As an oracle that depends on chance would: nothing follows from one set for another."""

    def has_effect(chosen: Sequence[int]) -> bool:
        return len(chosen) == number or hash((seed, *chosen)) % 1000 < 1000 * share

    found = await Search(range(number), Tries(has_effect)).run()

    assert has_effect(found)


@pytest.mark.parametrize("place", [0, 1, 499, 500, 979])
async def test_one_of_a_thousand_takes_one_try_per_halving_and_about_one_suite_of_time(place: int) -> None:
    tries = Tries(lambda chosen: place in chosen)

    assert await Search(range(980), tries).run() == [place]
    assert len(tries.asked) <= 11
    assert sum(map(len, tries.asked)) <= 980 + 11


@pytest.mark.parametrize("needed", list(combinations((0, 7, 40, 63), 2)))
async def test_two_that_only_work_together_are_found_in_a_few_dozen_tries(needed: tuple[int, int]) -> None:
    tries = Tries(lambda chosen: set(needed) <= set(chosen))

    assert await Search(range(64), tries).run() == list(needed)
    assert len(tries.asked) <= 30


@pytest.mark.parametrize("place", [3, 20, 50])
@pytest.mark.parametrize("known", range(3))
async def test_what_is_left_is_known_when_the_time_is_over_and_a_try_without_an_outcome_rules_nothing_out(
    place: int, known: int
) -> None:
    """As when the time ends while a subset is tried."""
    tries = Tries(lambda chosen: place in chosen if len(tries.asked) <= known else None, most=known + 1)
    search = Search(range(64), tries)

    with pytest.raises(TimeoutError):
        await search.run()

    assert len(search.left) == 64 >> known
    assert place in search.left


@given(number=st.integers(1, 40), data=st.data())
async def test_tries_without_an_outcome_cost_at_most_a_larger_set(number: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, number - 1))
    seed = data.draw(st.integers(0, 2**32))
    tries = Tries(lambda chosen: None if hash((seed, *chosen)) % 3 == 0 else place in chosen)

    assert place in await Search(range(number), tries).run()


async def test_where_one_half_never_has_an_outcome_the_other_one_tells() -> None:
    """One test ends the process, unless the first one ran before it."""
    tries = Tries(lambda chosen: None if 60 in chosen and 0 not in chosen else 20 in chosen)

    assert await Search(range(64), tries).run() == [20]
