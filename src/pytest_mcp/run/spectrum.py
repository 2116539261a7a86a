"""What a traced test has executed, as the child tells it.

Pure. A test can forge a record, so the ranges of lines are checked, and a record stands for a bounded number of lines.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from pytest_mcp.run.model import Event, event

# The most lines of one record, and the largest number of a line.
MOST_LINES = 100_000
LAST_LINE = 10_000_000
_RANGES = re.compile(r"\d{1,8}(?:-\d{1,8})?(?:,\d{1,8}(?:-\d{1,8})?)*")


class Line(NamedTuple):
    """A line of the project's code, and the qualified name of the function that it belongs to."""

    file: str
    function: str
    number: int


@event
class Executed(Event):
    """`code` has for each file the functions, as pairs of a qualified name and ranges of lines (`3-5,9`)."""

    kind = "executed"
    id: str
    code: dict[str, Any]
    # Of a failing test the functions that were called, the last one first, as pairs of a file and a name.
    calls: list[list[str]]
    # False if something else replaced the trace function.
    complete: bool

    def __post_init__(self) -> None:
        if any(len(call) != 2 for call in self.calls):
            raise ValueError("not a file and a name")
        left = MOST_LINES
        for pair in chain.from_iterable(self.code.values()):
            if type(pair) is not list or [type(each) for each in pair] != [str, str] or not _RANGES.fullmatch(pair[1]):
                raise ValueError("not a function and its lines")
            left -= sum(last - first + 1 for first, last in _parse_ranges(pair[1]))
            if left < 0:
                raise ValueError("too many lines")

    def lines(self) -> Iterator[Line]:
        """One by one: those of many tests would take much memory."""
        for file, functions in self.code.items():
            for name, text in functions:
                for first, last in _parse_ranges(text):
                    for number in range(first, last + 1):
                        yield Line(file, name, number)


def _parse_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Raises ValueError if it is no such text."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        pair = int(first), int(last or first)
        if not 0 <= pair[0] <= pair[1] <= LAST_LINE:
            raise ValueError("not a range")
        yield pair
