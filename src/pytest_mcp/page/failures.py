"""One failure as a page shows it: its exceptions, their frames and what was captured, as plain values for JSON.

Pure. Long texts are cut in their middle, with a note of how much is left out.
"""

from collections.abc import Iterable
from typing import Any

from pytest_mcp.report import places
from pytest_mcp.report.failures import Failure, Part, Section
from pytest_mcp.run.exceptions import Frame, Raised
from pytest_mcp.text import cut_middle

Json = dict[str, Any]

# Of an exception's text and of each captured stream, in characters; of a value in a frame.
LONGEST_TEXT = 20_000
LONGEST_VALUE = 500
# Of the frames of an exception, the first and the last are shown: recursions have a thousand.
FIRST_FRAMES = 15
LAST_FRAMES = 25


def of_failure(failure: Failure, captures: bool) -> Json:
    parts = [_part(part, captures) for part in failure.parts]
    return _known(parts=parts, out=_sections(failure.sections if captures else ()))


def _known(**values: Any) -> Json:
    """Without what is empty: the script takes what is missing for that."""
    return {name: value for name, value in values.items() if value}


def _part(part: Part, captures: bool) -> Json:
    out = _sections(part.sections if captures else ())
    if part.chain:
        return _known(title=part.title, out=out, chain=[_raised(raised) for raised in part.chain])
    return _known(title=part.title, out=out, text=cut_middle(part.text.strip("\n") or part.message, LONGEST_TEXT))


def _raised(raised: Raised) -> Json:
    frames = raised.frames
    left_out = max(0, len(frames) - FIRST_FRAMES - LAST_FRAMES)
    kept = [*frames[:FIRST_FRAMES], *frames[-LAST_FRAMES:]] if left_out else [*frames]
    return _known(
        link=raised.link,
        note=raised.note,
        text=cut_middle("\n".join(raised.text), LONGEST_TEXT),
        frames=[_frame(frame) for frame in kept],
        # How many frames are missing, and behind how many.
        left_out=left_out,
        first=left_out and FIRST_FRAMES,
    )


def _frame(frame: Frame) -> Json:
    values = [[name, cut_middle(value, LONGEST_VALUE, separator=" ")] for name, value in frame.arguments]
    return {"path": places.short(frame.path), "line": frame.line} | _known(
        function=frame.function,
        statement=frame.statement,
        values=[[name, value] for name, value in values if name not in ("self", "cls")],
        variables=cut_middle("\n".join(frame.variables), LONGEST_TEXT),
        library=places.package(frame.path) if places.is_foreign(frame.path) else None,
    )


def _sections(sections: Iterable[Section]) -> list[list[str]]:
    return [[title, cut_middle(content, LONGEST_TEXT)] for title, content in sections]
