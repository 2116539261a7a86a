"""State of the project that lives longer than a test, and which of it differs from the last look.

In come modules; out come the names of the state that has changed: a name in a module, or an attribute of a class. State
is all that these lead to, a few levels deep: containers, instances, default values and closures of functions, what
`lru_cache` keeps. Values are compared by address, so no code of the project runs, and of its objects only modules and
classes are kept alive. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Iterable, Iterator, Mapping, NamedTuple

from object_graph import Snapshot, identity, is_class, is_state, marks_of, reached, read_arrays, shape_of

# Names that change more often than this are looked at one by one, and then count as changed by every test.
OFTEN = 2
ALWAYS = 100


class Name(NamedTuple):
    """With the file of its module or, for an attribute, with the name of its class."""

    file: str
    owner: str
    name: str


# Stands for all names of a module.
ALL = "*"


class LongLived:
    def __init__(self) -> None:
        self.spaces: dict[int, Namespace] = {}
        # Of all names together: most tests change nothing.
        self.addresses: list[int] = []
        self.snapshot = Snapshot([])
        self.always: set[Name] = set()

    def changed(self, modules: Iterable[Any]) -> set[Name]:
        """Since the last look. Of a module that is new, all names have changed."""
        new = [module for module in modules if identity(module) not in self.spaces]
        if new:
            read_arrays()
        for module in new:
            self.add(module, module.__file__)
        found = {Name(module.__file__, "", ALL) for module in new}
        addresses = self.all_addresses()
        if addresses != self.addresses:
            self.addresses = addresses
            found.update(name for space in self.spaces.values() for name in space.rebound())
        found.update(name for space in self.spaces.values() if space.often for name in space.differing(space.often))
        if found or not self.snapshot.is_same(self.stable_values()):
            found.update(name for space in self.spaces.values() for name in space.differing(space.marks))
            self.always.update(name for space in self.spaces.values() for name in space.take_always())
            self.snapshot = Snapshot(self.stable_values())
        return found | self.always

    def all_addresses(self) -> list[int]:
        return list(map(identity, chain.from_iterable([space.values.values() for space in self.spaces.values()])))

    def stable_values(self) -> list[Any]:
        return [value for space in self.spaces.values() if space.marks for value in space.stable()]

    def add(self, owner: Any, file: str) -> None:
        """With the classes that it defines."""
        self.spaces[identity(owner)] = space = Namespace(owner, file)
        list(space.rebound())
        for value in list(vars(owner).values()):
            if is_class(value) and is_defined_in(owner, value) and identity(value) not in self.spaces:
                self.add(value, "")

    def ways_to(self, owners: set[str]) -> dict[str, set[Name]]:
        """For each of these classes the names in modules that lead to it, to a subclass or to an instance."""
        found: dict[str, set[Name]] = {owner: set() for owner in owners}
        if not owners:
            return found
        led = {space.place: space.classes() for space in self.spaces.values()}
        held = {owner: set().union(*each.values()) for (_, owner), each in led.items() if owner}
        for (file, owner), names in led.items():
            for name, classes in () if owner else names.items():
                for each in owners & closure(classes, held):
                    found[each].add(Name(file, "", name))
        return found


def closure(classes: Iterable[str], held: Mapping[str, set[str]]) -> set[str]:
    """With the classes that attributes of these lead to."""
    found: set[str] = set()
    todo = list(classes)
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo += held.get(each, ())
    return found


def is_defined_in(owner: Any, value: type) -> bool:
    if not is_class(owner):
        return bool(value.__module__ == owner.__name__)
    return value.__qualname__.startswith(f"{owner.__qualname__}.")


def class_name(owner: type) -> str:
    return f"{owner.__module__}.{owner.__qualname__}"


class Namespace:
    """The names of a module or of a class, as they were at the last look."""

    def __init__(self, owner: Any, file: str) -> None:
        self.values: Mapping[str, Any] = vars(owner)
        self.place = (file, class_name(owner) if is_class(owner) else "")
        self.bound: dict[str, int] = {}
        # For each name that leads to state, what that was.
        self.marks: dict[str, list[Any]] = {}
        self.shapes: dict[str, list[Any]] = {}
        self.changes: dict[str, int] = {}
        self.often: set[str] = set()

    def stable(self) -> list[Any]:
        values = self.values
        return [values.get(name) for name in self.marks if name not in self.often]

    def classes(self) -> dict[str, set[str]]:
        """For each name the classes that it leads to, with their bases."""
        kinds = {name: reached(value) for name, value in list(self.values.items())}
        return {name: {class_name(base) for kind in found for base in kind.__mro__} for name, found in kinds.items()}

    def rebound(self) -> Iterator[Name]:
        """The names that have another value."""
        before, now = self.bound, {name: identity(value) for name, value in list(self.values.items())}
        if before != now:
            self.bound = now
            changed = [name for name in {**now, **before} if now.get(name) != before.get(name)]
            yield from self.note([name for name in changed if not name.startswith(("__", "@"))])

    def differing(self, names: Iterable[str]) -> Iterator[Name]:
        """The names whose value is the same, but not all that it leads to."""
        values = self.values
        looked_at = [name for name in names if name in self.marks]
        yield from self.note([name for name in looked_at if marks_of([values.get(name)]) != self.marks[name]])

    def note(self, names: list[str]) -> Iterator[Name]:
        values = self.values
        for name in names:
            value = values.get(name)
            shape = shape_of(value)
            if shape != self.shapes.get(name):
                self.count(name)
                yield Name(*self.place, name)
            # Always the new one: the addresses in the old one may be used again.
            self.shapes[name] = shape
            self.marks.pop(name, None)
            if is_state(value) and self.changes[name] <= ALWAYS:
                self.marks[name] = marks_of([value])

    def count(self, name: str) -> None:
        self.changes[name] = changes = self.changes.get(name, -1) + 1
        if changes > OFTEN:
            self.often.add(name)

    def take_always(self) -> Iterator[Name]:
        for name in [name for name in self.often if self.changes[name] > ALWAYS]:
            self.often.discard(name)
            self.marks.pop(name, None)
            yield Name(*self.place, name)
