"""The statements of every question, on each of the databases."""

import math
from pathlib import Path

import pytest

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.config.model import History
from pytest_mcp.history import durations, flaky, questions
from pytest_mcp.history.remarks import remarks
from pytest_mcp.history.request_and_result import Durations
from pytest_mcp.history.runs import reading
from pytest_mcp.history.store import TestRow
from tests.support.history.histories import Past


def test_every_question_has_the_same_answer_in_each_database(address: str) -> None:
    past = Past(address)
    with past.store.transaction():
        for number in range(30):
            seconds = [
                0.05 * (2 if test == 0 and number >= 24 else 1) * math.exp(0.02 * ((number * 7 + test) % 5))
                for test in range(9)
            ]
            rows = [TestRow(f"a/t.py::test_{test}", "P", took) for test, took in enumerate(seconds)]
            flaked = TestRow("a/t.py::flaky", "F" if number % 10 == 4 else "P", 0.01, cause="ab" * 8)
            broken = TestRow("b/t.py::broken", "F" if number >= 27 else "P", 0.01, cause="cd" * 8)
            past.run([*rows, flaked, broken], state="before" if number < 27 else "after")

    (flake,) = flaky.flaky_tests(past.runs()).flaky or []
    (group,) = questions.failing_tests(past.runs()).failing or []
    slower, test = durations.slow_tests(past.runs(), "a").slow, questions.one_test(past.runs(), "a/t.py::test_0").test

    assert (flake.node_id, flake.failed, flake.runs) == ("a/t.py::flaky", 3, 30)
    assert (group.node_ids, group.runs) == (["b/t.py::broken"], 3)
    assert slower is not None
    assert [each.name for each in slower.changed] == ["a/t.py::test_0"]
    assert test is not None
    assert test.trend.startswith("2.0 times slower")
    assert len(past.runs().ids_below("a/t.py") or ()) == 10
    assert durations.slow_tests(past.runs(), "nowhere").slow == Durations(changed=[], suites=[], slowest=[])
    assert remarks(past.runs(), [["b/t.py::broken"], ["a/t.py::flaky"], ["a/t.py::test_1"]]) == {
        "b/t.py::broken": "fails since ccccccc, 3 runs ago",
        "a/t.py::flaky": "flaky: failed 3 of 30 times, with both outcomes on unchanged code",
    }
    past.store.close()


def test_what_a_caller_can_mend_is_no_damage_of_the_history(past: Past, tmp_path: Path) -> None:
    with pytest.raises(InvalidParams), reading(History(past.address), tmp_path):
        raise InvalidParams([Fault("node_id", "names several tests", "several_tests", "t.py")])
