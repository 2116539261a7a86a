"""Which files of a project each of its Python files depends on.

In come the root and the files that changed; out comes the graph of the project as it is now, with deleted files as if
they were there. It has too many edges rather than too few:
- A file depends on what it imports or names, on the packages around it and on the conftest files above it.
- A package that imports on demand depends on all of its modules.
- Every file depends on plugins: conftest files with hooks for the whole session, files with `pytest_plugins`, modules
  that the settings of pytest or an entry point `pytest11` name.
- Some files can depend on any other: those that compute the names of modules, look for files to run, or cannot be
  read, and test code that starts processes. They are `open`, each with the reason.
Nothing is kept between calls.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pytest_mcp.changed import tree
from pytest_mcp.changed.imports.mentions import Mentions, Scanner
from pytest_mcp.changed.imports.modules import GROUP, Modules
from pytest_mcp.changed.tree import Tree, Unreadable

__all__ = ["Graph", "Unreadable", "build"]

_UNREADABLE = "cannot be read"
_STARTS = "starts processes"
_TEST_FOLDERS = frozenset({"test", "tests", "testing"})
# A section of a settings file with the word pytest in its title.
_SECTION = re.compile(rb"^\[[^\n\]]{0,99}pytest[^\n\]]{0,99}\][^\n]*+\n((?:(?!\[)[^\n]*+\n)*+)", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*+[#;][^\n]*+", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_][\w.]*+")
_REMAPPED = (b"package_dir", b"package-dir", b"pythonpath", b"force-include", b"sources")


@dataclass
class Graph:
    tree: Tree
    modules: Modules
    # Groups of files are among them.
    importers: dict[str, set[str]] = field(default_factory=dict)
    # Files that can depend on any other, each with the reason.
    open: dict[str, str] = field(default_factory=dict)
    # Files that every other depends on, each with the reason.
    everywhere: dict[str, str] = field(default_factory=dict)
    # The first file that contains one of the words that were looked for, and the word.
    mention: tuple[str, bytes] | None = None

    def add(self, importer: str, imported: Iterable[str]) -> None:
        for path in imported:
            self.importers.setdefault(path, set()).add(importer)

    def imports_all(self, importer: str, wanted: Iterable[str]) -> bool:
        """Whether a file imports all of these, directly or through others."""
        imports: dict[str, list[str]] = {}
        for imported, importers in self.importers.items():
            for path in importers:
                imports.setdefault(path, []).append(imported)
        seen, todo = {importer}, [importer]
        while todo:
            new = [path for path in imports.get(todo.pop(), ()) if path not in seen]
            seen.update(new)
            todo += new
        return seen.issuperset(wanted)


# Which words to look for in the files of a project.
Words = Callable[[Tree, Modules], Collection[bytes]]


def build(root: Path, changed: Iterable[str], words_in: Words = lambda _tree, _modules: ()) -> Graph:
    """Raises Unreadable, with the reason, if the files of the project cannot all be known. Each is read once."""
    found = tree.look(root)
    gone = [path for path in changed if path.endswith(".py")]
    modules = Modules({*found.python, *gone}, root.name)
    graph = Graph(found, modules)
    scanner = Scanner(modules.names)
    words = words_in(found, modules)
    mentions: dict[str, Mentions] = {}
    settings = dict.fromkeys(found.settings, b"")
    for path, content in tree.contents(found, [*dict.fromkeys([*found.python, *found.settings])]):
        if path.endswith(".py"):
            mentions[path] = Mentions(untold=_UNREADABLE) if content is None else scanner.scan(content, path)
        if path in settings:
            settings[path] = content or b""
        graph.mention = graph.mention or _mention(path, content or b"", words)
    modules.anywhere = any(each.paths for each in mentions.values()) or any(map(_remaps, settings.values()))
    for path, each in mentions.items():
        graph.add(path, _dependencies(path, each, modules))
    for link, target in found.links.items():
        graph.add(link, [target])
    for group in [name for name in graph.importers if name.endswith(GROUP)]:
        graph.add(group, modules.members(group))
    _open(graph, mentions)
    _spread(graph, mentions, settings)
    return graph


def _mention(path: str, content: bytes, words: Collection[bytes]) -> tuple[str, bytes] | None:
    """Of settings files only the part for pytest counts, and nothing in a setup.py."""
    if not words or path.endswith("setup.py"):
        return None
    texts = [content] if path.endswith(".py") else settings_of_pytest(content)
    return next(((path, word) for text in texts for word in words if word in text), None)


def _dependencies(path: str, found: Mentions, modules: Modules) -> set[str]:
    folder = path.rpartition("/")[0]
    needed = set(modules.around(path))
    for name in found.imports:
        if name.startswith("."):
            needed.update(modules.relative(path, name))
        else:
            needed.update(modules.named(name))
            needed.update(modules.beside(folder, name))
    for name in found.dotted:
        needed.update(modules.named(name, least=2))
    for name in found.quoted:
        needed.update(modules.named(name))
        needed.update(modules.named(f"{name}.__main__"))
    for name in found.scripts:
        needed.update(modules.scripts(name))
    for name in found.whole:
        needed.update(modules.whole(path, name))
    if found.lazy:
        needed.add(folder + GROUP)
    return needed


def _open(graph: Graph, mentions: dict[str, Mentions]) -> None:
    for path, found in mentions.items():
        if found.untold is not None:
            graph.open[path] = found.untold
        elif found.starts and (is_of_tests(path) or not graph.importers.get(path)):
            graph.open[path] = _STARTS


def is_of_tests(path: str) -> bool:
    return is_test(path) or PurePosixPath(path).name == "conftest.py" or not _TEST_FOLDERS.isdisjoint(path.split("/"))


def is_test(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith("test_") or name.endswith("_test.py")


def _spread(graph: Graph, mentions: dict[str, Mentions], settings: dict[str, bytes]) -> None:
    for path, found in mentions.items():
        if found.plugin:
            graph.everywhere[path] = "is a plugin of pytest"
    for path, content in settings.items():
        for name in _plugins(content):
            for plugin in graph.modules.importable(name):
                graph.everywhere.setdefault(plugin, f"is named in {path}")


def _plugins(settings: bytes) -> set[str]:
    """Names in the settings of pytest; all names if plugins of pytest are declared."""
    texts = [settings] if b"pytest11" in settings else settings_of_pytest(settings)
    return {name.decode() for text in texts for name in _WORD.findall(text)}


def settings_of_pytest(settings: bytes) -> list[bytes]:
    return [_COMMENT.sub(b"", text) for text in _SECTION.findall(settings + b"\n")]


def _remaps(settings: bytes) -> bool:
    return any(word in settings for word in _REMAPPED)
