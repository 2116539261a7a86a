"""Which files of a project each of its Python files depends on.

The graph is that of the project as it is now, with deleted files as if they were there. It has too many edges rather
than too few:
- A file depends on what it imports or names, on the packages around it and on the conftest files above it.
- A package that imports on demand depends on all of its modules.
- Every file depends on plugins: conftest files with hooks for the whole session, files with `pytest_plugins`, modules
  that the settings of pytest or an entry point `pytest11` name.
- Some files can depend on any other: those that compute the names of modules, look for files to run, or cannot be
  read, and test code that starts processes. They are `open`, each with the reason.
Which files a dotted name can stand for is decided in `Modules`, wherever modules are looked for: a name with a dot
matches every file whose path ends in it. A single name matches files in folders that are no packages, files beside the
importing one, and any file if the project changes where modules are looked for. A group stands for many files.
"""

import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pytest_mcp.changed import project_files
from pytest_mcp.changed.mentions import Mentions, Names, Scanner
from pytest_mcp.changed.project_files import ScannedFiles, is_of_tests

# Folders above this depth do not begin a name.
DEEPEST_NAME = 20
Files = frozenset[str]
# The end of a name that stands for many files, so that each of its importers has one edge and not thousands.
GROUP = "/"
# Begins the name of a group of equal names in any folder; no path has it.
_ANY = "\0"
NONE: Files = frozenset()
_UNREADABLE = "cannot be read"
# A section of a settings file with the word pytest in its title.
_SECTION = re.compile(rb"^\[[^\n\]]{0,99}pytest[^\n\]]{0,99}\][^\n]*+\n((?:(?!\[)[^\n]*+\n)*+)", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*+[#;][^\n]*+", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_][\w.]*+")
_REMAPPED = (b"package_dir", b"package-dir", b"pythonpath", b"force-include", b"sources")


class Modules:
    def __init__(self, files: Iterable[str], root_name: str) -> None:
        self._sorted = sorted(files)
        self.files = frozenset(self._sorted)
        # By the end of their path: single names only where they can be imported, and all of them.
        self._by_end: dict[str, set[str]] = {}
        self._by_name: dict[str, set[str]] = {}
        self._beside: dict[str, dict[str, list[str]]] = {}
        self._folders: dict[str, set[str]] = {}
        # Set if modules may be looked for in any folder.
        self.anywhere = False
        self._resolved: dict[tuple[str, int], Files] = {}
        self._around: dict[str, Files] = {}
        for path in self._sorted:
            self._add(path, root_name)
        for folder in {parent for path in self._sorted for parent in parents(path)}:
            self._add_folder(folder, root_name)

    def _add(self, path: str, root_name: str) -> None:
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__":
            parts.pop()
        folder = "/".join(parts[:-1])
        full = [root_name, *parts]
        self._beside.setdefault(folder, {}).setdefault(full[-1], []).append(path)
        self._by_name.setdefault(full[-1], set()).add(path)
        if not folder or f"{folder}/__init__.py" not in self.files:
            self._by_end.setdefault(full[-1], set()).add(path)
        for end in _ends(full):
            self._by_end.setdefault(end, set()).add(path)

    def _add_folder(self, folder: str, root_name: str) -> None:
        full = [root_name, *folder.split("/")]
        for end in (full[-1], *_ends(full)):
            self._folders.setdefault(end, set()).add(folder)

    @property
    def names(self) -> Names:
        folders = frozenset(end for end in self._folders if "." not in end)
        every = {folder for folders in self._folders.values() for folder in folders}
        tops = {folder for folder in every if f"{folder.rpartition('/')[0]}/__init__.py" not in self.files}
        importable = frozenset(end for end in self._by_end if "." not in end)
        packages = frozenset(end for end in self._folders if "." in end)
        return Names(folders, packages, frozenset(top.rpartition("/")[2] for top in tops), importable)

    def named(self, name: str, *, least: int = 1) -> Files:
        """The files of a dotted name and of the packages it begins with; `least` is the shortest beginning."""
        key = (name, least)
        if key not in self._resolved:
            self._resolved[key] = frozenset(self._find(name, least))
        return self._resolved[key]

    def importable(self, name: str, *, least: int = 1) -> Iterator[str]:
        """The same, if modules are looked for in the usual folders alone."""
        parts = name.split(".", DEEPEST_NAME)
        for length in range(least, len(parts) + 1):
            yield from self._by_end.get(".".join(parts[:length]), ())

    def _find(self, name: str, least: int) -> Iterator[str]:
        yield from self.importable(name, least=least)
        if self.anywhere:
            # Any folder may be on the path, or be installed as a package of another name.
            parts = name.split(".", DEEPEST_NAME)
            for start in range(1, len(parts)):
                yield from self.importable(".".join(parts[start:]), least=2)
            yield from (_ANY + part + GROUP for part in parts[:2] if part in self._by_name)

    def relative(self, importer: str, name: str) -> Files:
        """The files of a name that begins with dots, and of the packages on the way."""
        base, parts = _relative(importer, name)
        if base is None:
            return NONE
        stems = ("/".join([*base, *parts[:length]]) for length in range(len(parts) + 1))
        return self.files.intersection(path for stem in stems for path in _files_of(stem))

    def beside(self, folder: str, name: str) -> Iterable[str]:
        neighbours = self._beside.get(folder)
        return () if neighbours is None else neighbours.get(name.partition(".")[0], ())

    def around(self, path: str) -> Files:
        """The packages and the conftest files of the folders that a file is in."""
        folder = path.rpartition("/")[0]
        if folder not in self._around:
            prefixes = ["", *(f"{each}/" for each in parents(path))]
            names = (prefix + name for prefix in prefixes for name in ("__init__.py", "conftest.py"))
            self._around[folder] = self.files.intersection(names)
        return self._around[folder]

    def scripts(self, name: str) -> list[str]:
        return [_ANY + name + GROUP] if name in self._by_name else []

    def whole(self, importer: str, name: str) -> Iterator[str]:
        """Every module of the packages that a name can stand for, as groups."""
        if not name.startswith("."):
            yield from (folder + GROUP for folder in self._folders.get(name, ()))
            return
        base, parts = _relative(importer, name)
        if base is not None:
            yield "/".join([*base, *parts]) + GROUP

    def members(self, group: str) -> Iterable[str]:
        """The files of a group: all below a folder, or all of a name."""
        name = group.removesuffix(GROUP)
        return self._by_name.get(name.removeprefix(_ANY), ()) if name.startswith(_ANY) else self.below(name)

    def below(self, folder: str) -> list[str]:
        prefix = f"{folder}/" if folder else ""
        return self._sorted[bisect_left(self._sorted, prefix) : bisect_left(self._sorted, prefix + "\U0010ffff")]


def parents(path: str) -> Iterator[str]:
    """The folders of a path, without the root."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def _ends(parts: list[str]) -> Iterator[str]:
    """The dotted ends of a path, of two and more parts."""
    for start in range(max(0, len(parts) - DEEPEST_NAME), len(parts) - 1):
        yield ".".join(parts[start:])


def _relative(importer: str, name: str) -> tuple[list[str] | None, list[str]]:
    """The folder at which the dots of a name end, None if outside of the root, and the parts behind them."""
    rest = name.lstrip(".")
    folders = importer.split("/")[:-1]
    left = len(folders) - (len(name) - len(rest) - 1)
    return folders[:left] if left >= 0 else None, [part for part in rest.split(".") if part]


def _files_of(stem: str) -> tuple[str, str]:
    return f"{stem}.py" if stem else "__init__.py", f"{stem}/__init__.py" if stem else "__init__.py"


@dataclass
class Graph:
    files: ScannedFiles
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


# Which words to look for in the files of a project.
Words = Callable[[ScannedFiles, Modules], Collection[bytes]]


def build(root: Path, changed: Iterable[str], words_in: Words = lambda _files, _modules: ()) -> Graph:
    """Raises Unreadable, with the reason, if the files of the project cannot all be known. Each is read once."""
    files = project_files.list_files(root)
    gone = [path for path in changed if path.endswith(".py")]
    modules = Modules({*files.python, *gone}, root.name)
    graph = Graph(files, modules)
    scanner = Scanner(modules.names)
    words = words_in(files, modules)
    mentions: dict[str, Mentions] = {}
    settings = dict.fromkeys(files.settings, b"")
    with warnings.catch_warnings():
        # The parser has some about escapes in strings.
        warnings.simplefilter("ignore")
        for path, content in project_files.contents(files, [*dict.fromkeys([*files.python, *files.settings])]):
            if path.endswith(".py"):
                mentions[path] = Mentions(untold=_UNREADABLE) if content is None else scanner.scan(content, path)
            if path in settings:
                settings[path] = content or b""
            graph.mention = graph.mention or _mention(path, content or b"", words)
    modules.anywhere = any(each.paths for each in mentions.values()) or any(
        word in content for content in settings.values() for word in _REMAPPED
    )
    for path, each in mentions.items():
        graph.add(path, _dependencies(path, each, modules))
    for link, target in files.links.items():
        graph.add(link, [target])
    for group in [name for name in graph.importers if name.endswith(GROUP)]:
        graph.add(group, modules.members(group))
    _mark(graph, mentions, settings)
    return graph


def _mention(path: str, content: bytes, words: Collection[bytes]) -> tuple[str, bytes] | None:
    """Only the part for pytest counts in settings files, and nothing in a setup.py."""
    if not words or path.endswith("setup.py"):
        return None
    texts = [content] if path.endswith(".py") else settings_of_pytest(content)
    return next(((path, word) for text in texts for word in words if word in text), None)


def _dependencies(path: str, mentions: Mentions, modules: Modules) -> set[str]:
    folder = path.rpartition("/")[0]
    needed = set(modules.around(path))
    for name in mentions.imports:
        if name.startswith("."):
            needed.update(modules.relative(path, name))
        else:
            needed.update(modules.named(name))
            needed.update(modules.beside(folder, name))
    for name in mentions.dotted:
        needed.update(modules.named(name, least=2))
    for name in mentions.quoted:
        needed.update(modules.named(name))
        needed.update(modules.named(f"{name}.__main__"))
    for name in mentions.scripts:
        needed.update(modules.scripts(name))
    for name in mentions.whole:
        needed.update(modules.whole(path, name))
    if mentions.lazy:
        needed.add(folder + GROUP)
    return needed


def _mark(graph: Graph, mentions: dict[str, Mentions], settings: dict[str, bytes]) -> None:
    """What can depend on any file, and what every file depends on."""
    for path, each in mentions.items():
        if each.untold is not None:
            graph.open[path] = each.untold
        elif each.starts and (is_of_tests(path) or not graph.importers.get(path)):
            graph.open[path] = "starts processes"
        if each.plugin:
            graph.everywhere[path] = "is a plugin of pytest"
    for path, content in settings.items():
        # Names in the settings of pytest; all names if plugins of pytest are declared.
        texts = [content] if b"pytest11" in content else settings_of_pytest(content)
        for name in {name.decode() for text in texts for name in _WORD.findall(text)}:
            for plugin in graph.modules.importable(name):
                graph.everywhere.setdefault(plugin, f"is named in {path}")


def settings_of_pytest(settings: bytes) -> list[bytes]:
    return [_COMMENT.sub(b"", text) for text in _SECTION.findall(settings + b"\n")]
