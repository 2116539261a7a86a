"""Halving a history, with an oracle instead of runs."""

import math
import random
from collections.abc import Collection

import pytest

from pytest_mcp.investigation.breaking_commit import SPARE_RUNS, Found, first_bad


async def searched(number: int, first: int, unknown: Collection[int] = ()) -> tuple[Found, int]:
    """What is found, and how many were judged."""
    judged: list[int] = []

    async def is_bad(index: int) -> bool | None:
        judged.append(index)
        return None if index in unknown else index >= first

    found = await first_bad(number, is_bad, most=math.floor(math.log2(number)) + SPARE_RUNS)
    assert len({*judged}) == len(judged)
    return found, len(judged)


@pytest.mark.parametrize("number", [1, 2, 3, 7, 200])
async def test_the_first_bad_one_is_found_wherever_it_is(number: int) -> None:
    for first in range(number):
        found, tries = await searched(number, first)
        assert found.first == first
        assert tries <= math.ceil(math.log2(number))


async def test_what_cannot_be_judged_is_named_and_costs_three_tries_at_most() -> None:
    chance = random.Random(7)
    for _ in range(300):
        first = chance.randrange(200)
        unknown = {*chance.sample([index for index in range(199) if index != first], 6)}
        found, tries = await searched(200, first, unknown)
        assert tries <= math.floor(math.log2(200)) + SPARE_RUNS
        assert {*found.skipped} <= unknown
        # Between the last good one and the one that is named are only those that were skipped.
        assert found.first is None or found.low < first <= found.first


async def test_a_run_of_them_that_cannot_be_judged_leaves_it_open() -> None:
    found, _ = await searched(64, 32, range(10, 60))

    assert found.first is None
    assert found.low < 32 <= found.high
