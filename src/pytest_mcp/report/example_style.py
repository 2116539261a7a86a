"""How much of a failure an example contains, and what is given up first when it is too long.

`rendering` and what it uses obey it; `budget` chooses it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

# Characters from the end of each captured stream: in the first example, and in the others.
CAPTURED, CAPTURED_SHORT = 500, 120
# Lines of an exception's text and characters of each, in an answer of the usual size; others have a part of them.
LINES, WIDTH = 60, 600


@dataclass(frozen=True)
class ExampleStyle:
    """What is shown, beside the statement of the test and the one that failed, which always are."""

    # Lines of a difference that are equal on both sides.
    equal_lines: bool = True
    # So many characters from the end of each stream; None: all, as it was written.
    captured: int | None = CAPTURED
    foreign_frames: bool = True
    arguments: bool = True
    outer_frames: bool = True
    variables: bool = False
    # Otherwise those in the test's own file have no path, and that of the test no function: its id says both.
    whole_places: bool = True
    # Of each exception's text, so many lines of so many characters.
    lines: int = LINES
    width: int = WIDTH
    # Otherwise only the first part of a failure, and of a long chain the first and the last exceptions.
    every_part: bool = True
    # Places whose statement an example above this one has.
    stated_above: frozenset[str] = frozenset()

    def reduced(self) -> Iterator["ExampleStyle"]:
        """This, then with ever less."""
        steps: list[dict[str, Any]] = [
            {},
            {"equal_lines": False},
            {"captured": 0},
            {"foreign_frames": False},
            {"arguments": False, "variables": False},
            {"outer_frames": False},
            {"lines": min(self.lines, 16), "width": min(self.width, 300)},
            {"lines": 5, "width": 200, "every_part": False},
        ]
        style = self
        for step in steps:
            style = replace(style, **step)
            yield style

    @property
    def short(self) -> "ExampleStyle":
        """For an example that is not the first."""
        return replace(
            self,
            equal_lines=False,
            captured=self.captured and CAPTURED_SHORT,
            foreign_frames=False,
            arguments=False,
            outer_frames=False,
            lines=self.lines // 7,
            width=self.width // 3,
        )
