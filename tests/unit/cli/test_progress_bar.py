"""`cli/progress_bar.py`: the line that is redrawn, the lines that stay, and whether a run has begun."""

import re
from dataclasses import dataclass, field

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.cli.progress_bar import MAX_FAILURES, ProgressBar, RunLog, progress_line
from pytest_mcp.run.events import Distributed, Event, Hello, Selected, SessionStarted, Started
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.terminal import capabilities, colours
from pytest_mcp.terminal.colours import Painter
from tests.support.invented.records import ended, finished, item, ledger, one_test, phase, raised, uncollected

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
    assert progress_line(ledger(*told), 0.5, width=80, painter=PLAIN) == line


def test_a_test_that_runs_for_long_is_named_instead_of_its_file() -> None:
    line = progress_line(ledger(*RUNNING), 12, width=80, painter=PLAIN, long="tests/test_b.py::test_three 11.0 s")

    assert line == "[=====>              ]  2/8  1 failed  12.0 s  .../test_b.py::test_three 11.0 s"


def test_only_failures_are_painted() -> None:
    line = progress_line(ledger(*RUNNING), 0.5, width=80, painter=Painter(has_colours=True))

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
    assert progress_line(ledger(*RUNNING), 0.5, width=width, painter=PLAIN) == line


@given(name=st.text(), width=st.integers(min_value=1, max_value=200), count=st.integers(min_value=0, max_value=10**6))
def test_the_line_is_one_line_and_narrower_than_the_terminal(name: str, width: int, count: int) -> None:
    told = ledger(Selected(count), Started(name), finished(name), Started(f"{name}2"))

    line = progress_line(told, 1e5, width=width, painter=PLAIN)

    assert colours.columns(line) < width
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029]", line)


A, B = "tests/test_a.py", "tests/test_b.py"


@dataclass
class Follower:
    """Takes events as a command does, and keeps what the log says of them."""

    log: RunLog = field(default_factory=lambda: RunLog(PLAIN))
    ledger: Ledger = field(default_factory=Ledger)
    bad_news: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def take(self, *events: Event, now: float = 0) -> None:
        for event in events:
            self.ledger.add(event)
            self.bad_news += self.log.bad_news(self.ledger)
            self.files += self.log.files(self.ledger)
            self.log.follow(self.ledger, now)


def test_a_failure_is_told_once_and_at_once_with_its_cause() -> None:
    follower = Follower()
    bad, worse = f"{A}::test_bad", f"{A}::test_worse"

    follower.take(SessionStarted(), Selected(3), uncollected("test_c.py", message="no module named x\nsecond line"))
    follower.take(Started(bad), raised("AssertionError: assert 1 == 2\nmore", node_id=bad))
    at_once = [*follower.bad_news]
    follower.take(finished(bad), *one_test(worse, phase(worse, when="setup", message="ValueError: \x1b[2J")))

    assert at_once == [
        "NOT COLLECTED test_c.py - no module named x",
        f"FAILED {bad} - AssertionError: assert 1 == 2",
    ]
    assert follower.bad_news[2:] == [f"ERROR {worse} - ValueError: \\x1b[2J"]


def test_thousands_of_failures_do_not_flood_the_terminal() -> None:
    follower = Follower()

    for number in range(MAX_FAILURES + 20):
        name = f"{A}::test_{number}"
        follower.take(*one_test(name, phase(name)))

    assert len(follower.bad_news) == MAX_FAILURES


def test_a_file_has_a_line_when_its_last_test_has_finished() -> None:
    follower = Follower()

    follower.take(SessionStarted(), Selected(3), *one_test(f"{A}::one", phase(f"{A}::one")), *one_test(f"{A}::two"))
    before = [*follower.files]
    follower.take(Started(f"{B}::three"))
    between = [*follower.files]
    follower.take(finished(f"{B}::three"), ended())

    assert before == []
    assert between == [f"{A}: 1 failed, 1 passed (2/3)"]
    assert follower.files[1:] == [f"{B}: 1 passed (3/3)"]


def test_with_workers_there_is_a_line_for_each_tenth_instead() -> None:
    follower = Follower()

    follower.take(SessionStarted(), Distributed(workers=2), Selected(20))
    for number in range(20):
        follower.take(*one_test(f"{(A, B)[number % 2]}::test_{number}"))

    assert follower.files[:2] == ["2/20: 2 passed", "4/20: 4 passed"]
    assert len(follower.files) == 10


def test_a_test_that_runs_for_long_is_named_each_time_its_duration_has_doubled() -> None:
    follower = Follower()
    follower.take(Started(f"{A}::slow"), now=100)
    follower.take(Started(f"{A}::other"), now=105)

    named = {now: [*follower.log.long_tests(now)] for now in (109.9, 110, 111, 115, 119, 120, 139, 140)}
    longest = [follower.log.longest(now) for now in (109.9, 112)]
    follower.take(finished(f"{A}::slow"), now=141)

    assert named[110] == [f"running for 10.0 s: {A}::slow"]
    assert named[115] == [f"running for 10.0 s: {A}::other"]
    assert named[120] == [f"running for 20.0 s: {A}::slow"]
    assert named[140] == [f"running for 40.0 s: {A}::slow"]
    assert named[109.9] == named[111] == named[119] == []
    assert longest == [None, f"{A}::slow 12.0 s"]
    assert follower.log.longest(150) == f"{A}::other 45.0 s"


def test_a_quiet_log_has_no_line_for_a_file_and_stays_quiet_in_the_next_run() -> None:
    told = Follower(RunLog(PLAIN, lists_files=False).fresh())

    told.take(Selected(count=1), *one_test(f"{A}::test_1"), ended())

    assert told.files == []


# Whether a run has begun decides whether Ctrl-C lets its fixtures tear down.


@pytest.mark.anyio
async def test_what_a_child_said_since_its_report_was_last_read_counts() -> None:
    bar = ProgressBar(capabilities.screen({}), None)
    learned = []

    async def learn() -> None:
        learned.append(await bar.learn_whether_it_has_begun())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(learn)
        await anyio.wait_all_tasks_blocked()
        bar.update(Ledger(hello=Hello(python="3.11.0", executable="python", pytest="9.0.0", error=None)))

    assert learned == [True]


@pytest.mark.anyio
async def test_a_run_whose_child_says_nothing_has_not_begun() -> None:
    assert not await ProgressBar(capabilities.screen({}), None).learn_whether_it_has_begun()
