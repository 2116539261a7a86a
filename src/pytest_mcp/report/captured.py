"""What a failed test printed and logged: the end of each stream, tracebacks in it in few lines; or all of it."""

import re
from ast import literal_eval
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate

from pytest_mcp.report import frames, places
from pytest_mcp.report.example_style import ExampleStyle
from pytest_mcp.report.failures import Failure, Section
from pytest_mcp.run.exceptions import Frame, Raised
from pytest_mcp.text import cut_middle

# A part of a compared text as `child/differences.py` shows it, and how long it must be to tell that it was printed.
_COMPARED_TEXT = re.compile(r" *\+ …?b?((['\"]).*?\2)(?: … |…?$)")
LEAST_COMPARED = 8
# A line that is written this often is a progress bar.
_REDRAWN = 3
# A traceback in what was captured.
_LOGGED = "Traceback (most recent call last):"
_LOGGED_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9}), in (.*)$')
_CARETS = re.compile(r"[ ~^]+")
_REPEATED = "  [Previous line repeated "


@dataclass(frozen=True)
class _Excerpt:
    """What is shown of one stream, and how much of it is not."""

    lines: list[str]
    lines_left_out: int
    characters_left_out: int


def captured_lines(sections: Iterable[Section], failure: Failure, style: ExampleStyle) -> Iterator[str]:
    for title, content in sections if style.captured != 0 else ():
        if style.captured is not None and _holds_compared(content, failure):
            continue
        excerpt = _excerpt(content, failure, style)
        yield f"{title}:"
        if excerpt.lines_left_out:
            yield f"[... {excerpt.lines_left_out} lines left out ...]"
        yield from excerpt.lines


def characters_left_out(failure: Failure, style: ExampleStyle) -> int:
    """Of all that was captured and says something new."""
    return sum(
        _excerpt(content, failure, style).characters_left_out
        for content in contents(failure)
        if not _holds_compared(content, failure)
    )


def contents(failure: Failure) -> list[str]:
    sections = [*failure.sections, *(section for part in failure.parts for section in part.sections)]
    return [content for _, content in sections]


def _holds_compared(content: str, failure: Failure) -> bool:
    """Whether a compared text was printed, which the explanation of the comparison shows by its differing parts."""
    for part in (_COMPARED_TEXT.match(line) for raised in failure.parts[0].chain for line in raised.text):
        if part and len(part[1]) >= LEAST_COMPARED:
            with suppress(ValueError, SyntaxError):
                if part[1][1:-1] in content or literal_eval(part[1]) in content:
                    return True
    return False


def _excerpt(content: str, failure: Failure, style: ExampleStyle) -> _Excerpt:
    written = content.rstrip("\r\n").split("\n")
    if style.captured is None:
        return _Excerpt([line.removesuffix("\r") for line in written], 0, 0)
    # What a carriage return ends, a terminal writes over: of a progress bar, it shows the last state.
    redrawn = [
        [part for part in line.split("\r") if part.strip()] for line in _with_short_tracebacks(written, failure, style)
    ]
    lines = [" ".join(parts[-1:] if len(parts) >= _REDRAWN else parts) for parts in redrawn]
    totals = accumulate(len(line) + 1 for line in reversed(lines))
    # The last line in any case.
    kept = max(1, sum(total <= style.captured for total in totals)) if style.captured else 0
    while 1 < kept < len(lines) and not lines[len(lines) - kept].strip():
        kept -= 1
    shown = [cut_middle(line, style.captured, separator=" ") for line in lines[len(lines) - kept :]]
    everything = sum(len(part) for parts in redrawn for part in parts)
    return _Excerpt(shown, len(lines) - kept, max(0, everything - sum(map(len, shown))))


def _with_short_tracebacks(lines: list[str], failure: Failure, style: ExampleStyle) -> list[str]:
    """With tracebacks that were logged or printed as `frames` shows others."""
    shortened: list[str] = []
    start = 0
    while start < len(lines):
        end = start
        if lines[start] == _LOGGED:
            end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith("  ")), start)
        logged = _logged_frames(lines[start + 1 : end])
        # One that is cut off, or has other lines in it, stays as it is.
        shortened += _short_traceback(logged, lines[end], failure, style) if logged else lines[start : end + 1]
        start = end + 1
    return shortened


def _short_traceback(logged: list[Frame], headline: str, failure: Failure, style: ExampleStyle) -> list[str]:
    # With paths as those of the failure.
    known = {place.rpartition(":")[0] for place in failure.own_places}
    roots = (frame.path.removesuffix(path) for frame in logged for path in known if frame.path.endswith(f"/{path}"))
    root = next(roots, failure.root)
    way = tuple(frame._replace(path=frame.path.removeprefix(root)) for frame in logged)
    raised = Raised(None, None, (headline,), way)
    if any(_is_same(raised, known) for part in failure.parts for known in part.chain):
        return [f"[the traceback of {headline.partition(':')[0]} is the one above]"]
    return [_LOGGED, *frames.frame_lines(raised, failure.node_id, replace(style, arguments=False)), headline]


def _logged_frames(lines: list[str]) -> list[Frame]:
    """None at all if a line is not of a frame."""
    logged: list[Frame] = []
    for line in lines:
        if place := _LOGGED_FRAME.match(line):
            path, number, function = place.groups()
            logged.append(Frame(path, int(number), function, None, (), ()))
        elif logged and line.startswith("    "):
            if logged[-1].statement is None and not _CARETS.fullmatch(line):
                logged[-1] = logged[-1]._replace(statement=line.strip())
        elif not line.startswith(_REPEATED):
            return []
    return logged


def _is_same(logged: Raised, known: Raised) -> bool:
    """Whether both are the exception of these words, from one place, by one way through the project."""
    if logged.headline != known.headline or not (logged.frames and known.frames):
        return False
    ways = [reversed(places.own_places(raised.frames)) for raised in (logged, known)]
    return logged.frames[-1].place == known.frames[-1].place and all(a == b for a, b in zip(*ways, strict=False))
