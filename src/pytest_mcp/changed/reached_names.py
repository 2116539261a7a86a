"""Which test files the changed definitions of a project reach, how near they are, and on what way."""

import ast
import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pytest_mcp.changed.definitions import AT_IMPORT, reordered, texts, touched
from pytest_mcp.changed.imports import Imports
from pytest_mcp.changed.lookup import BUILTINS, Lookup
from pytest_mcp.changed.mention import Call, FileMentions, merge
from pytest_mcp.changed.mentions import calls_at_import, scan
from pytest_mcp.changed.module_names import Modules
from pytest_mcp.changed.name_graph import NameGraph
from pytest_mcp.changed.project_files import Unreadable, is_of_tests
from pytest_mcp.changed.spread import Key
from pytest_mcp.changed.telltales import QUIET
from pytest_mcp.text import label

# The mentions of so many files are remembered, by their content.
MAX_REMEMBERED = 30_000
_remembered: OrderedDict[bytes, FileMentions | None] = OrderedDict()

Calls = set[tuple[Call, str, str]]


def parsed(content: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            # The parser has some about escapes in strings.
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def mentions_in(content: bytes) -> FileMentions | None:
    """None if it cannot be parsed."""
    key = hashlib.blake2b(content, digest_size=16).digest()
    if key not in _remembered:
        tree = parsed(content)
        _remembered[key] = None if tree is None else scan(tree)
        if len(_remembered) > MAX_REMEMBERED:
            _remembered.popitem(last=False)
    return _remembered[key]


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Raises Unreadable for code that this room does not expect: no test may be missed for it."""
    try:
        yield
    except (Unreadable, RecursionError):
        raise
    except Exception as error:
        raise Unreadable(f"{label(path)} could not be followed: {type(error).__name__}") from error


@dataclass(frozen=True)
class Selected:
    """Test files that the change reaches, nearest first, each with the way to it."""

    ways: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    distances: Mapping[str, int] = field(default_factory=dict)


class NameSelection:
    """`contents` are the Python files now, and `before` the changed ones at the base; None cannot be read."""

    def __init__(
        self,
        modules: Modules,
        contents: Mapping[str, bytes | None],
        before: Mapping[str, bytes | None],
        words: Iterable[str] = (),
        programs: Iterable[str] = (),
    ) -> None:
        self._contents = contents
        self._before = before
        self._tests: list[str] = []
        self._files: dict[str, FileMentions | None] = {}
        self._parsed: dict[str, tuple[ast.Module | None, ast.Module | None]] = {}
        self._lookup = Lookup(modules, self.read)
        self._imports = Imports(modules, self._lookup)
        self.graph = NameGraph(modules, self._lookup, self._imports, words, programs)

    def read(self, path: str) -> FileMentions | None:
        if path not in self._files:
            with _reading(path):
                self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> FileMentions | None:
        content, before = self._contents.get(path), self._before.get(path)
        now = FileMentions() if path not in self._contents else None if content is None else mentions_in(content)
        if path not in self._before:
            return now if path in self._contents else None
        old = FileMentions() if before is None else mentions_in(before)
        return None if now is None or old is None else merge(now, old)

    def imported(self, tests: Collection[str]) -> set[str]:
        """The files that any of these test files import."""
        self._run(tests)
        return {key[1] for key in self.graph.spread.keys if key[0] == "file" and self.graph.spread.bits(key)}

    def imports_changed(self, path: str) -> bool:
        """Whether a changed file is among those that it imports itself."""
        return any(key[0] == "file" and key[1] in self._before for key in self.graph.spread.after(("file", path)))

    def _run(self, tests: Collection[str]) -> None:
        self._tests = self._tests or sorted(tests)
        for number, path in enumerate(self._tests):
            self.graph.spread.start(("test", path), 1 << number)
        self.graph.run()

    def of(
        self,
        tests: Collection[str],
        ends: Iterable[Key] = (),
        tied: Iterable[tuple[Key, str]] = (),
        direct: Collection[str] = (),
    ) -> Selected:
        """The test files that reach what changed, with more that did.

        What is tied matters only to who also reaches a flag: a docstring to who reads docstrings.
        """
        self._run(tests)
        spread = self.graph.spread
        own_ends, own_tied = self._changed()
        by_flag = {
            path: 1
            for end, flag in (*own_tied, *tied)
            for path in self._of_bits(spread.bits(end) & spread.bits(("flag", flag)))
        }
        distances = {path: 1 for path in self._tests if path in direct} | by_flag
        following: dict[Key, list[tuple[int, Key]]] = {}
        for key, distance, bits, after in spread.distances({**dict.fromkeys(own_ends), **dict.fromkeys(ends)}):
            following.setdefault(key, []).append((bits, after))
            if key[0] == "test":
                distances.setdefault(key[1], distance)
        numbers = {path: number for number, path in enumerate(self._tests)}
        return Selected({path: self._way(path, following, 1 << numbers[path]) for path in distances}, distances)

    def _of_bits(self, bits: int) -> Iterator[str]:
        while bits:
            lowest = bits & -bits
            yield self._tests[lowest.bit_length() - 1]
            bits ^= lowest

    def _way(self, path: str, following: Mapping[Key, list[tuple[int, Key]]], bit: int) -> tuple[str, ...]:
        key: Key = ("test", path)
        way = []
        while key in following:
            key = next(after for bits, after in following[key] if bits & bit)
            if key[0] == "def" and key[1:] != (path,):
                way.append(key[2] or key[1])
            elif key[0] == "file" and key[1] != path:
                way.append(key[1])
        return tuple(dict.fromkeys(way))

    def rewritten(self) -> set[str]:
        """The files whose syntax trees differ: doctests are docstrings, and tests run in the order of the file."""
        trees = {path: self._trees(path) for path in self._before}
        return {
            path for path, (one, other) in trees.items() if not (one and other and ast.dump(one) == ast.dump(other))
        }

    def _trees(self, path: str) -> tuple[ast.Module | None, ast.Module | None]:
        """At the base and now; None if it is not there or cannot be parsed."""
        if path not in self._parsed:
            before, now = self._before[path], self._contents.get(path)
            self._parsed[path] = before if before is None else parsed(before), now if now is None else parsed(now)
        return self._parsed[path]

    def _changed(self) -> tuple[list[Key], list[tuple[Key, str]]]:
        ends: list[Key] = []
        tied: list[tuple[Key, str]] = []
        for path in sorted(self._before):
            with _reading(path):
                self._note_changed(path, ends, tied)
        return ends, tied

    def _note_changed(self, path: str, ends: list[Key], tied: list[tuple[Key, str]]) -> None:
        before, after = self._trees(path)
        pairs = (before, self._before[path]), (after, self._contents.get(path))
        what = touched(*(texts(tree, content or b"") if tree else {} for tree, content in pairs))
        moved = reordered(before, after) if before and after else set()
        kinds = {"def": what.code - self._plain_imports(path, what.came), "came": what.came, "gone": what.gone}
        ends += [(kind, path, name) for kind, names in kinds.items() for name in sorted(names)]
        tied += [(("def", path, name), "docs") for name in sorted(what.described)]
        tied += [(("def", path, name), "source") for name in sorted(what.written)]
        ends += [("def", path, name) for name in sorted(moved - {AT_IMPORT})]
        is_module = self._is_only_new_or_gone(path)
        if is_module:
            tied.append((("file", path), "imports"))
        elif self.read(path) is None or self._runs(path, what.code | moved):
            ends.append(("file", path))
        ends += self._kept(path, *(set() if tree is None else calls_at_import(tree) for tree in (before, after)))

    def _is_only_new_or_gone(self, path: str) -> bool:
        """Whether a module came or went that does nothing when it is imported, and that nobody else could find."""
        is_there = path in self._contents, self._before[path] is not None
        if all(is_there) or is_of_tests(path) or path.endswith("__init__.py"):
            return False
        return not (self._imports.acts(path) or self._imports.is_found(path, is_there.index(False)))

    def _kept(self, path: str, before: Calls, after: Calls) -> Iterator[Key]:
        """What may keep something that the import of a file gives it otherwise than before."""
        for chain, depth in sorted({call for call, *_ in before ^ after}):
            if self._imports.is_kept(path, chain, depth):
                yield "file", path
            # A quiet name may be a method of the project's own.
            yield from self._lookup.objects(path, chain)
            if chain[-1] not in QUIET:
                yield from (end for end in self._lookup.targets(path, chain[:1]) if self._lookup.kind(end) == "name")

    def _plain_imports(self, path: str, came: Iterable[str]) -> set[str]:
        """Imports that came. They are no change, unless their name stood for something else before."""
        read = self.read(path) or FileMentions()
        known = BUILTINS if "*" not in read.definitions else came
        return {name for name in came if name not in known and read.definitions[name].kind == "import"}

    def _runs(self, path: str, code: Collection[str]) -> bool:
        """Whether importing the file does something else: by a statement alone, or to what is not the project's."""
        read = self.read(path) or FileMentions()
        foreign = (name for name in read.additions.intersection(code) if read.definitions[name].kind != "name")
        is_new = path not in self._contents or self._before[path] is None
        return is_new or AT_IMPORT in code or any(foreign) or self._imports.matter(path)
