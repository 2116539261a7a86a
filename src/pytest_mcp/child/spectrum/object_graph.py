"""What values lead to, a few levels deep, without running code of the project.

In come values; out come the addresses of all that they hold, to be compared later, or the classes among it. Standard
library only; Python 3.8 and newer.
"""

from __future__ import annotations

import dis
import re
import sys
from contextlib import suppress
from functools import lru_cache
from gc import get_referents
from itertools import chain, count
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Callable, Iterator, NamedTuple

# Like `id`, which raises an audit event: a hook makes it six times as slow, and recording has one.
identity = object.__hash__

# Immutable, and nobody notices that they are kept: an address that is in use is not used again.
SCALARS = frozenset([int, float, complex, str, bytes])
# Values that hold nothing for later; attributes of classes are names of their own.
PLAIN = SCALARS | {
    bool,
    type(None),
    type(...),
    frozenset,
    range,
    slice,
    BuiltinFunctionType,
    ModuleType,
    CodeType,
    type,
}
PLAIN_NAMES = frozenset(
    [
        ("re", "Pattern"),
        ("logging", "Logger"),
        ("_abc", "_abc_data"),
        ("builtins", "member_descriptor"),
        ("builtins", "getset_descriptor"),
    ]
)
# State that is not made of objects.
READINGS: dict[type, Callable[[Any], Any]] = {
    type(lru_cache(maxsize=1)(len)): lambda value: value.cache_info()[1:],
    count: repr,
    bytearray: bytes,
}
ATTRIBUTE = dis.opmap["STORE_ATTR"]
# Equal if their content is.
CONTAINERS = frozenset([list, tuple, dict, set])
PATTERN = type(re.compile(""))
# How deep it looks for changes and for classes, and at about how many values.
DEEPEST = 6
DEEPEST_CLASS = 8
MOST_VALUES = 50_000


def read_arrays() -> None:
    """If the project has imported `array`: to import it here would hide that a project does not."""
    array = getattr(sys.modules.get("array"), "array", None)
    if array is not None:
        READINGS[array] = array.tobytes


def is_class(value: Any) -> bool:
    # Not by isinstance, which asks a proxy for the class of what it stands for.
    return issubclass(type(value), type)


def is_state(value: Any) -> bool:
    return function_has_state(value) if type(value) is FunctionType else may_hold_state(type(value))


def may_hold_state(kind: type) -> bool:
    return kind not in PLAIN and not issubclass(kind, type) and (kind.__module__, kind.__name__) not in PLAIN_NAMES


def function_has_state(value: Any) -> bool:
    if value.__closure__ or value.__defaults__ or value.__kwdefaults__ or value.__dict__:
        return True
    code = value.__code__
    # `f.known = {}` inside of f.
    return code.co_name in code.co_names and ATTRIBUTE in code.co_code[::2]


def parts_of_function(value: Any) -> list[Any]:
    return [*value.__dict__.values(), *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]


def held_by(others: list[Any], functions: list[Any]) -> list[Any]:
    # One call for all: each raises an audit event.
    cells = chain.from_iterable([each.__closure__ or () for each in functions])
    found = get_referents(*others, *cells)
    found += chain.from_iterable(map(parts_of_function, functions))
    return found


def levels(values: list[Any], deepest: int) -> Iterator[tuple[list[Any], list[Any]]]:
    """Level by level the values that are looked into, and what they hold."""
    seen: set[int] = set()
    level, total = values, 0
    for _ in range(deepest):
        functions = [each for each in level if type(each) is FunctionType]
        found = held_by([each for each in level if type(each) is not FunctionType], functions)
        yield level, found
        new = {identity(each): each for each in found if type(each) not in PLAIN and identity(each) not in seen}
        kinds = {kind for kind in set(map(type, new.values())) if may_hold_state(kind)}
        level = [each for each in new.values() if type(each) in kinds]
        seen.update(new)
        total += len(found)
        if not level or total > MOST_VALUES:
            return


def marks_of(values: list[Any]) -> list[Any]:
    """Equal marks: nothing has changed. Fast."""
    marks: list[Any] = []
    for level, found in levels(values, DEEPEST):
        marks += map(identity, found)
        marks += [READINGS[type(each)](each) for each in level if type(each) in READINGS]
    return marks


class Step(NamedTuple):
    """One level: where its values are among those that the level before holds, and what they hold.

    That is kept by address and kind: another value can get the address of one that is gone.
    """

    others: list[int]
    functions: list[int]
    read: list[int]
    readings: list[Any]
    addresses: list[int]
    kinds: list[int]


class Snapshot:
    """What values lead to. To see that it is still the same is several times as fast as to look for it.

    Nothing is kept alive: as long as all addresses of a level are the same, the next level is at the same places.
    """

    def __init__(self, values: list[Any]) -> None:
        self.values = list(map(identity, values))
        self.steps: list[Step] = []
        places = {address: place for place, address in enumerate(self.values)}
        for level, found in levels(values, DEEPEST):
            addresses = list(map(identity, found))
            self.steps.append(step(level, places, addresses, kinds_of(found)))
            places = {address: place for place, address in enumerate(addresses)}

    def is_same(self, values: list[Any]) -> bool:
        # An address that is used again may be that of a value of another kind.
        with suppress(Exception):
            return self.values == list(map(identity, values)) and all(self.are_same(values))
        return False

    def are_same(self, found: list[Any]) -> Iterator[bool]:
        for others, functions, read, readings, addresses, kinds in self.steps:
            yield not read or readings == [READINGS[type(found[place])](found[place]) for place in read]
            found = held_by([found[place] for place in others], [found[place] for place in functions])
            yield addresses == list(map(identity, found)) and kinds == kinds_of(found)


def kinds_of(values: list[Any]) -> list[int]:
    return list(map(identity, map(type, values)))


def step(level: list[Any], places: dict[int, int], addresses: list[int], kinds: list[int]) -> Step:
    others = [places[identity(each)] for each in level if type(each) is not FunctionType]
    functions = [places[identity(each)] for each in level if type(each) is FunctionType]
    read = [each for each in level if type(each) in READINGS]
    readings = [READINGS[type(each)](each) for each in read]
    return Step(others, functions, [places[identity(each)] for each in read], readings, addresses, kinds)


def shape_of(value: Any) -> list[Any]:
    """Equal shapes: it has the same content, though perhaps in other containers. Scalars stay alive in it."""
    shape = [mark(value)]
    for level, found in levels([value], DEEPEST) if is_state(value) else ():
        shape += map(mark, found)
        shape += [READINGS[type(each)](each) for each in level if type(each) in READINGS]
    return shape


def mark(value: Any) -> Any:
    kind = type(value)
    if kind in SCALARS:
        return kind, value
    if kind in CONTAINERS:
        return kind, len(value)
    if kind is BuiltinFunctionType:
        return mark(value.__self__), value.__name__
    if kind is PATTERN:
        return value.pattern, value.flags
    return identity(value)


def reached(value: Any) -> set[type]:
    """The classes that it leads to, and those of all instances that it leads to."""
    if is_class(value):
        return {value}
    found = {type(value)}
    for _, inner in levels([value], DEEPEST_CLASS) if is_state(value) else ():
        found.update(each if is_class(each) else type(each) for each in inner)
    return found
