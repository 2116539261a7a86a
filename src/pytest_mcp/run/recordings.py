"""What a child records of the tests that it was asked to trace: their calls and values, mutants, lines.

As in `events`, the fields are those of the child's records, and what is counted is checked here, by a ValueError.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

# The most lines of one record of a traced test, and the largest number of a line.
MAX_LINES = 100_000
LAST_LINE = 10_000_000
# The most lines of one file that did not run.
MAX_MISSED = 1_000_000
# Lines of a file (`3-5,9`).
_RANGES = re.compile(r"\d{1,8}(?:-\d{1,8})?(?:,\d{1,8}(?:-\d{1,8})?)*")

# --- recorded calls -------------------------------------------------------------------------------


# Rows of a test's table of values, each a kind and what belongs to it. They are checked where they are used.
class CallValues(NamedTuple):
    test: str
    rows: list[list[Any]]


class CallsEnded(NamedTuple):
    """The end of a test's: whether the trace function was ours all the time, and the lines of some calls."""

    test: str
    complete: bool
    lines: list[list[int]]


class CallCode(NamedTuple):
    """A function, class body or module: `names` are those of its arguments, its closure and globals, in this order."""

    file: str
    function: str
    line: int
    digest: int
    names: list[str]
    arguments: int
    locals: int


class CallRow(NamedTuple):
    """One call, by numbers of codes, calls and values. `after` has pairs of a place in `names` and a value."""

    code: int
    parent: int
    phase: str
    line: int
    outcome: str
    result: int
    ended: int
    given: list[int]
    after: list[int]
    yields: list[int]


class CallCodes(NamedTuple):
    test: str
    rows: list[CallCode]


class Calls(NamedTuple):
    test: str
    rows: list[CallRow]


# --- mutants --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Probed:
    """A test that ran in a fork: how it ended, what it raised (its class and those above), which lines it ran."""

    id: str
    outcome: str
    seconds: float
    raised: list[str]
    message: str
    lines: dict[str, str]

    def __post_init__(self) -> None:
        check_lines(self.lines.values())


class Tried(NamedTuple):
    """A mutant: `killed`, `survived`, `untried` (a fork cannot show it), `unseen`, `same`, `unstable` or
    `harmful` (it deleted files that are needed), and why."""

    number: int
    outcome: str
    why: str
    tests: list[str]


@dataclass(frozen=True)
class ChangedCode:
    """Of each file, the wanted lines that have code and those that ran in imports; and whether threads began there."""

    code: dict[str, str]
    imported: dict[str, str]
    threads: bool

    def __post_init__(self) -> None:
        check_lines([*self.code.values(), *self.imported.values()])


class ProbingEnded(NamedTuple):
    """All tests have run, as far as there was time."""


# --- traced tests --------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of the project's code, and the name of the function that it belongs to."""

    file: str
    function: str
    number: int


@dataclass(frozen=True)
class Executed:
    """`code` has for each file the functions, as pairs of a name and ranges of lines (`3-5,9`)."""

    id: str
    code: dict[str, list[tuple[str, str]]]
    # The functions that a failing test called, the last one first, as pairs of a file and a name.
    calls: list[tuple[str, str]]
    # False if something else replaced the trace function.
    complete: bool

    def __post_init__(self) -> None:
        check_lines(ranges for _, ranges in chain.from_iterable(self.code.values()))

    def lines(self) -> Iterator[Line]:
        """One by one: those of many tests would take much memory."""
        for file, functions in self.code.items():
            for name, ranges in functions:
                for first, last in parse_ranges(ranges):
                    for number in range(first, last + 1):
                        yield Line(file, name, number)


def check_lines(texts: Iterable[str], most: int = MAX_LINES) -> None:
    left = most
    for ranges in texts:
        left -= sum(last - first + 1 for first, last in parse_ranges(ranges))
        if left < 0:
            raise ValueError("too many lines")


def parse_ranges(ranges: str) -> Iterator[tuple[int, int]]:
    """Raises ValueError if it is no such text."""
    if not _RANGES.fullmatch(ranges):
        raise ValueError("not lines")
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        pair = int(first), int(last or first)
        if not 0 <= pair[0] <= pair[1] <= LAST_LINE:
            raise ValueError("not a range")
        yield pair
