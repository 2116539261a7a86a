"""How values of the standard library's classes are read, and those of numpy and pandas: as in `value_kinds`."""

from __future__ import annotations

import datetime as dt
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, Sequence
from zlib import crc32

from value_kinds import ITEMS, WORDS, Reader, Reading, ReadingPlan, instance_fields, isinstance_of, named

if TYPE_CHECKING:
    from value_reading import ValueReader

# Larger arrays have no checksum.
ARRAY_BYTES = 4 * 1024 * 1024
MOMENTS = (
    (dt.datetime, ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo", "fold")),
    (dt.date, ("year", "month", "day")),
    (dt.time, ("hour", "minute", "second", "microsecond", "tzinfo")),
    (dt.timedelta, ("days", "seconds", "microseconds")),
)


def read_member(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
    """Of an enumeration."""
    fields = dict(instance_fields(value, plan))
    name = fields.get("_name_")
    if type(name) is str:
        return values.number(("atom", "%s.%s" % (plan.name, name))), 1
    return values.fields(("object", plan.name), [("value", fields.get("_value_"))], depth, parts)


def read_moment(names: Sequence[str], base: type) -> Reader:
    getters = [(name, getattr(base, name)) for name in names]

    def read(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
        fields = {name: getter.__get__(value, base) for name, getter in getters}
        zone = fields.pop("tzinfo", None)
        numbers = ", ".join(int.__repr__(number) for number in fields.values())
        atom = "%s(%s)" % (plan.name, numbers)
        if zone is None:
            return values.number(("atom", atom)), 1
        if type(zone) is dt.timezone:
            return values.number(("atom", "%s %s" % (atom, dt.timezone.__str__(zone)))), 1
        return values.fields(("object", atom), [("tzinfo", zone)], depth, parts)

    return read


def read_path(values: ValueReader, value: Any, plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    fields = dict(instance_fields(value, plan))
    named = fields.get("_raw_paths", fields.get("_parts"))
    strings = [str.__str__(each) for each in named if isinstance_of(each, str)] if type(named) is list else []
    text = os.sep.join(strings)
    text = text[1:] if text.startswith(os.sep * 2) else text
    return values.number(("atom", "%s(%r)" % (plan.name, values.masked(text)))), 1


def read_pattern(values: ValueReader, value: Any, _plan: ReadingPlan, depth: int, parts: int) -> Reading:
    return values.fields(("object", "re.compile"), [("pattern", value.pattern), ("flags", value.flags)], depth, parts)


def read_match(values: ValueReader, value: Any, _plan: ReadingPlan, depth: int, parts: int) -> Reading:
    return values.fields(("object", "re.Match"), [("string", value.string), ("regs", value.regs)], depth, parts)


def read_buffer(getvalue: Callable[[Any], Any]) -> Reader:
    def read(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
        try:
            content = getvalue(value)
        except ValueError:
            content = None
        return values.fields(("object", plan.name), [("value", content)], depth, parts)

    return read


def read_context_variable(values: ValueReader, value: Any, _plan: ReadingPlan, depth: int, parts: int) -> Reading:
    return values.fields(("object", "ContextVar"), [("value", value.get(None))], depth, parts)


def read_array(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
    """numpy's: kind and shape, the first numbers, and a checksum of all."""
    numpy = sys.modules["numpy"].ndarray
    shape, dtype = numpy.shape.__get__(value), numpy.dtype.__get__(value)
    fields = [("shape", shape), ("dtype", str(dtype.str) if type(dtype).__module__.startswith("numpy") else "?")]
    if dtype.hasobject:
        if type(value) is numpy:
            fields.append(("values", numpy.ravel(value)[:ITEMS].tolist()))
    elif numpy.nbytes.__get__(value) <= ARRAY_BYTES:
        data = numpy.tobytes(value)
        if type(value) is numpy:
            fields.append(("values", numpy.ravel(value)[:ITEMS].tolist()))
        fields.append(("checksum", crc32(data)))
    return values.fields(("object", plan.name), fields, depth + 1, max(parts, ITEMS))


def read_number_of_numpy(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
    item = sys.modules["numpy"].generic.item(value)
    if id(type(item)) not in WORDS and type(item) is not str:
        return named(values, value, plan, depth, parts)
    return values.fields(("object", plan.name), [("value", item)], depth + 1, parts)


def read_pandas(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
    """A table, column or index of pandas' own classes; its columns are numpy's or pandas' own as well."""
    fields: list[tuple[str, Any]] = [("shape", value.shape)]
    kinds = value.dtypes.tolist() if plan.name == "DataFrame" else [value.dtype]
    is_plain = all(type(kind).__module__.partition(".")[0] in ("numpy", "pandas") for kind in kinds)
    if is_plain and value.size <= ARRAY_BYTES // 64:
        if plan.name == "DataFrame":
            fields.append(("columns", value.columns.tolist()))
        if plan.name != "Index":
            fields.append(("index", value.index.to_numpy()))
        fields += [("dtypes", [str(kind) for kind in kinds]), ("values", value.to_numpy())]
    return values.fields(("object", plan.name), fields, depth + 2, max(parts, 2 * ITEMS))
