"""Shorten pytest's rendering of a failure without losing its cause.

Pure: text in, text out. Where lines are left out, a note says how many. How far a traceback is shortened is decided in
`budget`.
"""

import re
from collections.abc import Iterator
from itertools import groupby, takewhile

from pytest_mcp.text import cut_middle

# The width of pytest's headings, and of ours.
HEADING_WIDTH = 80
# How many of the last lines of each captured stream are shown before further reductions.
CAPTURED_LINES = 10
# If the explanation of a failed comparison has more lines than this, its equal lines are left out.
LONG_EXPLANATION = 12
# The first line of an explanation is cut to this: it repeats both sides, and the lines below show the difference.
EXPLANATION_CHARACTERS = 120
# pytest indents the lines of a comparison by this much more than its first line.
COMPARISON_INDENT = 2
# Of more equal lines in a row than this, only the first and the last are shown.
EQUAL_LINES = 3
FULL_DIFF = "Full diff:"

_SEPARATOR = re.compile(r"^(?:_ ){3,}_?$", re.MULTILINE)
# A path and a line, followed by the exception or the function. Not an argument, which follows its name.
_FRAME = re.compile(
    r"^(?!E |E$|>)(?=\S)((?:[A-Za-z]:\\)?[^\n=']*?):(\d+): (?=in |$|[A-Za-z_][\w.]*$|[A-Z][\w.]*: )", re.MULTILINE
)
_CAPTURED = re.compile(r"^-+ Captured .+ -+$")
_HEADING = re.compile(r"^(?:-+ .+ -+|_+ .+ _+)$")
_CHAIN = re.compile(r"^(?:During handling of the above|The above) exception\b")
_ASSERT = re.compile(r"^(?:E\s+)?(?:AssertionError: )?assert ")
_LEFT_OUT = re.compile(r"^\[\.\.\. (\d{1,15}) lines left out \.\.\.\]$")
# Paths outside the root are absolute or begin with `../`. An environment may be inside the root.
_FOREIGN = re.compile(r"^(?:/|\.\./|<|[A-Za-z]:\\)|(?:^|/)(?:site-packages|dist-packages)/")


def frames(traceback: str) -> list[str]:
    """Every place in a traceback, as path:line, from the outermost to the innermost."""
    return [f"{path}:{line}" for path, line in _FRAME.findall(traceback)]


def is_foreign(place: str) -> bool:
    return _FOREIGN.search(place) is not None


def heading(character: str, title: str) -> str:
    return f"{character} {title} {character}".center(HEADING_WIDTH, character)


def plain(traceback: str) -> str:
    """With short separators."""
    return _SEPARATOR.sub("_ _ _", traceback)


def slim(traceback: str) -> str:
    """Also without the equal lines of a long comparison, and with only the end of the captured output."""
    return _with_captured(_without_equal_parts(plain(traceback)), CAPTURED_LINES)


def brief(message: str) -> str:
    """The short form of a long message: the differing lines, or its first line. The traceback has all of it."""
    lines = message.strip().split("\n")
    differing = _differing(lines)
    if differing == lines:
        return cut_middle(lines[0].rstrip(), EXPLANATION_CHARACTERS, separator=" ")
    return "\n".join(takewhile(lambda line: not line.lstrip().startswith(FULL_DIFF), differing)).rstrip()


def without_captured(traceback: str) -> str:
    return _with_captured(traceback, 0)


def without_foreign_frames(traceback: str) -> str:
    """Only the project's own frames, and the exceptions."""
    kept: list[str] = []
    for block in _blocks(traceback):
        places = frames("\n".join(block))
        if places and is_foreign(places[-1]):
            kept += [line for line in block if line.startswith("E") or _CHAIN.match(line)]
        else:
            kept += block
    return "\n".join(kept)


def _without_equal_parts(traceback: str) -> str:
    """Differing lines are kept, with one equal line before and after them."""
    kept: list[str] = []
    for is_explanation, lines in groupby(traceback.split("\n"), key=lambda line: line.startswith("E ") or line == "E"):
        explanation = list(lines)
        kept += _differing(explanation) if is_explanation and len(explanation) > LONG_EXPLANATION else explanation
    return "\n".join(kept)


def _differing(explanation: list[str]) -> list[str]:
    """The lines of one failed comparison without most of its equal lines; unchanged if it is no comparison."""
    start = next((index for index, line in enumerate(explanation) if _ASSERT.match(line)), None)
    if start is None:
        return explanation
    first, others = explanation[start], explanation[start + 1 :]
    margin = first[: len(first) - len(first.removeprefix("E").lstrip())]
    indent = len(margin) + COMPARISON_INDENT
    if not any(line[indent : indent + 2] in ("- ", "+ ") for line in others):
        return explanation
    kept = [*explanation[:start], cut_middle(first, EXPLANATION_CHARACTERS, separator=" ")]
    for is_equal, run in groupby(_uncommon(others, indent), key=lambda line: line[indent : indent + 2] == "  "):
        lines = list(run)
        if is_equal and len(lines) > EQUAL_LINES:
            lines = [lines[0], f"{margin}  [... {len(lines) - 2} equal lines ...]", lines[-1]]
        kept += lines
    return kept


def _uncommon(lines: list[str], indent: int) -> list[str]:
    """Without pytest's list of common items: the comparison below repeats them."""
    begin = next((index for index, line in enumerate(lines) if line[indent:] == "Common items:"), None)
    if begin is None:
        return lines
    end = next((index for index, line in enumerate(lines) if index > begin and line[indent:].endswith(":")), begin)
    return [*lines[:begin], *lines[end:]]


def _blocks(traceback: str) -> Iterator[list[str]]:
    """One block per frame. pytest's long style has the place below the source, its short style above."""
    block: list[str] = []
    for line in traceback.split("\n"):
        place = _FRAME.match(line)
        is_short = place is not None and line[place.end() :].startswith("in ")
        if block and (is_short or _CHAIN.match(line)):
            yield block
            block = []
        block.append(line)
        if (place is not None and not is_short) or _SEPARATOR.match(line) or line == "_ _ _":
            yield block
            block = []
    if block:
        yield block


def _with_captured(traceback: str, most: int) -> str:
    """With only the last `most` lines of each captured stream."""
    kept: list[str] = []
    section: list[str] = []
    for line in traceback.split("\n"):
        is_heading = len(line) >= HEADING_WIDTH and _HEADING.match(line) is not None
        if section and is_heading:
            kept += _last(section, most)
            section = []
        if section or (is_heading and _CAPTURED.match(line)):
            section.append(line)
        else:
            kept.append(line)
    return "\n".join([*kept, *(_last(section, most) if section else [])])


def _last(section: list[str], most: int) -> list[str]:
    title, *lines = section
    if len(lines) <= most or not lines:
        return section
    before = _LEFT_OUT.match(lines[0])
    missing = len(lines) - most + (int(before.group(1)) - 1 if before else 0)
    note = f"[... {missing} lines left out ...]"
    if before and len(lines) - 1 <= most:
        return section
    return [title, note, *lines[len(lines) - most :]] if most else [f"{title.strip('- ')}: {note}"]
