"""What is the same for all calls of a code object: its names, what is left to record, a digest of what it does."""

from __future__ import annotations

import sys
from itertools import islice
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Callable, Iterable, Iterator, NamedTuple

from value_kinds import digest_of, isinstance_of, module_dict, mro_of, namespace_of, qualname_of
from value_reading import MISSING

# The most calls of one function that are recorded, and the most parts of values that they read. Counted, and not by the
# clock: the runs that are compared must end at the same call.
CALLS_OF_ONE = 2_000
PARTS_OF_ONE = 60_000
# Names of globals that are read at each call.
GLOBALS = 12
_GENERATOR, _COROUTINE = 0x20, 0x80 | 0x200
_NEW_LOCALS, _VARIADIC = 0x02, (0x04, 0x08)
# Globals of these types cannot change, or have a record of their own.
_UNREAD = (FunctionType, ModuleType, BuiltinFunctionType, type, property, staticmethod, classmethod)


class Global(NamedTuple):
    """`owner` is the namespace of a module or class; None for the globals of the frame."""

    label: str
    owner: Any = None
    name: str = ""


class CodeFacts:
    """What is the same for all calls of a code object. The object is kept, so that its id stays its own."""

    def __init__(self, code: CodeType, place: int) -> None:
        self.code = code
        self.place = place
        # Qualified from Python 3.11 on.
        self.name: str = getattr(code, "co_qualname", code.co_name)
        self.left = CALLS_OF_ONE
        self.parts_left = PARTS_OF_ONE
        # How many of its recorded calls have not ended.
        self.running = 0
        count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in _VARIADIC)
        self.arguments = code.co_varnames[:count]
        self.names = self.arguments + code.co_freevars
        # Known at the first call.
        self.globals: tuple[Global, ...] | None = None
        self.is_body = not code.co_flags & _NEW_LOCALS
        self.is_generator = bool(code.co_flags & _GENERATOR)
        self.is_suspended = bool(code.co_flags & (_GENERATOR | _COROUTINE))
        self.opcodes = code.co_code

    @property
    def is_spent(self) -> bool:
        return self.left <= 0 or self.parts_left <= 0

    def state(self, frame: FrameType, is_wanted: Callable[[str], bool]) -> list[Any]:
        """Globals that it names, and attributes of the project's modules and classes: what calls leave to others."""
        if self.globals is None:
            self.globals = () if self.is_body else tuple(islice(globals_of(self, frame, is_wanted), GLOBALS))
        outer = frame.f_globals
        return [
            dict.get(outer, each.name, MISSING) if each.owner is None else each.owner.get(each.name, MISSING)
            for each in self.globals
        ]

    def digest(self) -> int:
        """Equal for code that does the same, wherever it stands in its file."""
        return digest_of(self.code)


def globals_of(facts: CodeFacts, frame: FrameType, is_wanted: Callable[[str], bool]) -> Iterator[Global]:
    """No functions, classes and modules: they have records of their own."""
    names = facts.code.co_names
    owners = []
    for name in names:
        value = dict.get(frame.f_globals, name, MISSING)
        if isinstance_of(value, type) or type(value) is ModuleType:
            owners.append((name, value))
        elif value is not MISSING and is_data(name, value):
            yield Global(name, name=name)
    if facts.arguments[:1] in (("self",), ("cls",)):
        first = frame.f_locals.get(facts.arguments[0])
        cls = first if isinstance_of(first, type) else type(first)
        owners.append((qualname_of(cls), cls))
    for label, owner in owners:
        for namespace in namespaces(owner, is_wanted):
            found = ((name, namespace.get(name, MISSING)) for name in names)
            for name, value in found:
                if value is not MISSING and is_data(name, value):
                    yield Global("%s.%s" % (label, name), namespace, name)


def namespaces(owner: Any, is_wanted: Callable[[str], bool]) -> Iterator[Any]:
    """Of a module or class of the project, and of classes above it."""
    if type(owner) is ModuleType:
        known = module_dict(owner) or {}
        if is_of_project(known, is_wanted):
            yield known
        return
    for cls in mro_of(owner):
        namespace = namespace_of(cls)
        name = namespace.get("__module__")
        module = sys.modules.get(name) if type(name) is str else None
        if isinstance_of(module, ModuleType) and is_of_project(module_dict(module) or {}, is_wanted):
            yield namespace


def is_of_project(module: dict[str, Any], is_wanted: Callable[[str], bool]) -> bool:
    file = module.get("__file__")
    return type(file) is str and is_wanted(file)


def items_of(namespace: Any) -> Iterable[tuple[Any, Any]]:
    """By the methods of `dict`: what code runs in may be an object of the project."""
    return dict.items(namespace) if isinstance_of(namespace, dict) else ()


def is_data(name: str, value: Any) -> bool:
    """Whether a name of a module or class stands for what is neither code nor the interpreter's own."""
    if name[:2] == "__" == name[-2:]:
        return False
    return not any(base is unread for base in mro_of(type(value)) for unread in _UNREAD)
