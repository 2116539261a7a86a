"""What every report on a terminal is made of: blocks of lines, and the notices of an answer."""

from collections.abc import Sequence

from pytest_mcp.terminal.colours import Painter
from pytest_mcp.text import safe_line

Lines = list[str]


def lines_of_notices(notices: Sequence[str], painter: Painter) -> Lines:
    return [f"{painter.paint('note:', 'yellow')} {safe_line(notice)}" for notice in notices]


def spaced(blocks: Sequence[Lines]) -> Lines:
    """An empty line between two blocks."""
    not_empty = [block for block in blocks if block]
    return [line for index, block in enumerate(not_empty) for line in ([""] if index else []) + block]
