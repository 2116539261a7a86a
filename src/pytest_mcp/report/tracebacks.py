"""pytest's rendering of a failure, made shorter without losing what tells the cause.

Pure: text in, text out. What is left out is said in its place. How much has to go is decided in `budget`.
"""

import re
from collections.abc import Iterator
from itertools import groupby, takewhile

from pytest_mcp.text import cut_middle

# The width of pytest's headings, and of ours.
WIDTH = 80
# How many of the last lines of each captured stream are shown at first.
CAPTURED_LINES = 10
# An explanation of a failed comparison that has more lines than this is shown without what is equal.
LONG_EXPLANATION = 12
# Its first line has both sides whole, which differ below.
EXPLANATION_CHARACTERS = 120
# pytest sets what it says of a comparison behind its first line by so much.
COMPARISON_INDENT = 2
# Of so many equal lines in a row only the first and the last are shown.
EQUAL_LINES = 3
FULL_DIFF = "Full diff:"

_SEPARATOR = re.compile(r"^(?:_ ){3,}_?$", re.MULTILINE)
# A path and a line, and behind them what was raised or where; not an argument, which stands behind its name.
_FRAME = re.compile(
    r"^(?!E |E$|>)(?=\S)((?:[A-Za-z]:\\)?[^\n=']*?):(\d+): (?=in |$|[A-Za-z_][\w.]*$|[A-Z][\w.]*: )", re.MULTILINE
)
_CAPTURED = re.compile(r"^-+ Captured .+ -+$")
_HEADING = re.compile(r"^(?:-+ .+ -+|_+ .+ _+)$")
_CHAIN = re.compile(r"^(?:During handling of the above|The above) exception\b")
_ASSERT = re.compile(r"^(?:E\s+)?(?:AssertionError: )?assert ")
_LEFT_OUT = re.compile(r"^\[\.\.\. (\d{1,15}) lines left out \.\.\.\]$")
# Paths outside the root are shown as absolute, or as leading out of it; an environment may lie inside.
_FOREIGN = re.compile(r"^(?:/|\.\./|<|[A-Za-z]:\\)|(?:^|/)(?:site-packages|dist-packages)/")


def frames(traceback: str) -> list[str]:
    """Every place that a traceback names, as path:line, from the outermost to the innermost."""
    return [f"{path}:{line}" for path, line in _FRAME.findall(traceback)]


def is_foreign(place: str) -> bool:
    return _FOREIGN.search(place) is not None


def heading(character: str, title: str) -> str:
    return f"{character} {title} {character}".center(WIDTH, character)


def plain(traceback: str) -> str:
    """Without decoration."""
    return _SEPARATOR.sub("_ _ _", traceback)


def slim(traceback: str) -> str:
    """Also without what is equal in a long comparison, and with only the end of what was captured."""
    return _with_captured(_without_equal_parts(plain(traceback)), CAPTURED_LINES)


def brief(message: str) -> str:
    """A long message whose traceback has it whole: what differs in few words, or its first line."""
    lines = message.strip().split("\n")
    differing = _differing(lines)
    if differing == lines:
        return cut_middle(lines[0].rstrip(), EXPLANATION_CHARACTERS, separator=" ")
    return "\n".join(takewhile(lambda line: not line.lstrip().startswith(FULL_DIFF), differing)).rstrip()


def without_captured(traceback: str) -> str:
    return _with_captured(traceback, 0)


def without_foreign_frames(traceback: str) -> str:
    """The project's own frames, and what was raised."""
    kept: list[str] = []
    for block in _blocks(traceback):
        places = frames("\n".join(block))
        if places and is_foreign(places[-1]):
            kept += [line for line in block if line.startswith("E") or _CHAIN.match(line)]
        else:
            kept += block
    return "\n".join(kept)


def _without_equal_parts(traceback: str) -> str:
    """What differs stays whole, with a line of what is equal on either side."""
    kept: list[str] = []
    for is_explanation, lines in groupby(traceback.split("\n"), key=lambda line: line.startswith("E ") or line == "E"):
        explanation = list(lines)
        kept += _differing(explanation) if is_explanation and len(explanation) > LONG_EXPLANATION else explanation
    return "\n".join(kept)


def _differing(explanation: list[str]) -> list[str]:
    """The lines of one failed comparison; where nothing is compared there is nothing to leave out."""
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
    """Without the items that pytest lists because they are equal: the comparison below has them again."""
    begin = next((index for index, line in enumerate(lines) if line[indent:] == "Common items:"), None)
    if begin is None:
        return lines
    end = next((index for index, line in enumerate(lines) if index > begin and line[indent:].endswith(":")), begin)
    return [*lines[:begin], *lines[end:]]


def _blocks(traceback: str) -> Iterator[list[str]]:
    """One frame each. A frame in full has its place below its source, one in short has it above."""
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
    """At most so many lines of each captured stream, the last ones."""
    kept: list[str] = []
    section: list[str] = []
    for line in traceback.split("\n"):
        is_heading = len(line) >= WIDTH and _HEADING.match(line) is not None
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
    said = f"[... {missing} lines left out ...]"
    if before and len(lines) - 1 <= most:
        return section
    return [title, said, *lines[len(lines) - most :]] if most else [f"{title.strip('- ')}: {said}"]
