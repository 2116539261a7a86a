"""The line at which two runs of one function part.

A line of the base is the same as a line of now if the text of the file says so: lines move, and a line with other text
is another line.
"""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from pytest_mcp.investigation.result import Sides
from pytest_mcp.text import in_line

# The most characters of a line that are shown.
SHOWN = 60


def parting(
    base: Sequence[int], now: Sequence[int], base_text: Sequence[str], now_text: Sequence[str], sides: Sides
) -> str | None:
    """In words; None if they took the same lines."""
    # A module begins with line 0.
    base, now = ([line for line in lines if line > 0] for lines in (base, now))
    moved = moved_lines(base_text, now_text)
    known = set(moved.values())
    last: int | None = None
    for place in range(max(len(base), len(now))):
        one = base[place] if place < len(base) else None
        other = now[place] if place < len(now) else None
        if one is not None and moved.get(one) == other:
            last = other
            continue
        if one is not None and other is not None and one not in moved and other not in known:
            return f"{_line(other, now_text)}, {sides.base} {_quoted(one, base_text)}"
        start = "" if last is None else f"{_line(last, now_text)}: then "
        return start + sides.both(_where(one, base_text), _where(other, now_text))
    return None


def moved_lines(base: Sequence[str], now: Sequence[str]) -> Mapping[int, int]:
    """For each line of the base that is still there its number now; from 1."""
    ones, others = ([line.strip() for line in text] for text in (base, now))
    blocks = SequenceMatcher(None, ones, others, autojunk=False).get_matching_blocks()
    return {block.a + step + 1: block.b + step + 1 for block in blocks for step in range(block.size)}


def _line(number: int, text: Sequence[str]) -> str:
    return f"line {number} {_quoted(number, text)}"


def _where(number: int | None, text: Sequence[str]) -> str:
    return "the end" if number is None else _line(number, text)


def _quoted(number: int, text: Sequence[str]) -> str:
    words = text[number - 1].strip() if 0 < number <= len(text) else "?"
    return in_line(f"`{words[:SHOWN]}{'…' if len(words) > SHOWN else ''}`")
