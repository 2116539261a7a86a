"""Invented runs whose truth is known: which tests are flaky, and how often they fail."""

import random

import pytest

from pytest_mcp.history import flaky
from pytest_mcp.history.request_and_result import FlakyTest
from pytest_mcp.history.runs import read_runs
from pytest_mcp.history.store import TestRow
from tests.support.history.histories import PROJECT, Past


def found(past: Past, place: str = "") -> dict[str, FlakyTest]:
    return {each.node_id: each for each in flaky.flaky_tests(past.runs(), place).flaky or []}


def test_both_outcomes_on_the_same_code_are_flaky_and_on_other_code_they_are_not(past: Past) -> None:
    for state, one, other in [("a", "P", "P"), ("a", "F", "P"), ("a", "P", "P"), ("b", "P", "F"), ("c", "P", "P")]:
        past.run({"t.py::flaky": one, "t.py::broken_at_b": other}, state=state, commit_id=f"{past.number:040}")

    ((name, entry),) = found(past).items()

    assert name == "t.py::flaky"
    assert (entry.failed, entry.runs, entry.states, entry.pattern) == (1, 5, 1, "PFPPP")
    assert (entry.since, entry.commit) == ("2023-11-15 00:13", "0000000")


@pytest.mark.parametrize("letter", ["F", "E"])
def test_an_error_counts_as_a_failure_and_a_skip_as_no_outcome(past: Past, letter: str) -> None:
    past.letters("t.py::test_x", f"PS{letter}P")
    past.letters("t.py::test_skipped", f"S{letter}S{letter}")

    assert found(past).keys() == {"t.py::test_x"}


@pytest.mark.parametrize(
    ("fact", "one", "other"),
    [("state", None, None), ("host", "desk", "ci"), ("python", "3.12", "3.13"), ("pytest", "8.4", "9.0")],
)
def test_unknown_code_and_another_machine_or_version_are_not_the_same_code(
    past: Past, fact: str, one: str | None, other: str | None
) -> None:
    for _ in range(4):
        past.run({"t.py::test_x": "P"}, **{fact: one})
        past.run({"t.py::test_x": "F"}, **{fact: other})

    assert found(past) == {}


def test_tests_that_fail_in_the_same_runs_are_one_entry_and_containers_that_run_once_one_machine(past: Past) -> None:
    """As when a database was not there: fifty flaky tests are one thing to look at."""
    names = [f"t.py::test_{number}" for number in range(50)]
    for letter in "PPEP":
        past.run(dict.fromkeys(names, letter) | {"t.py::test_other": "P"}, host=f"runner-{past.number}")
    past.run(dict.fromkeys(names, "P") | {"t.py::test_other": "F"}, host="runner")

    answer = flaky.flaky_tests(past.runs())

    assert sorted(each.also for each in answer.flaky or []) == [0, 49]


def test_a_path_limits_the_answer(past: Past) -> None:
    for letter in "PF":
        past.run({"a/t.py::x": letter, "a/t.py::x[1]": letter, "ab/t.py::y": letter, "a_b.py::z": letter})

    assert sum(1 + each.also for each in found(past, "a").values()) == 2
    assert found(past, "ab/t.py").keys() == {"ab/t.py::y"}
    assert sum(1 + each.also for each in found(past, "a/t.py::x").values()) == 2


def test_another_bug_does_not_count_as_flaky_failures(past: Past) -> None:
    past.letters("t.py::test_x", "PPPPPPPPPF" * 4, state="old")
    for _ in range(6):
        past.run([TestRow("t.py::test_x", "F", 0.1, cause="f" * 16)], state="broken")
    past.letters("t.py::test_x", "FFFFF", state="broken the same way")

    entry = found(past)["t.py::test_x"]

    assert (entry.failed, entry.runs) == (4, 40)


@pytest.mark.parametrize(("rate", "runs_per_state"), [(0.05, 2), (0.2, 3), (0.5, 2), (0.3, 1)])
def test_the_rate_is_not_biased_by_how_often_each_state_is_run(past: Past, rate: float, runs_per_state: int) -> None:
    """On states with both outcomes alone, any flaky test that runs twice on each would fail in half of its runs."""
    rng = random.Random(11)
    with past.store.transaction():
        for state in range(240 // runs_per_state):
            past.letters(
                "t.py::test_x", "".join("FP"[rng.random() >= rate] for _ in range(runs_per_state)), state=f"{state}"
            )
        past.letters("t.py::test_x", "PF", state="last")

    entry = found(past)["t.py::test_x"]

    assert abs(entry.failed / entry.runs - rate) < 0.08


def test_failing_only_with_everything_and_passing_only_alone_looks_like_the_order(past: Past) -> None:
    for _ in range(2):
        past.run({"t.py::test_x": "F", "t.py::test_y": "P"})
        past.run({"t.py::test_x": "P"}, selection='{"node_ids":["t.py::test_x"]}')

    assert found(past)["t.py::test_x"].hint == flaky.BY_ORDER


def test_other_projects_and_older_runs_do_not_count(past: Past) -> None:
    past.letters("t.py::test_x", "PF", project="other")
    past.letters("t.py::test_x", "PF")
    now = past.runs(past.now)

    assert flaky.flaky_tests(now).notices == ["No run of this project is recorded in these days."]
    assert len(found(past)) == 1


def test_of_more_runs_than_are_read_the_rest_is_counted(past: Past) -> None:
    past.letters("t.py::test_x", "P" * 12)

    runs = read_runs(past.store, PROJECT, most=5)

    assert [run.id for run in runs.runs] == [8, 9, 10, 11, 12]
    assert runs.answer("other").notices == [
        "Only the newest 5 runs were read; 7 older ones of these days were not.",
        "other",
    ]
