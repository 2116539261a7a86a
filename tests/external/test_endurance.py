"""A hundredth of `make fuzz` and a small share of `make soak` and `make load`, always with the same seed."""

from functools import partial

import pytest

from tests.external.endurance.__main__ import MEASURES
from tests.external.endurance.crowd import call_at_once
from tests.external.endurance.endless import call_in_a_row
from tests.external.endurance.figures import Measure
from tests.external.endurance.kills import kill_at_random
from tests.external.endurance.load import call_everywhere
from tests.support.waiting import PATIENCE

SHARE = 0.01
SEED = 7
SOAKS = {
    "calls in a row leave the server as it was": partial(call_in_a_row, 5),
    "callers at once get each their own counts": partial(call_at_once, 4, 2),
    "clients of one server and a server beside it get each their own counts in turn": partial(call_everywhere, 4, 1, 2),
    "sudden deaths leave nothing": partial(kill_at_random, 3, SEED, within=PATIENCE),
}


@pytest.mark.parametrize("measure", MEASURES["fuzz"], ids=lambda measure: measure.__module__.rpartition(".")[2])
def test_what_comes_from_outside_is_understood_or_refused(measure: Measure) -> None:
    figure = measure(SHARE, SEED)

    assert figure.ok, figure


@pytest.mark.parametrize("fact", SOAKS)
def test_a_server_lives_long_in_a_crowd_and_leaves_nothing(fact: str) -> None:
    figure = SOAKS[fact]()

    assert figure.ok, figure
