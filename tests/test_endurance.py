"""A hundredth of `make fuzz` and a taste of `make soak`: once with a fixed seed, once with a new one."""

import os
import random

import pytest

from tests.endurance.crowd import call_at_once
from tests.endurance.endless import call_in_a_row
from tests.endurance.figures import Measure
from tests.endurance.fuzz import MEASURES
from tests.endurance.kills import kill_at_random
from tests.endurance.load import call_everywhere
from tests.waiting import PATIENCE

SHARE = 0.01
FIXED_SEED = 7
# `make test` draws and prints one, so that every worker of the run has the same.
FRESH_SEED = int(os.environ.get("FRESH_SEED") or random.SystemRandom().randrange(1_000_000))
SEEDS = [pytest.param(FIXED_SEED, id=f"seed {FIXED_SEED}"), pytest.param(FRESH_SEED, id=f"fresh seed {FRESH_SEED}")]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__module__.rpartition(".")[2])
def test_what_comes_from_outside_is_understood_or_refused(measure: Measure, seed: int) -> None:
    figure = measure(SHARE, seed)

    assert figure.ok, figure


def test_calls_in_a_row_leave_the_server_as_it_was() -> None:
    figure = call_in_a_row(10)

    assert figure.ok, figure


def test_callers_at_once_get_each_their_own_counts() -> None:
    figure = call_at_once(8, 2)

    assert figure.ok, figure


def test_clients_of_one_server_and_servers_beside_it_get_each_their_own_counts_in_turn() -> None:
    figure = call_everywhere(8, 2, 2)

    assert figure.ok, figure


@pytest.mark.parametrize("seed", SEEDS)
def test_sudden_deaths_leave_nothing(seed: int) -> None:
    figure = kill_at_random(3, seed, within=PATIENCE)

    assert figure.ok, figure
