from pathlib import Path

import pytest

from pytest_mcp.config.model import History
from pytest_mcp.history import remarks
from pytest_mcp.history.remarks import MAX_RESULTS
from tests.support.history.histories import PROJECT, Past

TEST = "t.py::test_x"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / PROJECT).mkdir()
    return tmp_path / PROJECT


def remark(past: Past, *node_ids: str) -> dict[str, str]:
    return remarks.remarks(past.runs(), [[node_id] for node_id in node_ids or (TEST,)])


def test_a_test_that_fails_for_a_while_is_told_with_the_commit_since_when(past: Past) -> None:
    past.letters(TEST, "PP", state="a", commit_id="a" * 40)
    past.letters(TEST, "F", state="b", commit_id="b" * 40, dirty=1)
    past.letters(TEST, "FF", state="c", commit_id="c" * 40)

    assert remark(past) == {TEST: "fails since bbbbbbb+changes, 3 runs ago"}


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("F", "failed in its only recorded run, at ccccccc"), ("FFF", "failed in all 3 recorded runs since ccccccc")],
)
def test_a_test_that_never_passed_is_told_so(past: Past, pattern: str, words: str) -> None:
    past.letters(TEST, pattern)

    assert remark(past) == {TEST: words}


def test_a_new_failure_and_an_unknown_test_have_no_remark(past: Past) -> None:
    past.letters(TEST, "PPP")

    assert remark(past, TEST, "t.py::unknown") == {}


def test_a_flaky_test_that_now_fails_always_is_not_called_flaky(past: Past) -> None:
    past.letters(TEST, "PPPPPPPPPF" * 3 + "P", state="old")
    past.letters(TEST, "FFFF", state="new")

    assert remark(past) == {TEST: "fails since ccccccc, 4 runs ago"}


def test_each_group_has_one_line_about_its_first_test_and_there_are_few(past: Past) -> None:
    names = [f"t.py::test_{number}" for number in range(9)]
    past.run(dict.fromkeys(names, "F"))

    found = remarks.remarks(past.runs(), [[name, "t.py::test_0"] for name in names])

    assert [*found] == names[: remarks.MAX_GROUPS]


async def test_a_history_that_cannot_be_read_has_no_remarks_and_no_results(
    past: Past, root: Path, tmp_path: Path
) -> None:
    past.letters(TEST, "F")

    for history, expected in ((History(past.address), 1), (History(str(tmp_path)), 0)):
        assert len(await remarks.remarks_in_time(history, root, [[TEST]])) == expected
    assert remarks.last_results(History(str(tmp_path)), root, [TEST]) is None


async def test_values_that_nobody_recorded_have_no_remarks(past: Past, root: Path) -> None:
    past.letters(TEST, "FF")
    past.store.execute("UPDATE runs SET started = 'soon', commit_id = NULL")

    assert await remarks.remarks_in_time(History(past.address), root, [[TEST]]) == {}


def test_the_last_results_of_each_recorded_test_are_told_the_oldest_first(past: Past, root: Path) -> None:
    past.run({TEST: "P", "t.py::test_y": "S"})
    past.letters(TEST, "FE")

    found = remarks.last_results(History(past.address), root, [TEST, "t.py::test_y", "t.py::unknown"])

    assert found == {TEST: [("P", 0.01), ("F", 0.01), ("E", 0.01)], "t.py::test_y": [("S", 0.01)]}


def test_of_many_results_the_newest_are_told(past: Past, root: Path) -> None:
    with past.store.transaction():
        past.letters(TEST, "F" + "P" * MAX_RESULTS)

    assert remarks.last_results(History(past.address), root, [TEST]) == {TEST: [("P", 0.01)] * MAX_RESULTS}
