"""How values of each class are read by their structure, without running any code of the project.

No method, operator or attribute of a value is used unless its exact type is the interpreter's own: a `__repr__`, an
`__eq__`, a property or a metaclass of the project may do anything. Instance dictionaries and slots are read through the
interpreter's descriptors, what a subclass of a builtin type contains through the methods of that builtin type.
"""

from __future__ import annotations

from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType
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
# Larger integers have a checksum.
MAX_BITS = 512

# The number of a value, and how many parts it has.
Reading = Tuple[int, int]
# Given the table, the value, how its class is read, and how deep it may be and how many parts it may have.
Reader = Callable[..., Reading]

# Read through what the interpreter itself has, never through the class of a value.
mro_of = type.__dict__["__mro__"].__get__
namespace_of = type.__dict__["__dict__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
module_dict = vars(ModuleType)["__dict__"].__get__
_exception_args = BaseException.__dict__["args"].__get__
# What the standard library keeps besides, or fills when it is asked for.
HIDDEN = frozenset(("_hash", "_str", "_str_normcase_cached", "_parts_normcase_cached"))


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
        words = WORDS.get(id(type(value)))
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
    keys, spent_on_keys = values.numbers_of([key for key, _ in first], depth, len(first))
    members, spent = values.numbers_of([member for _, member in first], depth, parts - 1)
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
        fields += [(name, member) for name, member in pairs if type(name) is str and name not in HIDDEN]
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
    if function.__code__.co_filename[:1] == "<":
        # A program has made it: its code has no record of its own.
        fields.append(("code", "checksum %08x" % digest_of(function.__code__)))
    return values.fields(("function", values.masked(function.__qualname__)), fields, depth, parts)


def digest_of(code: CodeType) -> int:
    constants = [repr(each) if not isinstance(each, CodeType) else digest_of_inner(each) for each in code.co_consts]
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants)
    return crc32(repr(parts).encode("utf-8", "surrogatepass"))


def digest_of_inner(code: CodeType) -> object:
    """Functions and classes inside have records of their own."""
    return digest_of(code) if code.co_name.startswith("<") else code.co_name


def content_of(cell: Any) -> Iterator[Any]:
    """Nothing if it is not set yet."""
    try:
        yield cell.cell_contents
    except ValueError:
        return


def read_class(values: ValueReader, value: Any, _plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    return values.number(("atom", "<class %s>" % qualname_of(value))), 1


def read_module(values: ValueReader, value: Any, _plan: ReadingPlan, _depth: int, _parts: int) -> Reading:
    name = (module_dict(value) or {}).get("__name__")
    return values.number(("atom", "<module %s>" % (name if type(name) is str else "?"))), 1


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
WORDS = {id(cls): words for cls, words in _ATOMS}
