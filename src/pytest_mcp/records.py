"""One JSON line of a child's report in, one numbered event out.

Pure. A line that is damaged, of an unknown kind or of the wrong shape gives None and never an
error: a test can write anything into any file. The kinds stand in `events`.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pytest_mcp.events import Event

Check = Callable[[Any], bool]
# No duration and no time is larger; beyond it integers can no longer be added to floats.
LARGEST_NUMBER = 1e15


def _checker(hint: Any) -> Check:
    """What a field's annotation says, as a test for what JSON gave. True and False are no numbers."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda _value: True
    if hint is float:
        return lambda value: type(value) in (int, float) and abs(value) <= LARGEST_NUMBER
    if origin is list:
        entry = _checker(parts[0])
        return lambda value: type(value) is list and all(map(entry, value))
    if origin is UnionType:
        choices = [_checker(part) for part in parts]
        return lambda value: any(choice(value) for choice in choices)
    plain = origin or hint
    return lambda value: type(value) is plain


def _shape(event: type[Event]) -> dict[str, Check]:
    hints = get_type_hints(event)
    return {field.name: _checker(hints[field.name]) for field in fields(event)}


_SHAPES = {event.kind: (event, _shape(event)) for event in Event.__subclasses__()}


def _finite(number: str) -> float:
    """NaN, Infinity and numbers that overflow to it are no JSON, and would make the reply none either."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(number)
    return value


# One for all lines: making it takes as long as reading one.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


@dataclass(frozen=True)
class Record:
    """An event and its number in the child's own count, by which a lost one is seen."""

    number: int
    event: Event


def parse(line: bytes) -> Record | None:
    """Read one line. Keys that are not ours pass silently."""
    try:
        told = _DECODER.decode(line.decode("utf-8"))
        event, shape = _SHAPES[told["k"]]
        values = {name: told[name] for name in shape}
        if type(told["n"]) is int and all(fits(values[name]) for name, fits in shape.items()):
            return Record(told["n"], event(**values))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None
