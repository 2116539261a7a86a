"""Parses the lines of a child's report.

A line that is damaged, of an unknown kind or of the wrong shape gives None and never an error: a test can write
anything into any file.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from pytest_mcp.run import events, recordings
from pytest_mcp.run.events import Event

# The values of a longer line are counted before it is parsed: no record of ours has so many values, and each would
# take a hundred bytes of memory.
PLAIN_BYTES = 1024 * 1024
MAX_VALUES = 200_000
# A string without an end goes to the end of the line.
_QUOTED = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
# No duration, time or count is larger. Much larger integers cannot be added to floats, or even printed.
MAX_NUMBER = 1e15

# Makes a field's value of a JSON value; raises ValueError if that is of another type.
Reader = Callable[[Any], Any]


def reader(hint: Any) -> Reader:
    """Made from a field's annotation. A tuple is a list in JSON; the function of an `Annotated` adapts the value."""
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        text, adapt = reader(parts[0]), parts[1]
        return lambda value: adapt(text(value))
    if type(None) in parts:
        some = reader(parts[0])
        return lambda value: None if value is None else some(value)
    if origin is list or parts[1:] == (...,):
        values, entry = _plain(list), reader(parts[0])
        return lambda value: origin(map(entry, values(value)))
    if origin is dict:
        members, member = _plain(dict), reader(parts[1])
        return lambda value: {name: member(each) for name, each in members(value).items()}
    if isinstance(origin, type) and issubclass(origin, tuple):
        return _row(origin, *(parts or get_type_hints(origin, include_extras=True).values()))
    return _plain(hint)


def _row(kind: type[tuple[Any, ...]], *hints: Any) -> Reader:
    values, readers = _plain(list), [reader(hint) for hint in hints]
    make: Reader = getattr(kind, "_make", kind)
    return lambda value: make([read(each) for read, each in zip(readers, values(value), strict=True)])


def _plain(kind: Any) -> Reader:
    """True and False are no numbers."""
    kinds = (int, float) if kind is float else (kind,)
    is_number = kind in (int, float)

    def read(value: Any) -> Any:
        if kind is not Any and (type(value) not in kinds or (is_number and abs(value) > MAX_NUMBER)):
            raise ValueError("not of this type")
        return value

    return read


# The word for a kind in its record, where that is not simply its name.
_OTHER_WORDS: dict[Any, str] = {
    events.CollectionFailed: "collection_error",
    events.Collected: "collector",
    events.FilesRefused: "refused",
    events.InternalFault: "internal_error",
    events.TargetLeftOut: "left_out",
    events.TargetsCompared: "compared",
    events.UsageFault: "usage_error",
    events.Warned: "warning",
}
# What is only a part of others.
_PARTS = (events.Frame, events.Item, events.Raised, recordings.CallCode, recordings.CallRow, recordings.Line)
KINDS: Mapping[str, type[Event]] = {
    _OTHER_WORDS.get(kind) or re.sub(r"\B(?=[A-Z])", "_", kind.__name__).lower(): kind
    for module in (events, recordings)
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__ and kind not in _PARTS
}
_READERS = {
    word: (kind, {name: reader(hint) for name, hint in get_type_hints(kind, include_extras=True).items()})
    for word, kind in KINDS.items()
}


def _finite(number: str) -> float:
    """NaN, Infinity and numbers that overflow are not JSON, and the reply must be."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(number)
    return value


# One for all lines: making it takes as long as reading one.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
_number = reader(int)


def _values(line: bytes) -> int:
    """About how many values it has; strings are left out first."""
    bare = _QUOTED.sub(b"", line)
    return sum(map(bare.count, (b",", b"[", b"{")))


class Record(NamedTuple):
    """An event and its number in the child's own count, which shows if one was lost."""

    number: int
    event: Event


def parse(line: bytes) -> Record | None:
    """Parse one line. Unknown keys are ignored."""
    if len(line) > PLAIN_BYTES and _values(line) > MAX_VALUES:
        return None
    try:
        record = _DECODER.decode(line.decode("utf-8"))
        kind, readers = _READERS[record["k"]]
        values = {name: read(record[name]) for name, read in readers.items()}
        return Record(_number(record["n"]), kind(**values))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
