"""How much of a failure is shown, and what is given up first when it is too long. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Style:
    """What is shown, beside the statement that failed and the lines that differ, which always are."""

    equal_lines: bool = True
    captured: bool = True
    foreign_frames: bool = True
    arguments: bool = True
    outer_frames: bool = True
    variables: bool = False
    # Otherwise only the first part of a failure is shown, with the middle of its text cut.
    whole_texts: bool = True


def reductions(style: Style) -> Iterator[Style]:
    """The style with ever less, for an example that alone is too large."""
    values = ("arguments", "variables")
    for names in (("equal_lines",), ("captured",), ("foreign_frames",), values, ("outer_frames",), ("whole_texts",)):
        style = replace(style, **dict.fromkeys(names, False))
        yield style
