"""Files that could not be collected, told once for each cause.

Pure: errors in, errors out. How much has to go is decided in `budget` and `discovery`.
"""

import re
from collections.abc import Hashable, Iterator, Sequence

from pytest_mcp.api.results import CollectionError
from pytest_mcp.report import grouping, places
from pytest_mcp.report.tokens import ever_larger

# How Python begins a traceback and names a frame; a place without a function belongs to the text of a SyntaxError.
_NATIVE = "Traceback (most recent call last):"
_NATIVE_FRAME = re.compile(r'  File "([^"]+)", line (\d+), in (.+)')
_MARKS = re.compile(r"[ ~^]+")
# Which line of which file Python could not parse.
_UNREADABLE = re.compile(r'^E +(File "[^"]+", line \d+)$', re.MULTILINE)


def without_machinery(error: CollectionError) -> CollectionError:
    """Without the frames of pytest and of Python's own import, and without what the other keys say."""
    lines = _as_pytest_writes(error).split("\n")
    begin = next((index for index, line in enumerate(lines) if line.startswith("E") or places.in_text(line)), 0)
    own = list(_own_lines(lines[begin:]))
    said = f"{error.error_type}: {error.message}"
    # The type may have its module before it.
    qualified = f".{said}".partition("\n")[0]
    texts = [(line, line.removeprefix("E").strip()) for line in own]
    kept = [line for line, text in texts if not (line.startswith("E") and (text in said or text.endswith(qualified)))]
    return _without_own_place(error.model_copy(update={"traceback": "\n".join(kept) or None}))


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
            lines.append(f"{_below_root(frame[1], error.file)}:{frame[2]}: in {frame[3]}")
        elif not in_frame and line and line != _NATIVE:
            lines.append(f"E   {line}")
        elif in_frame and not _MARKS.fullmatch(line):
            lines.append(line)
    return "\n".join(lines)


def _below_root(path: str, file: str) -> str:
    """The name from the root of the file that could not be imported; the root itself is not known here."""
    return file if path.endswith(f"/{file}") else path


def _without_own_place(error: CollectionError) -> CollectionError:
    """A SyntaxError repeats file and line in its message and above the source; other keys have both."""
    in_message = f" ({error.file.rpartition('/')[2]}, line {error.line})"
    if error.message is None or not error.message.endswith(in_message):
        return error
    above_source = f'/{error.file}", line {error.line}'
    lines = [line for line in (error.traceback or "").split("\n") if not line.endswith(above_source)]
    message = error.message.removesuffix(in_message)
    return error.model_copy(update={"message": message, "traceback": "\n".join(lines) or None})


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """A frame has its place above its source here. The exception's text is kept whatever frame it stands under."""
    foreign = False
    for line in lines:
        if found := places.in_text(line):
            foreign = places.is_foreign(found[0])
        if not foreign or line.startswith("E"):
            yield line


def ever_fewer(errors: Sequence[CollectionError]) -> Iterator[list[CollectionError]]:
    """From one line for all causes to one entry for each, then with its traceback."""
    if not errors:
        return
    causes = _merged([without_machinery(error) for error in errors], list(map(_cause, errors)))
    short = [error.model_copy(update={"message": grouping.line(error.message), "traceback": None}) for error in causes]
    for number in [0, *ever_larger(len(short) - 2)] if len(short) > 1 else ():
        yield [*short[:number], _shared(short[number:], "more " if number else "")]
    yield short
    yield causes


def one_for_each_cause(errors: Sequence[CollectionError]) -> list[CollectionError]:
    return _merged(errors, list(map(_cause, errors)))


def _cause(error: CollectionError) -> Hashable:
    """Where the project raised it, unless it asked for something absent or a library raised it: then its words."""
    text = _as_pytest_writes(error)
    found = _UNREADABLE.findall(text) or places.in_text(text)
    if error.error_type in grouping.ABSENCES or not (found or error.line):
        return error.error_type, error.message
    if found and grouping.is_shared(found[-1], error.error_type, error.message):
        return error.error_type, error.message, found[-1]
    own = [place for place in found if not places.is_foreign(place)]
    return error.error_type, own[-1] if own else f"{error.file}:{error.line}"


def _merged(errors: Sequence[CollectionError], keys: Sequence[Hashable]) -> list[CollectionError]:
    members: dict[Hashable, list[CollectionError]] = {}
    for error, key in zip(errors, keys, strict=True):
        members.setdefault(key, []).append(error)
    return [alike[0].model_copy(update={"also": _files(alike) - 1}) for alike in members.values()]


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
