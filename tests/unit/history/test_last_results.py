from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mcp.config.model import History
from pytest_mcp.history import last_results
from pytest_mcp.history.last_results import MOST_RESULTS
from tests.support.history.past_runs import PROJECT, Past

TEST = "t.py::test_x"


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(str(tmp_path / "history.db"))
    yield made
    made.store.close()


def test_the_results_of_each_test_are_told_the_oldest_first(past: Past) -> None:
    past.run({TEST: "P", "t.py::test_y": "S"})
    past.letters(TEST, "FE")

    found = last_results.ask(past.scope, [TEST, "t.py::test_y", "t.py::unknown"])

    assert found == {TEST: [("P", 0.01), ("F", 0.01), ("E", 0.01)], "t.py::test_y": [("S", 0.01)]}


def test_of_many_results_the_newest_are_told(past: Past) -> None:
    with past.in_one_transaction():
        past.letters(TEST, "F" + "P" * MOST_RESULTS)

    assert last_results.ask(past.scope, [TEST]) == {TEST: [("P", 0.01)] * MOST_RESULTS}


def test_a_history_that_cannot_be_read_is_not_an_empty_one(past: Past, tmp_path: Path) -> None:
    root = tmp_path / PROJECT
    root.mkdir()

    assert last_results.look(History(past.address), root, [TEST]) == {}
    assert last_results.look(History(str(tmp_path)), root, [TEST]) is None
