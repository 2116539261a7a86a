"""How much of a failure an example contains, and what is given up first when it is too long.

`rendering` and what it uses obey it; `budget` chooses it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

# How many of the last lines of each captured stream are shown, unless more is asked for.
CAPTURED_LINES = 20


@dataclass(frozen=True)
class ExampleStyle:
    """What is shown, beside the statement that failed and the lines that differ, which always are."""

    equal_lines: bool = True
    # So many of the last lines of each stream; None: all, as they were written.
    captured: int | None = CAPTURED_LINES
    foreign_frames: bool = True
    arguments: bool = True
    outer_frames: bool = True
    variables: bool = False
    # Otherwise only the first part of a failure is shown, with the middle of its text cut.
    whole_texts: bool = True

    def reduced(self) -> Iterator["ExampleStyle"]:
        """With ever less, for an example that alone is too large."""
        steps: list[dict[str, Any]] = [
            {"equal_lines": False},
            {"captured": 0},
            {"foreign_frames": False},
            {"arguments": False, "variables": False},
            {"outer_frames": False},
            {"whole_texts": False},
        ]
        style = self
        for step in steps:
            style = replace(style, **step)
            yield style
