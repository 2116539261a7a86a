"""A hundredth of `make fuzz` and a small share of `make soak`, with one seed, so that every run is the same."""

import pytest

from tests.external.endurance.crowd import call_at_once
from tests.external.endurance.endless import call_in_a_row
from tests.external.endurance.figures import Measure
from tests.external.endurance.fuzz import MEASURES
from tests.external.endurance.kills import kill_at_random
from tests.external.endurance.load import call_everywhere
from tests.support.waiting import PATIENCE

SHARE = 0.01
SEED = 7


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__module__.rpartition(".")[2])
def test_what_comes_from_outside_is_understood_or_refused(measure: Measure) -> None:
    figure = measure(SHARE, SEED)

    assert figure.ok, figure


def test_calls_in_a_row_leave_the_server_as_it_was() -> None:
    figure = call_in_a_row(5)

    assert figure.ok, figure


def test_callers_at_once_get_each_their_own_counts() -> None:
    figure = call_at_once(4, 2)

    assert figure.ok, figure


def test_clients_of_one_server_and_a_server_beside_it_get_each_their_own_counts_in_turn() -> None:
    figure = call_everywhere(4, 1, 2)

    assert figure.ok, figure


def test_sudden_deaths_leave_nothing() -> None:
    figure = kill_at_random(3, SEED, within=PATIENCE)

    assert figure.ok, figure
