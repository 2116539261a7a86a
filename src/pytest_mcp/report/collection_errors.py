"""Shorten the list of files that could not be collected.

Pure: errors in, errors out. How far they are shortened is decided in `budget` and `discovery`.
"""

from collections.abc import Hashable, Iterator, Sequence

from pytest_mcp.api.results import CollectionError
from pytest_mcp.report import grouping, tracebacks


def without_outside_frames(error: CollectionError) -> CollectionError:
    """Without the frames of pytest and importlib, and without the lines above them: other keys contain the same."""
    lines = tracebacks.without_foreign_frames(error.traceback or "").split("\n")
    begin = next((index for index, line in enumerate(lines) if line.startswith("E") or tracebacks.frames(line)), 0)
    return error.model_copy(update={"traceback": error.traceback and "\n".join(lines[begin:])})


def reduced(errors: Sequence[CollectionError]) -> Iterator[list[CollectionError]]:
    """One entry per cause, then one line per cause, then one entry per exception type, finally one entry for all."""
    yield one_for_each_cause(errors)
    short = [
        error.model_copy(update={"message": grouping.line(error.message), "traceback": None})
        for error in one_for_each_cause(errors)
    ]
    yield short
    yield _merged(short, [error.error_type for error in short])
    yield _merged(short, ["all" for _ in short])


def one_for_each_cause(errors: Sequence[CollectionError]) -> list[CollectionError]:
    """Files with the same cause share one entry, which says how many there are."""
    return _merged(errors, [(error.error_type, grouping.masked(error.message, "")) for error in errors])


def _merged(errors: Sequence[CollectionError], keys: Sequence[Hashable]) -> list[CollectionError]:
    members: dict[Hashable, list[CollectionError]] = {}
    for error, key in zip(errors, keys, strict=True):
        members.setdefault(key, []).append(error)
    return [
        alike[0].model_copy(update={"message": f"{alike[0].message} (and in {_files(len(alike) - 1)})"})
        if len(alike) > 1
        else alike[0]
        for alike in members.values()
    ]


def _files(count: int) -> str:
    return "1 more file" if count == 1 else f"{count} more files"
