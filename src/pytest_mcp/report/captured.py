"""What a failed test printed and logged: the last lines of each stream, tracebacks in it in few lines; or all of it.

Pure: a failure and what may be shown of it in, lines out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_mcp.report import frames, places
from pytest_mcp.report.example_style import Style
from pytest_mcp.report.failures import Failure, Section
from pytest_mcp.run.exceptions import Frame, Raised
from pytest_mcp.text import cut_middle

CAPTURED_LINE_CHARACTERS = 500
# What stays of a longer one.
_KEPT = CAPTURED_LINE_CHARACTERS // 2 * 2
# A traceback in what was captured.
_LOGGED = "Traceback (most recent call last):"
_CARETS = re.compile(r"[ ~^]+")
_REPEATED = "  [Previous line repeated "
# A line that is written this often is a progress bar.
_REDRAWN = 3
_LOGGED_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9}), in (.*)$')


def shown(sections: Iterable[Section], failure: Failure, style: Style) -> Iterator[str]:
    for title, content in sections if style.captured != 0 else ():
        lines = _lines(content, failure, style)
        kept = _last(lines, style)
        yield f"{title}:"
        if len(kept) < len(lines):
            yield f"[... {len(lines) - len(kept)} lines left out ...]"
        yield from kept if style.captured is None else map(_cut, kept)


def left_out(failure: Failure, style: Style) -> int:
    """How many characters of it are not shown."""
    streams = [_lines(content, failure, style) for _, content in _of_all_parts(failure)]
    written = sum(len(line) for lines in streams for line in lines)
    if style.captured is not None:
        written += sum(_folded(content, failure, style) for _, content in _of_all_parts(failure))
    kept = [line for lines in streams for line in _last(lines, style)]
    return written - sum(len(line) if style.captured is None or _cut(line) == line else _KEPT for line in kept)


def most_lines(failures: Iterable[Failure]) -> int:
    """Of the longest stream."""
    return max((content.count("\n") for each in failures for _, content in _of_all_parts(each)), default=0)


def _of_all_parts(failure: Failure) -> list[Section]:
    return [*failure.sections, *(section for part in failure.parts for section in part.sections)]


def _lines(content: str, failure: Failure, style: Style) -> list[str]:
    lines = content.rstrip("\r\n").split("\n")
    if style.captured is None:
        return [line.removesuffix("\r") for line in lines]
    return [" ".join(_on_terminal(line)) for line in _condensed(lines, failure, style)]


def _folded(content: str, failure: Failure, style: Style) -> int:
    """How many characters of lines a terminal would have shown and written over."""
    lines = _condensed(content.rstrip("\r\n").split("\n"), failure, style) if "\r" in content else []
    return sum(len("".join(_written(line))) - len("".join(_on_terminal(line))) for line in lines)


def _last(lines: list[str], style: Style) -> list[str]:
    return lines if style.captured is None else lines[-style.captured :] if style.captured else []


def _on_terminal(line: str) -> list[str]:
    """Of a progress bar, which writes one line again and again, what a terminal shows in the end."""
    written = _written(line)
    return written[-1:] if len(written) >= _REDRAWN else written


def _written(line: str) -> list[str]:
    return [part for part in line.split("\r") if part.strip()]


def _cut(line: str) -> str:
    return cut_middle(line, CAPTURED_LINE_CHARACTERS, separator=" ")


def _condensed(lines: list[str], failure: Failure, style: Style) -> list[str]:
    """With tracebacks that were logged or printed in the style of `frames`."""
    told: list[str] = []
    start = 0
    while start < len(lines):
        end = start
        if lines[start] == _LOGGED:
            end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith("  ")), start)
        found = _logged_frames(lines[start + 1 : end])
        # One that is cut off, or has other lines in it, stays as it is.
        told += _logged(found, lines[end], failure, style) if found else lines[start : end + 1]
        start = end + 1
    return told


def _logged(found: tuple[Frame, ...], headline: str, failure: Failure, style: Style) -> list[str]:
    raised = Raised(None, None, (headline,), _from_root(found, failure))
    if any(_is_same(raised, known) for part in failure.parts for known in part.chain):
        return [f"[the traceback of {headline.partition(':')[0]} is the one above]"]
    return [_LOGGED, *frames.shown(raised, failure.node_id, replace(style, arguments=False)), headline]


def _logged_frames(lines: list[str]) -> tuple[Frame, ...]:
    """None at all if a line is not of a frame."""
    found: list[Frame] = []
    for line in lines:
        if place := _LOGGED_FRAME.match(line):
            path, number, function = place.groups()
            found.append(Frame(path, int(number), function, None, (), ()))
        elif found and line.startswith("    "):
            if found[-1].statement is None and not _CARETS.fullmatch(line):
                found[-1] = found[-1]._replace(statement=line.strip())
        elif not line.startswith(_REPEATED):
            return ()
    return tuple(found)


def _from_root(found: tuple[Frame, ...], failure: Failure) -> tuple[Frame, ...]:
    """With paths as those of the failure."""
    known = {place.rpartition(":")[0] for place in failure.own_places}
    roots = (frame.path.removesuffix(path) for frame in found for path in known if frame.path.endswith(f"/{path}"))
    root = next(roots, failure.root)
    return tuple(frame._replace(path=frame.path.removeprefix(root)) for frame in found)


def _is_same(logged: Raised, known: Raised) -> bool:
    """Whether both are the exception of these words, from one place, by one way through the project."""
    if logged.headline != known.headline or not (logged.frames and known.frames):
        return False
    ends = (logged.frames[-1].place, known.frames[-1].place)
    ways = zip(reversed(_own(logged)), reversed(_own(known)), strict=False)
    return all(one == other for one, other in [ends, *ways])


def _own(raised: Raised) -> list[str]:
    return [frame.place for frame in raised.frames if not places.is_foreign(frame.path)]
