"""Files that could not be collected: each as an error, and all of them once for each cause.

How much has to go is decided in `budget` and `discovery`.
"""

import re
from collections.abc import Hashable, Iterator, Sequence

from pytest_mcp.api.results import CollectionError
from pytest_mcp.report import grouping, places
from pytest_mcp.report.fitting import ever_larger
from pytest_mcp.run.events import CollectionFailed

# pytest marks the lines of an exception.
_MARKED = re.compile(r"^E\s+(.*)$", re.MULTILINE)
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$", re.DOTALL)
# Where an error is in a file: what Python says of a syntax error, and pytest's frames.
_SOURCE_LINE = re.compile(r'^E[ \t]+File "(.*)", line (\d{1,9})', re.MULTILINE)
_FRAME_LINE = re.compile(r"^(.*?):(\d{1,9}): in ", re.MULTILINE)
# How Python begins a traceback and names a frame; a place without a function belongs to the text of a SyntaxError.
_NATIVE = "Traceback (most recent call last):"
_NATIVE_FRAME = re.compile(r'  File "([^"]+)", line (\d+), in (.+)')
_MARKS = re.compile(r"[ ~^]+")
# Which line of which file Python could not parse.
_UNREADABLE = re.compile(r'^E +(File "[^"]+", line \d+)$', re.MULTILINE)


def collection_error(event: CollectionFailed) -> CollectionError:
    """With all that the child tells; through xdist, which hands on nothing but text, the rest is read from that."""
    text = event.traceback
    marked = _MARKED.findall(text)
    exception = _EXCEPTION.match(marked[-1]) if marked else None
    kind, message = (exception.group(1), exception.group(2) or "") if exception else ("CollectionError", text.strip())
    lines = [line for path, line in _SOURCE_LINE.findall(text) if path.endswith(event.file)]
    lines = lines or [line for path, line in _FRAME_LINE.findall(text) if path == event.file]
    return CollectionError(
        file=event.file,
        error_type=event.error_type or kind,
        message=message if event.message is None else event.message,
        line=(int(lines[-1]) or None if lines else None) if event.line is None else event.line,
        traceback=text,
        also=0,
    )


def without_machinery(error: CollectionError) -> CollectionError:
    """Without the frames of pytest and of Python's own import, and without what the other keys say."""
    lines = _as_pytest_writes(error).split("\n")
    begin = next((index for index, line in enumerate(lines) if line.startswith("E") or places.in_text(line)), 0)
    said = f"{error.error_type}: {error.message}"
    # The type may have its module before it.
    qualified = f".{said}".partition("\n")[0]
    kept = []
    foreign = False
    for line in lines[begin:]:
        if frames := places.in_text(line):
            foreign = places.is_foreign(frames[0])
        text = line.removeprefix("E").strip()
        # The exception's text is kept whatever frame it stands under, unless another key has it.
        if not (text in said or text.endswith(qualified)) if line.startswith("E") else not foreign:
            kept.append(line)
    # A SyntaxError repeats file and line in its message and above the source.
    in_message = f" ({error.file.rpartition('/')[2]}, line {error.line})"
    if error.message.endswith(in_message):
        kept = [line for line in kept if not line.endswith(f'/{error.file}", line {error.line}')]
    message = error.message.removesuffix(in_message)
    traceback = "\n".join(kept)
    # What has no exception is its own traceback.
    is_said = not traceback or traceback.strip() == message.strip()
    return error.model_copy(update={"message": message, "traceback": None if is_said else traceback})


def _as_pytest_writes(error: CollectionError) -> str:
    """Python writes the traceback of a conftest that cannot be imported; its paths are absolute."""
    written = error.traceback or ""
    if not written.startswith(_NATIVE):
        return written
    lines: list[str] = []
    in_frame = True
    for line in written.split("\n"):
        frame = _NATIVE_FRAME.fullmatch(line)
        in_frame = frame is not None or (in_frame and line.startswith("    "))
        if frame is not None:
            # The root is not known here, only the name from the root of the file that could not be imported.
            path = error.file if frame[1].endswith(f"/{error.file}") else frame[1]
            lines.append(f"{path}:{frame[2]}: in {frame[3]}")
        elif in_frame and not _MARKS.fullmatch(line):
            lines.append(line)
        elif not in_frame and line and line != _NATIVE:
            lines.append(f"E   {line}")
    return "\n".join(lines)


def ever_more(errors: Sequence[CollectionError]) -> Iterator[list[CollectionError]]:
    """From one line for all causes to one entry for each, then with its traceback."""
    if not errors:
        return
    alike: dict[Hashable, list[CollectionError]] = {}
    for error in errors:
        alike.setdefault(_cause(error), []).append(without_machinery(error))
    causes = [same[0].model_copy(update={"also": _files(same) - 1}) for same in alike.values()]
    short = [error.model_copy(update={"message": grouping.line(error.message), "traceback": None}) for error in causes]
    for number in [0, *ever_larger(len(short) - 2)] if len(short) > 1 else ():
        yield [*short[:number], _shared(short[number:], "more " if number else "")]
    yield short
    yield causes


def _cause(error: CollectionError) -> Hashable:
    """Where the project raised it, unless it asked for something absent or a library raised it: then its words."""
    text = _as_pytest_writes(error)
    way = _UNREADABLE.findall(text) or places.in_text(text)
    if error.error_type in grouping.ABSENCES or not (way or error.line):
        return error.error_type, error.message
    if way and grouping.is_shared(way[-1], error.error_type, error.message):
        return error.error_type, error.message, way[-1]
    own = [place for place in way if not places.is_foreign(place)]
    return error.error_type, own[-1] if own else f"{error.file}:{error.line}"


def _shared(errors: Sequence[CollectionError], more: str) -> CollectionError:
    """One entry for causes that have none of their own."""
    first, kinds = errors[0], {error.error_type for error in errors}
    return first.model_copy(
        update={
            "error_type": first.error_type if len(kinds) == 1 else "CollectionError",
            "message": f"{len(errors)} {more}causes, the first: {first.message}",
            "also": _files(errors) - 1,
        }
    )


def _files(errors: Sequence[CollectionError]) -> int:
    return sum(1 + error.also for error in errors)
