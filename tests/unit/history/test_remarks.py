from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mcp.config.model import History
from pytest_mcp.history import remarks
from tests.support.history.past_runs import PROJECT, Past

TEST = "t.py::test_x"


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(str(tmp_path / "history.db"))
    yield made
    made.store.close()


def remark(past: Past, *node_ids: str) -> list[str]:
    return [each.sentence for each in remarks.remarks(past.scope, [[node_id] for node_id in node_ids or (TEST,)])]


def test_a_test_that_fails_for_a_while_is_told_with_the_commit_since_when(past: Past) -> None:
    past.letters(TEST, "PP", state="a", commit_id="a" * 40)
    past.letters(TEST, "F", state="b", commit_id="b" * 40, dirty=1)
    past.letters(TEST, "FF", state="c", commit_id="c" * 40)

    assert remark(past) == [f"{TEST}: fails since bbbbbbb+changes, 3 runs ago."]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("F", "failed in its only recorded run, at ccccccc."), ("FFF", "failed in all 3 recorded runs since ccccccc.")],
)
def test_a_test_that_never_passed_is_told_so(past: Past, pattern: str, words: str) -> None:
    past.letters(TEST, pattern)

    assert remark(past) == [f"{TEST}: {words}"]


def test_a_new_failure_and_an_unknown_test_have_no_remark(past: Past) -> None:
    past.letters(TEST, "PPP")

    assert remark(past, TEST, "t.py::unknown") == []


def test_a_flaky_test_that_now_fails_always_is_not_called_flaky(past: Past) -> None:
    past.letters(TEST, "PPPPPPPPPF" * 3 + "P", state="old")
    past.letters(TEST, "FFFF", state="new")

    assert remark(past) == [f"{TEST}: fails since ccccccc, 4 runs ago."]


def test_each_group_has_one_line_about_its_first_test_and_there_are_few(past: Past) -> None:
    names = [f"t.py::test_{number}" for number in range(9)]
    past.run(dict.fromkeys(names, "F"))

    told = remarks.remarks(past.scope, [[name, "t.py::test_0"] for name in names])

    assert [each.node_id for each in told] == names[: remarks.MOST_GROUPS]


def test_a_history_that_cannot_be_read_has_no_remarks(past: Past, tmp_path: Path) -> None:
    root = tmp_path / PROJECT
    root.mkdir()
    past.letters(TEST, "F")

    assert len(remarks.look(History(past.address), root, [[TEST]])) == 1
    assert remarks.look(History(str(tmp_path)), root, [[TEST]]) == []


def test_values_that_nobody_recorded_have_no_remarks(past: Past, tmp_path: Path) -> None:
    root = tmp_path / PROJECT
    root.mkdir()
    past.letters(TEST, "FF")
    with past.store.transaction() as damage:
        damage.execute("UPDATE runs SET started = 'soon', commit_id = NULL")

    assert remarks.look(History(past.address), root, [[TEST]]) == []
