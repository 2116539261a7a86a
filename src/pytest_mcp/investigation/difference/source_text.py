"""The text of one file in two trees: the line at which two runs of a function part, and whether it is another function.

A line of the base is the same as a line of now if the text of the file says so: lines move, and a line with other text
is another line.
"""

import ast
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from pytest_mcp.investigation.difference.values import common_start
from pytest_mcp.investigation.result import Sides
from pytest_mcp.text import in_line

# The most characters of a line that are shown.
SHOWN = 50
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def read_lines(root: Path, file: str) -> list[str]:
    """Empty for a file outside and one that cannot be read."""
    path = root / file
    if not path.resolve().is_relative_to(root.resolve()):
        return []
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def is_changed(name: str, base: Sequence[str], now: Sequence[str]) -> bool:
    """Of a function that one of two runs never called; of all others the child tells a digest of their code.

    False where one of the files cannot be parsed.
    """
    try:
        one, other = (ast.parse("\n".join(text)) for text in (base, now))
        return _dumped(one, name) != _dumped(other, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _dumped(module: ast.Module, name: str) -> str | None:
    """None if there is no function of this qualified name."""
    found: ast.AST | None = module
    for part in name.replace(".<locals>", "").split("."):
        inside = [] if found is None else ast.walk(found)
        found = next((each for each in inside if isinstance(each, _SCOPES) and each.name == part), None)
    return None if found is None else ast.dump(found)


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
            shown_from = _parting_of(_text(one, base_text), _text(other, now_text))
            return f"{_line(other, now_text, shown_from)}, {sides.base} {_quoted(one, base_text, shown_from)}"
        start = "" if last is None else f"{_line(last, now_text)}: then "
        return start + sides.both(_where(one, base_text), _where(other, now_text))
    return None


def moved_lines(base: Sequence[str], now: Sequence[str]) -> Mapping[int, int]:
    """For each line of the base that is still there its number now; from 1."""
    ones, others = ([line.strip() for line in text] for text in (base, now))
    blocks = SequenceMatcher(None, ones, others, autojunk=False).get_matching_blocks()
    return {block.a + step + 1: block.b + step + 1 for block in blocks for step in range(block.size)}


def _line(number: int, text: Sequence[str], start: int = 0) -> str:
    return f"line {number} {_quoted(number, text, start)}"


def _where(number: int | None, text: Sequence[str]) -> str:
    return "the end" if number is None else _line(number, text)


def _quoted(number: int, text: Sequence[str], start: int = 0) -> str:
    whole = _text(number, text)
    words = whole[start : start + SHOWN]
    return in_line(f"`{'…' if start else ''}{words}{'…' if len(whole) > start + SHOWN else ''}`")


def _text(number: int, text: Sequence[str]) -> str:
    return text[number - 1].strip() if 0 < number <= len(text) else "?"


def _parting_of(one: str, other: str) -> int:
    """From where on both are shown: a little before they part, if that would not be seen else."""
    same = common_start(one, other)
    return max(0, same - SHOWN // 4) if same >= SHOWN else 0
