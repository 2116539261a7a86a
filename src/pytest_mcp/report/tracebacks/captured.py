"""What a failed test printed and logged: the last lines of each stream, tracebacks in it in few lines.

Pure: a failure and what may be shown of it in, lines out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_mcp.events.exceptions import Frame, Raised
from pytest_mcp.report.failures import Failure, Section
from pytest_mcp.report.tracebacks import frames
from pytest_mcp.report.tracebacks.style import Style
from pytest_mcp.text import cut_middle

# How many of the last lines of each captured stream are shown.
CAPTURED_LINES = 20
CAPTURED_LINE_CHARACTERS = 500
# A traceback in what was captured.
_LOGGED = "Traceback (most recent call last):"
_LOGGED_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9}), in (.*)$')


def shown(sections: Iterable[Section], failure: Failure, style: Style) -> Iterator[str]:
    for title, content in sections:
        lines = _condensed(content.rstrip("\r\n").split("\n"), failure, style)
        yield f"{title}:"
        if len(lines) > CAPTURED_LINES:
            yield f"[... {len(lines) - CAPTURED_LINES} lines left out ...]"
        yield from map(_line, lines[-CAPTURED_LINES:])


def _line(line: str) -> str:
    """As a terminal shows it in the end: a progress bar writes one line again and again."""
    last = line.rstrip("\r").rpartition("\r")[2]
    return cut_middle(last, CAPTURED_LINE_CHARACTERS, separator=" ")


def _condensed(lines: list[str], failure: Failure, style: Style) -> list[str]:
    """With tracebacks that were logged or printed in the style of `frames`."""
    told: list[str] = []
    start = 0
    while start < len(lines):
        end = start
        if lines[start] == _LOGGED:
            end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith("  ")), start)
        # One that is cut off stays as it is.
        told += _logged(lines[start + 1 : end], lines[end], failure, style) if end > start else [lines[start]]
        start = end + 1
    return told


def _logged(lines: list[str], headline: str, failure: Failure, style: Style) -> list[str]:
    raised = Raised(None, None, (headline,), tuple(_logged_frames(lines)))
    if any(_is_same(raised, known) for part in failure.parts for known in part.chain):
        return [f"[the traceback of {headline.partition(':')[0]} is the one above]"]
    return [_LOGGED, *frames.shown(raised, failure.node_id, replace(style, arguments=False)), headline]


def _logged_frames(lines: list[str]) -> Iterator[Frame]:
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if found := _LOGGED_FRAME.match(line):
            path, number, function = found.groups()
            statement = following.strip() if following.startswith("    ") else None
            yield Frame(path, int(number), function, statement, (), ())


def _is_same(logged: Raised, known: Raised) -> bool:
    """Whether both are the exception of these words from this place; paths in the project are told from its root."""
    if logged.headline != known.headline or not (logged.frames and known.frames):
        return False
    one, other = logged.frames[-1], known.frames[-1]
    return one.line == other.line and (one.path == other.path or one.path.endswith(f"/{other.path}"))
