"""Colour text for a terminal, count the columns that it takes, and lay out the lines of a report.

Pure. Whether colours are used is decided in `capabilities`. Text must be made safe before it is painted.
"""

import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pytest_mcp.text import safe_line

Lines = list[str]
Colour = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
_CODES: dict[Colour, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
RESET = "\x1b[0m"
# Turns the character before it into an emoji, which is one column wider.
_EMOJI = "\ufe0f"
ELLIPSIS = "..."


class Painter(NamedTuple):
    has_colours: bool

    def paint(self, text: str, *colours: Colour) -> str:
        if not (self.has_colours and colours and text):
            return text
        return f"\x1b[{';'.join(str(_CODES[colour]) for colour in colours)}m{text}{RESET}"


def columns(text: str) -> int:
    """The columns of a text. In doubt one too many: a line that is too long for its terminal wraps."""
    return sum(map(_width, text))


def last_columns(text: str, most: int) -> str:
    """The end of a text, because the end of a path says more than its beginning."""
    if columns(text) <= most:
        return text
    kept = text[-most:] if most > 0 else ""
    while kept and columns(kept) > most - len(ELLIPSIS):
        kept = kept[1:]
    return ELLIPSIS + kept if kept else ""


def _width(character: str) -> int:
    if character.isascii() or character == _EMOJI:
        return 1
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def lines_of_notices(notices: Sequence[str], painter: Painter) -> Lines:
    return [f"{painter.paint('note:', 'yellow')} {safe_line(notice)}" for notice in notices]


def spaced(blocks: Sequence[Lines]) -> Lines:
    """An empty line between two blocks."""
    not_empty = [block for block in blocks if block]
    return [line for index, block in enumerate(not_empty) for line in ([""] if index else []) + block]
