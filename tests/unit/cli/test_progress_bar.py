"""`cli/progress_bar.py`: the line that is redrawn, the lines that stay, and whether a run has begun."""

import re

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.cli.progress_bar import MAX_FAILURES, ProgressBar, SeenRun, progress_line
from pytest_mcp.run.events import Event, Hello, Selected, SessionStarted, Started
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.terminal import capabilities, colours
from pytest_mcp.terminal.colours import Painter
from tests.support.invented.records import finished, item, ledger, one_test, phase, raised, uncollected

A = "tests/test_a.py"
RUNNING: list[Event] = [
    SessionStarted(),
    Selected(8),
    *one_test(f"{A}::test_one", phase(f"{A}::test_one")),
    *one_test(f"{A}::test_two"),
    Started("tests/test_b.py::test_three"),
]


@pytest.mark.parametrize(
    ("events", "width", "line"),
    [
        ([], 80, "starting  0.50 s"),
        ([SessionStarted()], 80, "collecting  0.50 s"),
        ([SessionStarted(), Selected(4)], 80, "[>                   ]  0/4  0.50 s"),
        (RUNNING, 80, "[=====>              ]  2/8  1 failed  0.50 s  tests/test_b.py"),
        ([SessionStarted(), Selected(1), *one_test("a.py::b")], 80, "[====================]  1/1  0.50 s  a.py"),
        ([SessionStarted(), item("a.py::b"), item("a.py::c"), Selected(2)], 80, "2 tests  0.50 s"),
        (RUNNING, 60, "[=====>              ]  2/8  1 failed  0.50 s  ...test_b.py"),
        (RUNNING, 40, "2/8  1 failed  0.50 s  tests/test_b.py"),
        (RUNNING, 30, "2/8  1 failed  0.50 s"),
        (RUNNING, 4, "2/8"),
    ],
)
def test_the_line_says_what_is_known_and_what_there_is_room_for(events: list[Event], width: int, line: str) -> None:
    assert progress_line(ledger(*events), 0.5, width=width) == line


@given(name=st.text(), width=st.integers(min_value=1, max_value=200), count=st.integers(min_value=0, max_value=10**6))
def test_the_line_is_one_line_and_narrower_than_the_terminal(name: str, width: int, count: int) -> None:
    known = ledger(Selected(count), Started(name), finished(name), Started(f"{name}2"))

    line = progress_line(known, 1e5, width=width)

    assert colours.columns(line) < width
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029]", line)


def bad_news(seen: SeenRun, known: Ledger, *events: Event) -> list[str]:
    """The lines that are printed while these events come."""
    lines: list[str] = []
    for event in events:
        known.add(event)
        lines += seen.bad_news(known, Painter(has_colours=False))
    return lines


def test_a_failure_is_printed_once_and_at_once_with_its_cause() -> None:
    seen, known = SeenRun(), Ledger()
    bad, worse = f"{A}::test_bad", f"{A}::test_worse"
    first = [uncollected("test_c.py", message="no module named x\nsecond line"), Started(bad)]

    at_once = bad_news(seen, known, *first, raised("AssertionError: assert 1 == 2\nmore", node_id=bad))
    later = bad_news(
        seen, known, finished(bad), *one_test(worse, phase(worse, when="setup", message="ValueError: \x1b[2J"))
    )

    assert at_once == [
        "NOT COLLECTED test_c.py - no module named x",
        f"FAILED {bad} - AssertionError: assert 1 == 2",
    ]
    assert later == [f"ERROR {worse} - ValueError: \\x1b[2J"]


def test_thousands_of_failures_do_not_flood_the_terminal() -> None:
    names = [f"{A}::test_{number}" for number in range(MAX_FAILURES + 20)]

    lines = bad_news(SeenRun(), Ledger(), *(event for name in names for event in one_test(name, phase(name))))

    assert len(lines) == MAX_FAILURES


def test_the_test_that_has_been_running_for_longest_is_named_instead_of_its_file() -> None:
    seen, known = SeenRun(), ledger(Selected(2), Started(f"{A}::slow"))
    seen.follow(known, 100)
    known.add(Started(f"{A}::other"))
    seen.follow(known, 105)

    assert [seen.long_test(now) for now in (109.9, 112)] == ["", f"{A}::slow 12.0 s"]
    assert progress_line(known, 12, width=100, long_test=seen.long_test(112)).endswith(f"  {A}::slow 12.0 s")
    known.add(finished(f"{A}::slow"))
    seen.follow(known, 141)
    assert seen.long_test(150) == f"{A}::other 45.0 s"


# Whether a run has begun decides whether Ctrl-C lets its fixtures tear down.


async def test_what_a_child_said_since_its_report_was_last_read_counts() -> None:
    bar = ProgressBar(capabilities.screen({}), has_log=False)
    learned = []

    async def learn() -> None:
        learned.append(await bar.learn_whether_it_has_begun())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(learn)
        await anyio.wait_all_tasks_blocked()
        bar.update(Ledger(hello=Hello(python="3.11.0", executable="python", pytest="9.0.0", error=None)))

    assert learned == [True]


async def test_a_run_whose_child_says_nothing_has_not_begun() -> None:
    assert not await ProgressBar(capabilities.screen({}), has_log=False).learn_whether_it_has_begun()
