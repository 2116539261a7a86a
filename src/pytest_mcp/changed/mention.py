"""What the definitions of a file mention: values, without any tree."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain as chain_all

from pytest_mcp.changed.definitions import Kind

Chain = tuple[str, ...]
# What is called, and after how many calls of what it returns: a decorator with arguments gets the function after one.
Call = tuple[Chain, int]


_SETS = (
    *("chains", "annotated", "attributes", "own", "strings", "parameters"),
    *("modules", "dotted", "flags", "leaks", "bound"),
)
_FIRST = ("has_metaclass", "autouse", "fixture", "owner")


@dataclass
class Mention:
    """What one definition mentions."""

    kind: Kind = "name"
    chains: set[Chain] = field(default_factory=set)
    # In annotations that only code that reads annotations can use.
    annotated: set[Chain] = field(default_factory=set)
    # Attributes of what is not known, and of self, cls and super().
    attributes: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    # Parameters, which may name fixtures.
    parameters: set[str] = field(default_factory=set)
    # Imports in it, by the name that they bind, of which there may be alternatives; modules that it imports by name.
    imports: dict[str, set["Origin"]] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    # All of `import a.b.c`, which binds a.
    dotted: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    # Of a class: its bases. Of a class or function: its decorators, with whether they are called.
    bases: list[Chain] = field(default_factory=list)
    decorators: list[tuple[Chain, bool]] = field(default_factory=list)
    has_metaclass: bool = False
    # For each binding of a name: whether it is to a container or text of Python's own.
    bound: set[bool] = field(default_factory=set)
    owner: str = ""
    # How many functions deep one of its parameters is called, stored or handed on.
    leaks: set[int] = field(default_factory=set)
    # Whether a decorator says `autouse`, and by which name it is a fixture.
    autouse: bool = False
    fixture: str | None = None

    def origins(self) -> Iterator["Origin"]:
        return chain_all.from_iterable(self.imports.values())

    def update(self, other: "Mention") -> None:
        for name in _SETS:
            getattr(self, name).update(getattr(other, name))
        for name, origins in other.imports.items():
            self.imports.setdefault(name, set()).update(origins)
        self.bases += other.bases
        self.decorators += other.decorators
        for name in _FIRST:
            setattr(self, name, getattr(self, name) or getattr(other, name))
        self.kind = max(self.kind, other.kind, key=lambda kind: kind == "class")


@dataclass(frozen=True)
class Origin:
    """What an import binds: a module, or a name in it. A star binds every name."""

    level: int
    module: str
    name: str | None


@dataclass
class FileMentions:
    definitions: dict[str, Mention] = field(default_factory=dict)
    # What statements change that another file may have bound.
    additions: set[str] = field(default_factory=set)
    # What runs when the file is imported: calls, with the names that they are given, and all names that must be there.
    run: Mention = field(default_factory=Mention)
    given: set[tuple[Chain, Chain]] = field(default_factory=set)
    calls: set[Call] = field(default_factory=set)
    needed: set[Chain] = field(default_factory=set)
    # What it imports, in this order, and whether that surely runs.
    imported: list[tuple[Mention, bool]] = field(default_factory=list)
    # Of a file that changed, as it is and as the base has it.
    versions: "tuple[FileMentions, FileMentions] | None" = None


def merge(now: FileMentions, before: FileMentions) -> FileMentions:
    """Of a file that changed: what came, and what went."""
    definitions = {**before.definitions, **now.definitions}
    return FileMentions(
        definitions,
        now.additions | before.additions,
        now.run,
        now.given,
        now.calls,
        now.needed,
        versions=(now, before),
    )
