"""The progress of a run as one line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.cli import progress_line
from pytest_mcp.run.events import Event, Selected, SessionStarted, Started
from pytest_mcp.terminal import colours
from pytest_mcp.terminal.colours import Painter
from tests.support.invented.records import finished, item, ledger, one_test, phase

PLAIN = Painter(has_colours=False)
RUNNING: list[Event] = [
    SessionStarted(),
    Selected(8),
    *one_test("tests/test_a.py::test_one", phase("tests/test_a.py::test_one")),
    *one_test("tests/test_a.py::test_two"),
    Started("tests/test_b.py::test_three"),
]


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ([], "starting  0.50 s"),
        ([SessionStarted()], "collecting  0.50 s"),
        ([SessionStarted(), Selected(4)], "[>                   ]  0/4  0.50 s"),
        (RUNNING, "[=====>              ]  2/8  1 failed  0.50 s  tests/test_b.py"),
        ([SessionStarted(), Selected(1), *one_test("a.py::b")], "[====================]  1/1  0.50 s  a.py"),
        ([SessionStarted(), item("a.py::b"), item("a.py::c"), Selected(2)], "2 tests  0.50 s"),
    ],
)
def test_the_line_tells_what_is_known(told: list[Event], line: str) -> None:
    assert progress_line.line(ledger(*told), 0.5, width=80, painter=PLAIN) == line


def test_a_test_that_runs_for_long_is_named_instead_of_its_file() -> None:
    line = progress_line.line(ledger(*RUNNING), 12, width=80, painter=PLAIN, long="tests/test_b.py::test_three 11.0 s")

    assert line == "[=====>              ]  2/8  1 failed  12.0 s  .../test_b.py::test_three 11.0 s"


def test_only_failures_are_painted() -> None:
    line = progress_line.line(ledger(*RUNNING), 0.5, width=80, painter=Painter(has_colours=True))

    assert re.findall("\x1b\\[31m(.*?)\x1b\\[0m", line) == ["1 failed"]
    assert line.count("\x1b") == 2


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (52, "[=====>              ]  2/8  1 failed  0.50 s"),
        (60, "[=====>              ]  2/8  1 failed  0.50 s  ...test_b.py"),
        (40, "2/8  1 failed  0.50 s  tests/test_b.py"),
        (21, "2/8  1 failed"),
        (13, "2/8"),
        (4, "2/8"),
        (3, ""),
    ],
)
def test_what_has_no_room_is_left_out(width: int, line: str) -> None:
    assert progress_line.line(ledger(*RUNNING), 0.5, width=width, painter=PLAIN) == line


@given(name=st.text(), width=st.integers(min_value=1, max_value=200), count=st.integers(min_value=0, max_value=10**6))
def test_the_line_is_one_line_and_narrower_than_the_terminal(name: str, width: int, count: int) -> None:
    told = ledger(Selected(count), Started(name), finished(name), Started(f"{name}2"))

    line = progress_line.line(told, 1e5, width=width, painter=PLAIN)

    assert colours.columns(line) < width
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029]", line)
