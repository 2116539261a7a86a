"""What a name stands for in a file: the definitions that a chain of attributes can mean, through imports and stars."""

import builtins
from collections.abc import Callable, Iterator
from itertools import chain as chain_all

from pytest_mcp.changed.mention import Chain, FileMentions, Mention, Origin
from pytest_mcp.changed.module_names import Modules
from pytest_mcp.changed.spread import Key
from pytest_mcp.changed.telltales import DATA, words

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__path__", "__package__", "__spec__", "__builtins__"}
# Classes whose subclasses have no method called for this reason alone.
_PLAIN_BASES = words(
    "object ABC Generic Protocol Enum IntEnum StrEnum Flag IntFlag NamedTuple namedtuple TypedDict dict list "
    "tuple set frozenset str int float bytes OrderedDict defaultdict type UserDict UserList local SimpleNamespace"
)
# In a class and those that it inherits from.
_MAX_FAMILY = 40


class Lookup:
    def __init__(self, modules: Modules, read: Callable[[str], FileMentions | None]) -> None:
        self._modules = modules
        self.read = read
        # By their last name.
        self.methods: dict[tuple[str, str], dict[str, str]] = {}
        self._known: dict[tuple[str, Chain], tuple[Key, ...]] = {}

    def definitions(self, path: str) -> dict[str, Mention]:
        read = self.read(path)
        return {} if read is None else read.definitions

    def targets(
        self, path: str, chain: Chain, imports: dict[str, set[Origin]] | None = None, seen: set[Key] | None = None
    ) -> Iterator[Key]:
        if imports and chain[0] in imports:
            for each in imports[chain[0]]:
                yield from self.imported(path, each, chain[1:], set())
        elif seen is not None:
            yield from self._looked_up(path, chain, seen)
        else:
            if (path, chain) not in self._known:
                self._known[path, chain] = tuple(self._looked_up(path, chain, set()))
            yield from self._known[path, chain]

    def _looked_up(self, path: str, chain: Chain, seen: set[Key]) -> Iterator[Key]:
        root, rest = chain[0], chain[1:]
        if (path, root) in seen:
            return
        seen.add((path, root))
        mention = self.definitions(path).get(root)
        if mention is not None:
            yield from self._bound(path, mention, chain, seen)
        else:
            bound = self._starred(path, chain, seen)
            yield from bound
            if root not in BUILTINS and not any(end[0] == "def" for end in bound):
                yield from (("any", each) for each in chain)
        if rest and root in BUILTINS:
            yield from (("any", each) for each in rest)

    def _bound(self, path: str, mention: Mention, chain: Chain, seen: set[Key]) -> Iterator[Key]:
        root, rest = chain[0], chain[1:]
        yield "def", path, root
        for each in mention.imports.get(root, ()):
            yield from self.imported(path, each, rest, seen)
        if mention.kind == "class" and rest:
            nested = f"{root}.{rest[0]}"
            if self.kind(("def", path, nested)) == "class":
                yield from self._bound(path, self.definitions(path)[nested], (nested, *rest[1:]), seen)
            yield "own", path, root, rest[0]
            yield from (("any", each) for each in rest[1:])
        elif mention.kind != "import":
            yield from (("any", each) for each in rest)

    def _starred(self, path: str, chain: Chain, seen: set[Key]) -> list[Key]:
        """What star imports bind it to."""
        stars = self.definitions(path).get("*")
        origins = stars.imports["*"] if stars is not None else ()
        ends = (self.targets(each, chain, None, seen) for origin in origins for each in self.stars(path, origin))
        return list(chain_all(*ends))

    def stars(self, path: str, origin: Origin) -> Iterator[str]:
        if origin.name == "*":
            yield from self._modules.of(path, origin.level, origin.module)

    def imported(self, path: str, origin: Origin, rest: Chain, seen: set[Key]) -> Iterator[Key]:
        if origin.name is None:
            yield from self.module_chain(path, origin, rest, seen)
        elif origin.name != "*":
            yield from self.module_chain(path, origin, (origin.name, *rest), seen)

    def module_chain(self, path: str, origin: Origin, rest: Chain, seen: set[Key]) -> Iterator[Key]:
        """An attribute of a module is a module in it, or something that it binds."""
        files = self._modules.of(path, origin.level, origin.module)
        if not rest:
            yield from (("value", each) for each in files)
            return
        inner = Origin(origin.level, f"{origin.module}.{rest[0]}".removeprefix("."), None)
        is_module = self._is_module(path, inner)
        yield from (("file", each) for each in self._modules.of(path, inner.level, inner.module))
        yield from self.module_chain(path, inner, rest[1:], seen) if is_module else ()
        for each in files:
            if rest[0] in self.definitions(each) or ("*" in self.definitions(each) and not is_module):
                yield from self.targets(each, rest, None, seen)
            else:
                yield "def", each, rest[0]
                yield from (("any", name) for name in rest)

    def _is_module(self, path: str, origin: Origin) -> bool:
        return bool(self._modules.of(path, origin.level, origin.module)) or (
            not origin.level and self._modules.is_inside(origin.module)
        )

    # --- what a definition is --------------------------------------------------------------------------

    def keeps(self, end: Key, depth: int) -> bool:
        """Whether calling it, and so often what it returns, may keep or call what it is given."""
        mention = self.definitions(end[1]).get(end[2]) if end[0] == "def" else None
        if mention is None or mention.kind != "class":
            # A name may stand for any object, lambda or method.
            is_object = mention is not None and mention.kind == "name" and not self.is_data(end[1], end[2])
            return mention is not None and (is_object or depth in mention.leaks)
        return depth > 0 or any(self._is_keeping(*each) for each in self.family(end[1], end[2]))

    def _is_keeping(self, path: str, name: str) -> bool:
        methods = [self.definitions(path)[full] for full in self.methods_of(path, name).values()]
        is_told = not {"__setattr__", "__set_name__"}.isdisjoint(self.methods_of(path, name))
        return (
            is_told
            or any(each.leaks for each in methods)
            or self.has_outside_base(path, name)
            or self.makes_otherwise(path, name)
        )

    def makes_otherwise(self, path: str, name: str) -> bool:
        """Whether making the class may do anything: by a metaclass, or by a base that is told of it."""
        mention = self.definitions(path)[name]
        return "__init_subclass__" in self.methods_of(path, name) or mention.has_metaclass

    def kind(self, end: Key) -> str | None:
        mention = self.definitions(end[1]).get(end[2]) if end[0] == "def" else None
        return None if mention is None else mention.kind

    def is_data(self, path: str, name: str) -> bool:
        """Whether it is a dict or the like, whose methods do the same whatever is in it."""
        known = self.definitions(path)
        return name in known and known[name].bound == {True} and DATA.isdisjoint(known)

    def objects(self, path: str, chain: Chain) -> Iterator[Key]:
        """The objects of the project, without its plain data, that have the last name of a chain."""
        for end in self.targets(path, chain[:-1]) if len(chain) > 1 else ():
            if self.kind(end) == "name" and not self.is_data(end[1], end[2]):
                yield end

    def methods_of(self, path: str, owner: str) -> dict[str, str]:
        """By their last name."""
        if (path, owner) not in self.methods:
            found = {name: each for name, each in self.definitions(path).items() if each.owner == owner}
            self.methods[path, owner] = {name.rpartition(".")[2]: name for name in found}
        return self.methods[path, owner]

    def family(self, path: str, name: str) -> list[tuple[str, str]]:
        """A class and those that it inherits from."""
        family = {(path, name): None}
        left = [(path, name)]
        while left and len(family) < _MAX_FAMILY:
            file, owner = left.pop()
            mention = self.definitions(file).get(owner)
            for chain in mention.bases if mention is not None else ():
                for end in self.targets(file, chain):
                    if self.kind(end) == "class" and (end[1], end[2]) not in family:
                        family[end[1], end[2]] = None
                        left.append((end[1], end[2]))
        return list(family)

    def has_outside_base(self, path: str, name: str) -> bool:
        mention = self.definitions(path).get(name)
        return mention is not None and any(
            chain[-1] not in _PLAIN_BASES
            and not chain[-1].endswith(("Error", "Exception", "Warning"))
            and not any(self.kind(end) == "class" for end in self.targets(path, chain))
            for chain in mention.bases
        )
