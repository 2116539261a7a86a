"""Which files the import of a file runs, in which order, and whether a change makes that matter to who imports it.

An import that was added, removed or moved is no change if the same files run in the same order as before: most modules
of a package are imported by the package already. Under a condition, in a `try` or for type checkers only, an import may
not run: elsewhere than in the changed file it does not count.
"""

import sys
from collections.abc import Iterator
from itertools import chain as chain_all

from pytest_mcp.changed.definitions import AT_IMPORT
from pytest_mcp.changed.lookup import Lookup
from pytest_mcp.changed.mention import Chain, FileMentions, Mention, Origin
from pytest_mcp.changed.module_names import NONE, Files, Modules
from pytest_mcp.changed.telltales import QUIET

NOW, BEFORE = 0, 1
# Files whose imports are followed in a large change. More of them count for all who import them.
MAX_COMPARED = 50


class Imports:
    def __init__(self, modules: Modules, lookup: Lookup) -> None:
        self._modules = modules
        self._lookup = lookup
        self._acting: dict[str, bool] = {}
        self._following: dict[tuple[str, int], list[str]] = {}
        self._found: dict[int, tuple[set[str], set[str]]] = {}
        self._compared = 0

    def of(self, path: str, mention: Mention) -> Iterator[str]:
        """The files that the imports in a definition run."""
        for origin in mention.origins():
            names = [origin.module] if origin.name in (None, "*") else [origin.module, f"{origin.module}.{origin.name}"]
            for name in names:
                yield from self._modules.of(path, origin.level, name.removeprefix("."))
        for name in (*mention.modules, *mention.dotted):
            parts = name.lstrip(".").split(".")
            level = len(name) - len(name.lstrip("."))
            for length in range(1, len(parts) + 1):
                yield from self._modules.of(path, level, ".".join(parts[:length]))

    def matter(self, path: str) -> bool:
        """Whether importing a changed file does something else than before because of the imports in it."""
        now, before = self._version(path, NOW), self._version(path, BEFORE)
        listed = [[*dict.fromkeys(self._listed(path, version))] for version in (now, before)]
        if any(self._is_missing(path, origin) for origin in _origins(now) - _origins(before)):
            return True
        if listed[NOW] == listed[BEFORE]:
            return False
        self._compared += 1
        added = {*listed[NOW]} - {*listed[BEFORE]}
        return (
            self._compared > MAX_COMPARED
            or any(self._leads_to(each, path) for each in added)
            or self._order(path, NOW) != self._order(path, BEFORE)
        )

    def _version(self, path: str, number: int) -> FileMentions:
        read = self._lookup.read(path) or FileMentions()
        return read.versions[number] if read.versions is not None else read

    def _listed(self, path: str, version: FileMentions, *, surely: bool = False) -> Iterator[str]:
        for mention, is_sure in version.imported:
            yield from sorted(self.of(path, mention)) if is_sure or not surely else ()

    def _packages(self, path: str) -> list[str]:
        return sorted(self._modules.around(path), key=len)

    def _order(self, path: str, number: int) -> list[str]:
        """The files that the import of this one runs, in the order in which they are done."""
        done: dict[str, None] = {}
        seen: set[str] = set()
        left = [("", iter([*self._packages(path), path]))]
        while left:
            file, following = left[-1]
            unseen = next((each for each in following if each not in seen), None)
            if unseen is None:
                done[file] = None
                left.pop()
            else:
                seen.add(unseen)
                left.append((unseen, iter(self._run_by(unseen, number, surely=unseen != path))))
        return [path for path in done if path and self.acts(path)]

    def _run_by(self, path: str, number: int, *, surely: bool) -> list[str]:
        if surely and (path, number) in self._following:
            return self._following[path, number]
        following = [*self._packages(path), *self._listed(path, self._version(path, number), surely=surely)]
        if surely:
            self._following[path, number] = following
        return following

    def acts(self, path: str) -> bool:
        """Whether importing the file may do more than to define names."""
        if path not in self._acting:
            self._acting[path] = self._is_acting(path)
        return self._acting[path]

    def _is_acting(self, path: str) -> bool:
        read = self._lookup.read(path)
        if read is None or AT_IMPORT in read.definitions or read.run.attributes:
            return True
        return (
            any(read.definitions[name].kind != "name" for name in read.additions)
            or any(self.is_kept(path, *each, outside=True) for each in read.calls)
            or any(self._tells(path, name) for name, mention in read.definitions.items() if mention.kind == "class")
        )

    def _tells(self, path: str, name: str) -> bool:
        """Whether making a class tells others of it."""
        family = self._lookup.family(path, name)
        return any(self._lookup.has_outside_base(*each) or self._lookup.makes_otherwise(*each) for each in family)

    def is_kept(self, path: str, chain: Chain, depth: int, *, outside: bool = False) -> bool:
        """Whether a call may keep what it is given; `outside` counts what is unknown as keeping it."""
        ends = list(self._lookup.targets(path, chain))
        inside = [end for end in ends if self._lookup.kind(end) not in ("import", None)]
        is_quiet = chain[-1] in QUIET and not any(self._lookup.objects(path, chain))
        return any(self._lookup.keeps(end, depth) for end in inside) or (
            outside and not is_quiet and all(self._lookup.kind(end) == "name" for end in inside)
        )

    def is_found(self, path: str, number: int) -> bool:
        """Whether some file, as it is or as it was, imports or names this one."""
        if number not in self._found:
            mentions = [
                (each, mention)
                for each in self._modules.files
                for mention in self._version(each, number).definitions.values()
            ]
            imported = {file for each, mention in mentions for file in self.of(each, mention)}
            self._found[number] = imported, {text for _, mention in mentions for text in mention.strings}
        files, texts = self._found[number]
        dotted = ".".join(path.removesuffix(".py").split("/")[-2:])
        return path in files or any(dotted in text for text in texts)

    def _leads_to(self, start: str, end: str) -> bool:
        """Whether it takes names from the other, which may not have them yet."""
        seen, left = {start, end, *self._packages(end)}, [start]
        while left:
            path = left.pop()
            version = self._version(path, NOW)
            if any(end in self._named_in(path, origin) for origin in _origins(version)):
                return True
            following = {*self._listed(path, version), *self._packages(path)} - seen
            seen |= following
            left += following
        return False

    def _named_in(self, path: str, origin: Origin) -> Files:
        """The files that must have a name which is no module."""
        is_module = origin.name is None or self._modules.of(
            path, origin.level, f"{origin.module}.{origin.name}".removeprefix(".")
        )
        return NONE if is_module else self._modules.of(path, origin.level, origin.module)

    def _is_missing(self, path: str, origin: Origin) -> bool:
        """Whether it names what a module of the project, or a package that is not ready, may not have."""
        # A file may only look like a module of the standard library.
        is_ours = origin.level or origin.module.partition(".")[0] not in sys.stdlib_module_names
        files = self._named_in(path, origin) if is_ours else NONE
        known = [self._version(each, NOW).definitions for each in files]
        is_there = any({str(origin.name), "*", "__getattr__"} & each.keys() for each in known)
        return bool(files) and (not files.isdisjoint(self._packages(path)) or not (is_there or origin.name == "*"))


def _origins(version: FileMentions) -> set[Origin]:
    return set(chain_all.from_iterable(mention.origins() for mention, _ in version.imported))
