"""How values of each class are read by their structure, without running any code of the project.

No method, operator or attribute of a value is used unless its exact type is the interpreter's own: a `__repr__`, an
`__eq__`, a property or a metaclass of the project may do anything. Instance dictionaries and slots are read through the
interpreter's descriptors, what a subclass of a builtin type contains through the methods of that builtin type.
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
from itertools import islice
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Sequence, Tuple
from zlib import crc32

if TYPE_CHECKING:
    from value_reading import ValueReader

# The most items of one container, the most fields of an object, and how many of what is left count for a checksum.
ITEMS = 24
FIELDS = 60
SUMMED_ITEMS = 100
# The longest text that is kept.
TEXT = 1_500
# Larger integers have a checksum, larger arrays none.
MAX_BITS = 512
ARRAY_BYTES = 4 * 1024 * 1024

# The number of a value, and how many parts it has.
Reading = Tuple[int, int]
# Given the table, the value, how its class is read, and how deep it may be and how many parts it may have.
Reader = Callable[..., Reading]

# Read through what the interpreter itself has, never through the class of a value.
mro_of = type.__dict__["__mro__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_module_dict = vars(ModuleType)["__dict__"].__get__
_exception_args = BaseException.__dict__["args"].__get__
_MOMENTS = (
    (dt.datetime, ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo", "fold")),
    (dt.date, ("year", "month", "day")),
    (dt.time, ("hour", "minute", "second", "microsecond", "tzinfo")),
    (dt.timedelta, ("days", "seconds", "microseconds")),
)
# What the standard library keeps besides, or fills when it is asked for.
_HIDDEN = frozenset(("_hash", "_str", "_str_normcase_cached", "_parts_normcase_cached"))


class ReadingPlan(NamedTuple):
    """How instances of a class are read. The class is kept, so that its id stays its own."""

    cls: type
    name: str
    read: Reader
    # The descriptors of slots by name, and of the instance dictionary.
    slots: Sequence[tuple[str, Any]] = ()
    instance_dict: Any = None
    # The names of a named tuple's items.
    items: Sequence[str] = ()
    # Whether it is a value without parts.
    is_fixed: bool = False


def cut(text: str) -> tuple[str, int, int]:
    """The text, how long it is, and a checksum if it is cut."""
    if len(text) <= TEXT:
        return text, len(text), 0
    return text[:TEXT], len(text), crc32(text.encode("utf-8", "surrogatepass"))


def sum_of(items: Any, values: ValueReader) -> int:
    """A checksum of what is not read: of plain values what they are, of all others nothing."""
    total = 0
    for value in islice(items, SUMMED_ITEMS):
        values.work += 1
        words = _WORDS.get(id(type(value)))
        text = value[:TEXT] if type(value) is str else words(value) if words else "?"
        total = crc32(text.encode("utf-8", "surrogatepass"), total)
    return total


def fixed(words: Callable[[Any], str]) -> Reader:
    def read(values: ValueReader, value: Any, _plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
        return values.number(("atom", words(value))), 1

    return read


def named(values: ValueReader, _value: Any, plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    """Nothing is known but its class."""
    return values.number(("opaque", plan.name)), 1


def words_of_int(value: int) -> str:
    if int.bit_length(value) <= MAX_BITS:
        return int.__repr__(value)
    data = int.to_bytes(value, int.bit_length(value) // 8 + 1, "little", signed=True)
    return "<int of %d bits, checksum %d>" % (int.bit_length(value), crc32(data))


def read_text(values: ValueReader, value: Any, plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    return values.number(("text", *cut(values.masked(str.__str__(value))), plan.name)), 1


def read_bytes(values: ValueReader, value: Any, _plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    base: Any = bytes if isinstance_of(value, bytes) else bytearray
    size = base.__len__(value)
    whole = bytes(base.__getitem__(value, slice(None)))
    return values.number(("bytes", ascii(whole[:TEXT])[2:-1], size, crc32(whole) if size > TEXT else 0)), 1


def contents(base: Any, shape: str) -> Reader:
    iterate, count = base.__iter__, base.__len__

    def read(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
        size = count(value)
        several = iterate(value)
        first = list(islice(several, min(ITEMS, parts)))
        rest = sum_of(several, values) if size > len(first) else 0
        extra = instance_fields(value, plan)
        if plan.items and len(plan.items) == size == len(first):
            return values.fields(("object", plan.name), [*zip(plan.items, first), *extra], depth, parts)
        number, spent = values.items((shape, plan.name, size, rest), first, depth, parts)
        return values.fields(("object", plan.name, "*", number), extra, depth, parts) if extra else (number, spent)

    return read


def read_mapping(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
    size = dict.__len__(value)
    several = iter(dict.items(value))
    first = list(islice(several, min(ITEMS, parts)))
    keys, spent_on_keys = values.numbers_of([("", key) for key, _ in first], depth, len(first))
    pairs = [(key if type(key) is str else "", member) for key, member in first]
    members, spent = values.numbers_of(pairs, depth, parts - 1)
    rest = sum_of((part for pair in several for part in pair), values) if size > len(first) else 0
    row: list[Any] = ["mapping", plan.name, size, rest]
    for key, number in zip(keys, members):
        row += (key, number)
    number = values.number(tuple(row))
    extra = instance_fields(value, plan)
    if extra:
        return values.fields(("object", plan.name, "*", number), extra, depth, parts)
    return number, spent + 1 + spent_on_keys - len(keys)


def read_object(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
    return values.fields(("object", plan.name), instance_fields(value, plan), depth, parts)


def instance_fields(value: Any, plan: ReadingPlan) -> list[tuple[str, Any]]:
    fields = slots_of(value, plan) if plan.slots else []
    if plan.instance_dict is not None:
        members = plan.instance_dict.__get__(value, plan.cls)
        pairs = islice(dict.items(members), FIELDS) if members is not None else ()
        fields += [(name, member) for name, member in pairs if type(name) is str and name not in _HIDDEN]
    return fields


def slots_of(value: Any, plan: ReadingPlan) -> list[tuple[str, Any]]:
    try:
        return [(name, slot.__get__(value, plan.cls)) for name, slot in plan.slots]
    except AttributeError:
        return [(name, slot.__get__(value, plan.cls)) for name, slot in plan.slots if is_set(slot, value, plan.cls)]


def is_set(slot: Any, value: Any, cls: type) -> bool:
    try:
        slot.__get__(value, cls)
    except AttributeError:
        return False
    return True


def read_exception(values: ValueReader, value: Any, plan: ReadingPlan, depth: int, parts: int) -> Reading:
    given = [("args", _exception_args(value))]
    return values.fields(("object", plan.name), [*given, *instance_fields(value, plan)], depth, parts)


def read_function(values: ValueReader, value: Any, _plan: ReadingPlan, depth: int, parts: int) -> Reading:
    """By its name and the variables of the functions around it."""
    function = value.__func__ if type(value) is MethodType else value
    fields = [("self", value.__self__)] if type(value) is MethodType else []
    if type(function) is not FunctionType:
        return values.fields(("function", "?"), fields, depth, parts)
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    fields += [(name, content) for name, cell in cells for content in content_of(cell)]
    return values.fields(("function", values.masked(function.__qualname__)), fields, depth, parts)


def content_of(cell: Any) -> Iterator[Any]:
    """Nothing if it is not set yet."""
    try:
        yield cell.cell_contents
    except ValueError:
        return


def read_class(values: ValueReader, value: Any, _plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    return values.number(("atom", "<class %s>" % _qualname(value))), 1


def read_module(values: ValueReader, value: Any, _plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    name = (_module_dict(value) or {}).get("__name__")
    return values.number(("atom", "<module %s>" % (name if type(name) is str else "?"))), 1


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
    if id(type(item)) not in _WORDS and type(item) is not str:
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


def isinstance_of(value: Any, base: type) -> bool:
    """Never asks the value for its class."""
    return any(each is base for each in mro_of(type(value)))


_ATOMS: list[tuple[type, Callable[[Any], str]]] = [
    (int, words_of_int),
    (bool, bool.__repr__),
    (float, float.__repr__),
    (complex, complex.__repr__),
    (range, range.__repr__),
    (type(Ellipsis), lambda _value: "..."),
    (type(NotImplemented), lambda _value: "NotImplemented"),
]
# By the id of the class: metaclasses may define a hash.
_WORDS = {id(cls): words for cls, words in _ATOMS}
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
    (type, read_class),
    (enum.Enum, read_member),
    (str, read_text),
    (bytes, read_bytes),
    (bytearray, read_bytes),
    (int, fixed(words_of_int)),
    (float, fixed(float.__repr__)),
    (complex, fixed(complex.__repr__)),
    (tuple, contents(tuple, "tuple")),
    (list, contents(list, "list")),
    (dict, read_mapping),
    (set, contents(set, "set")),
    (frozenset, contents(frozenset, "set")),
    (collections.deque, contents(collections.deque, "list")),
    (BaseException, read_exception),
    (decimal.Decimal, fixed(decimal.Decimal.__str__)),
    *((base, read_moment(names, base)) for base, names in _MOMENTS),
    (pathlib.PurePath, read_path),
    (io.StringIO, read_buffer(io.StringIO.getvalue)),
    (io.BytesIO, read_buffer(io.BytesIO.getvalue)),
    (FunctionType, read_function),
    (MethodType, read_function),
    (ModuleType, read_module),
    (re.Pattern, read_pattern),
    (re.Match, read_match),
    (contextvars.ContextVar, read_context_variable),
    (types.BuiltinFunctionType, fixed(lambda value: "<%s>" % _builtin_name(value))),
    *((base, named) for base in _CLOSED),
]
_PANDAS = ("DataFrame", "Series", "Index")


def plan_of(cls: type) -> ReadingPlan:
    name = _qualname(cls)
    words = _WORDS.get(id(cls))
    if words is not None:
        return ReadingPlan(cls, name, fixed(words), is_fixed=True)
    bases = mro_of(cls)
    slots: list[tuple[str, Any]] = []
    instance_dict = None
    for base in bases:
        for member_name, member in list(_namespace(base).items()):
            if type(member_name) is not str:
                continue
            if type(member) not in (MemberDescriptorType, GetSetDescriptorType):
                continue
            if member_name == "__dict__":
                instance_dict = instance_dict or member
            elif type(member) is MemberDescriptorType and member_name not in _HIDDEN and member_name[:2] != "__":
                slots.append((member_name, member))
    return ReadingPlan(cls, name, reading_of(cls, name, bases), slots, instance_dict, names_of_items(bases))


def names_of_items(bases: Sequence[type]) -> Sequence[str]:
    """Of a named tuple."""
    for base in bases:
        names = _namespace(base).get("_fields")
        if type(names) is tuple and all(type(name) is str for name in names):
            return names
    return ()


def reading_of(cls: type, name: str, bases: Sequence[type]) -> Reader:
    module = _namespace(cls).get("__module__")
    if name in _PANDAS and type(module) is str and module.startswith("pandas.core."):
        return read_pandas
    numpy = vars(sys.modules["numpy"]) if type(sys.modules.get("numpy")) is ModuleType else {}
    special = [(numpy.get("ndarray"), read_array), (numpy.get("generic"), read_number_of_numpy)]
    for known, read in [*special, *_BASES]:
        if any(base is known for base in bases):
            return read
    return read_object
