"""Parses the lines of a child's report.

A line that is damaged, of an unknown kind or of the wrong shape gives None and never an error: a test can write
anything into any file.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pytest_mcp.run import events
from pytest_mcp.run.events import Event

# The values of a longer line are counted before it is parsed: no record of ours has so many values, and each would
# take a hundred bytes of memory.
PLAIN_BYTES = 1024 * 1024
MAX_VALUES = 200_000
# A string without an end goes to the end of the line.
_QUOTED = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)

Check = Callable[[Any], bool]
# No duration, time or count is larger. Much larger integers cannot be added to floats, or even printed.
MAX_NUMBER = 1e15
# Types that need no look at the value.
_PLAIN = (str, bool, NoneType)


def _checker(hint: Any) -> Check:
    """A check that a JSON value has the type of a field's annotation. True and False are no numbers."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda _value: True
    if hint is int:
        return lambda value: type(value) is int and abs(value) <= MAX_NUMBER
    if hint is float:
        return lambda value: type(value) in (int, float) and abs(value) <= MAX_NUMBER
    if origin is list:
        entry = _checker(parts[0])
        return lambda value: type(value) is list and all(map(entry, value))
    if origin is UnionType and all(part in _PLAIN for part in parts):
        return lambda value: type(value) in parts
    if origin is UnionType:
        choices = [_checker(part) for part in parts]
        return lambda value: any(choice(value) for choice in choices)
    plain = origin or hint
    return lambda value: type(value) is plain


def _shape(event: type[Event]) -> dict[str, Check]:
    hints = get_type_hints(event)
    return {field.name: _checker(hints[field.name]) for field in fields(event)}


KINDS: Mapping[str, type[Event]] = {
    each.kind: each
    for each in vars(events).values()
    if isinstance(each, type) and issubclass(each, Event) and hasattr(each, "kind")
}
_SHAPES = {kind: (event, _shape(event)) for kind, event in KINDS.items()}


def _finite(number: str) -> float:
    """NaN, Infinity and numbers that overflow are not JSON, and the reply must be."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(number)
    return value


_is_number = _checker(int)
# One for all lines: making it takes as long as reading one.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def _values(line: bytes) -> int:
    """About how many values it has; strings are left out first."""
    bare = _QUOTED.sub(b"", line)
    return sum(map(bare.count, (b",", b"[", b"{")))


@dataclass(frozen=True)
class Record:
    """An event and its number in the child's own count, which shows if one was lost."""

    number: int
    event: Event


def parse(line: bytes) -> Record | None:
    """Parse one line. Unknown keys are ignored."""
    if len(line) > PLAIN_BYTES and _values(line) > MAX_VALUES:
        return None
    try:
        record = _DECODER.decode(line.decode("utf-8"))
        event, shape = _SHAPES[record["k"]]
        values = {name: record[name] for name in shape}
        if _is_number(record["n"]) and all(fits(values[name]) for name, fits in shape.items()):
            return Record(record["n"], event(**values))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None
