"""Which reader a class has, by the first of its bases that is known."""

from __future__ import annotations

import collections
import contextvars
import decimal
import enum
import io
import pathlib
import re
import sys
import types
import weakref
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Sequence

import library_values as library
import value_kinds as kinds
from value_kinds import Reader, ReadingPlan

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
    (enum.Enum, library.read_member),
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
    *((base, library.read_moment(names, base)) for base, names in library.MOMENTS),
    (pathlib.PurePath, library.read_path),
    (io.StringIO, library.read_buffer(io.StringIO.getvalue)),
    (io.BytesIO, library.read_buffer(io.BytesIO.getvalue)),
    (FunctionType, kinds.read_function),
    (MethodType, kinds.read_function),
    (ModuleType, kinds.read_module),
    (re.Pattern, library.read_pattern),
    (re.Match, library.read_match),
    (contextvars.ContextVar, library.read_context_variable),
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
        return library.read_pandas
    numpy = vars(sys.modules["numpy"]) if type(sys.modules.get("numpy")) is ModuleType else {}
    special = [(numpy.get("ndarray"), library.read_array), (numpy.get("generic"), library.read_number_of_numpy)]
    for known, read in [*special, *_BASES]:
        if any(base is known for base in bases):
            return read
    return kinds.read_object
