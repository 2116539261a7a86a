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
    ("pattern", "now", "words"),
    [
        ("", "F", ["failed in its only recorded run, at ccccccc"]),
        ("", "FFF", ["failed in all 3 recorded runs since ccccccc"]),
        # A new failure, and a flaky test that fails too often for that.
        ("", "PPP", []),
        ("PPPPPPPPPF" * 3 + "P", "F", ["flaky: failed 4 of 32 times, with both outcomes on unchanged code"]),
        ("PPPPPPPPPF" * 3 + "P", "FFFF", ["fails since ccccccc, 4 runs ago"]),
    ],
)
def test_a_remark_follows_from_the_recorded_outcomes(past: Past, pattern: str, now: str, words: list[str]) -> None:
    past.letters(TEST, pattern, state="old")
    past.letters(TEST, now, state="new")

    assert [*remark(past, TEST, "t.py::unknown").values()] == words


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
    with past.store.transaction():
        past.letters(TEST, "E" + "P" * (MAX_RESULTS - 2) + "F")

    results = remarks.last_results(History(past.address), root, [TEST, "t.py::test_y", "t.py::unknown"])

    passes = [("P", 0.01)] * (MAX_RESULTS - 2)
    assert results == {TEST: [("E", 0.01), *passes, ("F", 0.01)], "t.py::test_y": [("S", 0.01)]}
