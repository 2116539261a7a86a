"""Which reader a class has, by the first of its bases that is known; and those for classes of libraries.

Values are read as in `value_kinds`: by what the interpreter, the standard library, numpy and pandas themselves have.
"""

from __future__ import annotations

import collections
import contextvars
import datetime as dt
import decimal
import enum
import io
import os
import pathlib
import re
import sys
import types
import weakref
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Callable, Sequence
from zlib import crc32

import value_kinds as kinds
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
    dtypes = value.dtypes.tolist() if plan.name == "DataFrame" else [value.dtype]
    is_plain = all(type(kind).__module__.partition(".")[0] in ("numpy", "pandas") for kind in dtypes)
    if is_plain and value.size <= ARRAY_BYTES // 64:
        if plan.name == "DataFrame":
            fields.append(("columns", value.columns.tolist()))
        if plan.name != "Index":
            fields.append(("index", value.index.to_numpy()))
        fields += [("dtypes", [str(kind) for kind in dtypes]), ("values", value.to_numpy())]
    return values.fields(("object", plan.name), fields, depth + 2, max(parts, 2 * ITEMS))


# --- which of them ----------------------------------------------------------------------------

_builtin_name = types.BuiltinFunctionType.__dict__["__name__"].__get__
# Their members are the interpreter's, and say nothing or change all the time.
_CLOSED: tuple[Any, ...] = (
    weakref.ref,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.CodeType,
)
_CLOSED += (types.FrameType, types.TracebackType, types.MappingProxyType, property, staticmethod, classmethod)
# The first of these that a class has among its bases says how it is read.
_BASES: list[tuple[type, Reader]] = [
    (type, kinds.read_class),
    (enum.Enum, read_member),
    (str, kinds.read_text),
    (bytes, kinds.read_bytes),
    (bytearray, kinds.read_bytes),
    (int, kinds.fixed(kinds.words_of_int)),
    (float, kinds.fixed(float.__repr__)),
    (complex, kinds.fixed(complex.__repr__)),
    (tuple, kinds.contents(tuple, "tuple")),
    (list, kinds.contents(list, "list")),
    (dict, kinds.read_mapping),
    (set, kinds.contents(set, "set")),
    (frozenset, kinds.contents(frozenset, "set")),
    (collections.deque, kinds.contents(collections.deque, "list")),
    (BaseException, kinds.read_exception),
    (decimal.Decimal, kinds.fixed(decimal.Decimal.__str__)),
    *((base, read_moment(names, base)) for base, names in MOMENTS),
    (pathlib.PurePath, read_path),
    (io.StringIO, read_buffer(io.StringIO.getvalue)),
    (io.BytesIO, read_buffer(io.BytesIO.getvalue)),
    (FunctionType, kinds.read_function),
    (MethodType, kinds.read_function),
    (ModuleType, kinds.read_module),
    (re.Pattern, read_pattern),
    (re.Match, read_match),
    (contextvars.ContextVar, read_context_variable),
    (types.BuiltinFunctionType, kinds.fixed(lambda value: "<%s>" % _builtin_name(value))),
    *((base, kinds.named) for base in _CLOSED),
]
_PANDAS = ("DataFrame", "Series", "Index")


def plan_of(cls: type) -> ReadingPlan:
    name = kinds.qualname_of(cls)
    words = kinds.WORDS.get(id(cls))
    if words is not None:
        return ReadingPlan(cls, name, kinds.fixed(words), is_fixed=True)
    bases = kinds.mro_of(cls)
    slots: list[tuple[str, Any]] = []
    instance_dict = None
    for base in bases:
        for member_name, member in list(kinds.namespace_of(base).items()):
            if type(member_name) is not str:
                continue
            if type(member) not in (MemberDescriptorType, GetSetDescriptorType):
                continue
            if member_name == "__dict__":
                instance_dict = instance_dict or member
            elif type(member) is MemberDescriptorType and member_name not in kinds.HIDDEN and member_name[:2] != "__":
                slots.append((member_name, member))
    return ReadingPlan(cls, name, reading_of(cls, name, bases), slots, instance_dict, names_of_items(bases))


def names_of_items(bases: Sequence[type]) -> Sequence[str]:
    """Of a named tuple."""
    for base in bases:
        names = kinds.namespace_of(base).get("_fields")
        if type(names) is tuple and all(type(name) is str for name in names):
            return names
    return ()


def reading_of(cls: type, name: str, bases: Sequence[type]) -> Reader:
    module = kinds.namespace_of(cls).get("__module__")
    if name in _PANDAS and type(module) is str and module.startswith("pandas.core."):
        return read_pandas
    numpy = vars(sys.modules["numpy"]) if type(sys.modules.get("numpy")) is ModuleType else {}
    special = [(numpy.get("ndarray"), read_array), (numpy.get("generic"), read_number_of_numpy)]
    for known, read in [*special, *_BASES]:
        if any(base is known for base in bases):
            return read
    return kinds.read_object
