import math
import random

import pytest

from pytest_mcp.history.questions import one_test, slow
from pytest_mcp.history.rows import TestRow
from tests.support.history.past_runs import Past

TESTS = 12


def fill(past: Past, runs: int, *, slower_from: int = 10_000, factor: float = 2.0) -> None:
    """A suite on a machine of changing speed, whose first test takes longer from a run on."""
    rng = random.Random(5)
    with past.in_one_transaction():
        for number in range(runs):
            speed = math.exp(rng.gauss(0, 0.4))
            seconds = [0.05 * (test + 1) * speed * math.exp(rng.gauss(0, 0.04)) for test in range(TESTS)]
            seconds[0] *= factor if number >= slower_from else 1
            rows = [TestRow(f"t.py::test_{test}", "P", took) for test, took in enumerate(seconds)]
            past.run(rows, duration=sum(seconds), commit_id=f"{number:040x}")


def test_the_slower_test_is_told_with_the_run_since_which_it_is(past: Past) -> None:
    fill(past, 40, slower_from=34)

    found = slow.ask(past.scope)

    ((test, change),) = found.tests.items()
    assert past.node_id(test) == "t.py::test_0"
    assert found.by_run[change.since].commit == f"{34:040x}"
    assert 1.8 < change.ratio < 2.2
    assert (found.suites, found.overall) == ({}, None)
    assert [past.node_id(test) for test, _ in found.slowest[:2]] == ["t.py::test_11", "t.py::test_10"]


def test_a_suite_that_became_slower_is_told_too(past: Past) -> None:
    fill(past, 40, slower_from=34, factor=60.0)

    assert slow.ask(past.scope).suites.keys() == {"{}"}


def test_a_path_is_compared_although_the_other_tests_tell_how_fast_the_machine_is(past: Past) -> None:
    fill(past, 40, slower_from=34)

    assert len(slow.ask(past.scope, "t.py::test_0").tests) == 1
    assert slow.ask(past.scope, "t.py::test_3").tests == {}
    assert slow.ask(past.scope, "elsewhere").slowest == []


def test_nothing_recorded_is_nothing_to_compare(past: Past) -> None:
    found = slow.ask(past.scope)

    assert (found.tests, found.suites, found.slowest, found.compared) == ({}, {}, [], 0)


@pytest.mark.parametrize(("slower_from", "trend"), [(10_000, "steady"), (34, "changed")])
def test_one_test_has_quartiles_its_days_and_a_trend(past: Past, slower_from: int, trend: str) -> None:
    fill(past, 40, slower_from=slower_from)
    past.store_trend("t.py::test_0", day=1, median=0.5)
    test = one_test.find(past.scope, "t.py::test_0")
    assert test is not None

    answer = one_test.ask(past.scope, "t.py::test_0", test)

    assert (answer.trend, answer.flaky, answer.failing_since) == (trend, None, None)
    assert answer.quartiles is not None
    assert 0.02 < answer.quartiles[0] < answer.quartiles[1] < answer.quartiles[2] < 0.2
    assert answer.daily[0] == 0.5
    assert len(answer.daily) in (3, 4)


def test_one_test_that_fails_is_told_since_when_and_skips_do_not_end_that(past: Past) -> None:
    past.letters("t.py::test_x", "PPFSF")
    answer = one_test.ask(past.scope, "t.py::test_x", 1)

    assert answer.failing_since is not None
    assert (answer.failing_since.id, answer.trend) == (3, "unknown")


def test_an_unknown_test_has_no_id(past: Past) -> None:
    past.letters("t.py::test_x", "P")

    assert one_test.find(past.scope, "t.py::test_y") is None
    assert one_test.find(past.scope._replace(project="other"), "t.py::test_x") is None
