"""Objects of the project that live longer than a test: those that module-level names and attributes of classes lead to.

In come modules; out come for each such object the names by which code can reach it, each with the file of its module
or, for an attribute of a class, no file; and the classes that have such instances. It looks a few levels deep into
containers and instances, without running code of theirs. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Iterable, Iterator, Tuple

Name = Tuple[str, str]
# The file of an attribute, which any module can use.
ANY = ""

# Values that hold nothing for later.
PLAIN = (str, bytes, int, float, complex, frozenset, type(None), FunctionType, BuiltinFunctionType, ModuleType)
# Modules of classes that have too many subclasses to mean anything.
SHARED_BASES = {"builtins", "abc", "typing", "enum", "collections"}
# How deep it looks, and at how many objects of one survey.
DEEPEST = 4
MOST_OBJECTS = 20_000


class LongLived:
    def __init__(self) -> None:
        self.names: dict[int, set[Name]] = {}
        self.classes: set[type] = set()

    def survey(self, modules: Iterable[ModuleType]) -> None:
        names: dict[int, set[Name]] = {}
        classes: set[type] = set()
        for module in modules:
            for name, value in roots(module):
                for found in reachable(value) if len(names) < MOST_OBJECTS else ():
                    names.setdefault(id(found), set()).add(name)
                    classes.update(each for each in type(found).__mro__ if each.__module__ not in SHARED_BASES)
        self.names, self.classes = names, classes

    def has_instance_of(self, value: Any) -> bool:
        return not self.classes.isdisjoint(type(value).__mro__)


def roots(module: ModuleType) -> Iterator[tuple[Name, Any]]:
    file = str(module.__file__)
    for name, value in list(vars(module).items()):
        if name.startswith("__"):
            continue
        if issubclass(type(value), type):
            if value.__module__ == module.__name__:
                yield from [((ANY, inner), each) for inner, each in list(vars(value).items())]
        else:
            yield (file, name), value


def reachable(value: Any) -> Iterator[Any]:
    seen: set[int] = set()
    level = [value]
    for _ in range(DEEPEST):
        level = [each for each in level if id(each) not in seen and is_state(each)]
        seen.update(map(id, level))
        yield from level
        level = [inner for each in level for inner in parts(each)][:MOST_OBJECTS]


def is_state(value: Any) -> bool:
    # Not by isinstance, which asks a proxy for the class of what it stands for.
    return not issubclass(type(value), (*PLAIN, type)) and type(value).__name__ not in ("Pattern", "Logger")


def parts(value: Any) -> Iterable[Any]:
    """Only of exact types, and of an instance its `__dict__`: others may run code of the project."""
    if type(value) in (list, tuple, set):
        return list(value)
    if type(value) is dict:
        return list(value.values())
    try:
        return list(object.__getattribute__(value, "__dict__").values())
    except Exception:  # noqa: BLE001 - values of the project can do anything
        return []
