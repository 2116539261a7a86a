"""Invented durations whose truth is known: what is noise is called noise, and a slower test is found.

First as values, then as recorded runs.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import pytest

from pytest_mcp.history import durations
from pytest_mcp.history.request_and_result import ChangedDuration, Durations
from pytest_mcp.history.runs import PastRun
from pytest_mcp.history.store import TestRow
from tests.support.history.histories import SUITE, Past, run_row

TESTS = 40
RUNS = [PastRun(**asdict(run_row(commit_id=f"{number:07}")), id=number) for number in range(100)]
Noise = Callable[[random.Random], float]


def calm(rng: random.Random) -> float:
    return math.exp(rng.gauss(0, 0.05))


def rough(rng: random.Random) -> float:
    return math.exp(rng.gauss(0, 0.35))


def spiky(rng: random.Random) -> float:
    """One run in seven takes three times as long."""
    return calm(rng) * (3 if rng.random() < 1 / 7 else 1)


def two_speeds(rng: random.Random) -> float:
    return calm(rng) * rng.choice([1, 1.8])


@dataclass
class World:
    """A suite on a machine that is slow for a while, over and over."""

    rng: random.Random
    noise: Noise
    runs: int = 50
    # What is done to the duration of a test in a run.
    effect: Callable[[int, int], float] = lambda _test, _run: 1.0
    selected: Callable[[int, int], bool] = lambda _test, _run: True

    def changes(self) -> dict[int, ChangedDuration]:
        machine, load = [], 0.0
        for _ in range(self.runs):
            load = 0.9 * load + self.rng.gauss(0, 0.2)
            machine.append(math.exp(load))
        usual = [0.05 * math.exp(self.rng.gauss(0, 1.5)) if test else 0.05 for test in range(TESTS)]
        seconds = {
            test: [
                (RUNS[run], usual[test] * machine[run] * self.effect(test, run) * self.noise(self.rng))
                for run in range(self.runs)
                if self.selected(test, run)
            ]
            for test in range(TESTS)
        }
        return changed(seconds)


def changed(seconds: Mapping[int, list[tuple[PastRun, float]]]) -> dict[int, ChangedDuration]:
    series = {test: [(run, math.log(took)) for run, took in each] for test, each in seconds.items()}
    slow = durations.slowdowns(series.values())
    own = {
        test: [(run, value - slow[run.id]) for run, value in each if run.id in slow] for test, each in series.items()
    }
    return {test: change for test, each in own.items() if (change := durations.change(str(test), each)) is not None}


@pytest.mark.parametrize("noise", [calm, rough, spiky, two_speeds])
def test_noise_on_a_busy_machine_is_no_change(noise: Noise) -> None:
    """The stated rate is one answer of a hundred; two of 15 would be far above it."""
    wrong = sum(bool(World(random.Random(seed), noise).changes()) for seed in range(15))

    assert wrong <= 1


@pytest.mark.parametrize(("noise", "runs_since", "least"), [(calm, 5, 12), (spiky, 9, 6), (rough, 16, 6)])
def test_a_test_of_50_ms_that_takes_twice_as_long_is_found_within_few_runs(
    noise: Noise, runs_since: int, least: int
) -> None:
    """Within five on a calm machine; noise as large as the change takes longer to tell apart."""

    def slower(test: int, run: int) -> float:
        return 2.0 if test == 0 and run >= 50 - runs_since else 1.0

    answers = [World(random.Random(seed), noise, effect=slower).changes() for seed in range(12)]

    hits = [each[0] for each in answers if 0 in each]
    assert len(hits) >= least
    assert all(abs(hit.runs - runs_since) <= (1 if noise is calm else 6) for hit in hits)
    assert all(1.6 < hit.now / hit.before < 2.5 for hit in hits if noise is calm)
    assert sum(len(each) - (0 in each) for each in answers) <= 1


def test_a_test_that_became_faster_is_found_too() -> None:
    world = World(random.Random(3), calm, effect=lambda test, run: 0.4 if test == 0 and run >= 42 else 1.0)

    ((test, change),) = world.changes().items()

    assert (test, change.commit) == (0, RUNS[42].code)
    assert 0.3 < change.now / change.before < 0.5


def test_a_machine_that_stays_slow_and_a_new_test_are_no_change_of_a_test() -> None:
    assert World(random.Random(4), calm, effect=lambda _, run: 3.0 if run >= 40 else 1.0).changes() == {}
    assert World(random.Random(8), calm, selected=lambda test, run: test > 0 or run >= 45).changes() == {}


def test_runs_of_a_few_tests_neither_hide_nor_invent_a_change() -> None:
    """Every second run is of three tests, as an agent's are."""
    world = World(random.Random(7), calm, runs=90, selected=lambda test, run: run % 2 == 0 or test in (0, 1, 2))
    assert world.changes() == {}

    world.effect = lambda test, run: 2.0 if test == 0 and run >= 78 else 1.0
    assert world.changes().keys() == {0}


def test_a_difference_of_a_millisecond_does_not_matter_and_one_test_alone_tells_nothing() -> None:
    seconds = {
        test: [(run, 0.002 if test == 0 and run.id > 30 else 0.001) for run in RUNS[:50]] for test in range(TESTS)
    }

    assert changed(seconds) == {}
    assert durations.slowdowns([[(run, 1.0 + run.id) for run in RUNS[:30]]]) == {}


def answered(past: Past, place: str = "") -> Durations:
    found = durations.slow_tests(past.runs(), place).slow
    assert found is not None
    return found


def test_a_test_without_a_millisecond_is_none_of_the_slowest(past: Past) -> None:
    past.run([TestRow("t.py::test_slow", "P", 0.2), TestRow("t.py::test_quick", "P", 0.0001)])

    assert [each.node_id for each in answered(past).slowest] == ["t.py::test_slow"]


def test_the_slower_test_is_told_with_the_run_since_which_it_is(past: Past) -> None:
    past.suite(40, slower_from=34)

    every = answered(past)

    (change,) = every.changed
    assert (change.name, change.commit, change.runs) == ("t.py::test_0", f"{34:040x}"[:7], 6)
    assert 1.8 < change.now / change.before < 2.2
    assert every.suites == []
    assert [each.node_id for each in every.slowest[:2]] == ["t.py::test_11", "t.py::test_10"]
    # The other tests tell how fast the machine is.
    assert [len(answered(past, f"t.py::test_{test}").changed) for test in (0, 3)] == [1, 0]
    assert answered(past, "elsewhere").slowest == []


def test_a_suite_that_became_slower_is_told_too(past: Past) -> None:
    past.suite(40, slower_from=34, factor=60.0)

    assert [each.name for each in answered(past).suites] == ["all tests"]


def test_all_tests_alike_are_a_notice_and_no_change_of_a_test(past: Past) -> None:
    past.suite(40)
    for _ in range(20):
        past.run([TestRow(f"t.py::test_{test}", "P", 0.5 * (test + 1)) for test in range(SUITE)], duration=39.0)

    answer = durations.slow_tests(past.runs())

    assert answer.slow is not None
    assert (answer.slow.changed, answer.slow.suites) == ([], [])
    assert [notice.partition(" became ")[0] for notice in answer.notices[1:]] == ["All tests"]


@pytest.mark.parametrize(("hosts", "expected"), [("d" * 40, 1), ("d" * 28 + "c" * 12, 0), ("dc" * 20, 1)])
def test_another_machine_is_no_change_and_two_that_take_turns_hide_none(past: Past, hosts: str, expected: int) -> None:
    for number, host in enumerate(hosts):
        first = 0.2 if number >= 28 else 0.1
        past.run([TestRow(f"t.py::test_{test}", "P", 0.5 if test else first) for test in range(SUITE)], host=host)

    assert len(answered(past).changed) == expected


def test_a_test_that_took_no_time_at_all_can_become_slower(past: Past) -> None:
    for number in range(40):
        rows = [TestRow(f"t.py::test_{test}", "P", 0.5) for test in range(SUITE)]
        past.run([*rows, TestRow("t.py::quick", "P", 0.02 if number >= 30 else 0.0)])

    assert [each.in_words for each in answered(past).changed] == ["2000.0 times slower"]


def test_nothing_recorded_is_nothing_to_compare(past: Past) -> None:
    assert answered(past) == Durations(changed=[], suites=[], slowest=[])
