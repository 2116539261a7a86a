"""Which files of a project a dotted name can stand for.

A name with a dot matches every file whose path ends in it. A single name matches files in folders that are no packages,
files beside the importing one, and any file if the project changes where modules are looked for.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

# Folders above this depth do not begin a name.
DEEPEST_NAME = 20
Files = frozenset[str]
NONE: Files = frozenset()


class Modules:
    def __init__(self, files: Iterable[str], root_name: str, *, anywhere: bool = False) -> None:
        """`anywhere`: modules may be looked for in any folder."""
        self._sorted = sorted(files)
        self.files = frozenset(self._sorted)
        self._anywhere = anywhere
        self._by_end: dict[str, set[str]] = {}
        self._by_name: dict[str, set[str]] = {}
        self._folders: set[str] = set()
        self._resolved: dict[str, Files] = {}
        for path in self._sorted:
            self._add(path, root_name)

    def _add(self, path: str, root_name: str) -> None:
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__":
            parts.pop()
        folder = "/".join(parts[:-1])
        full = [root_name, *parts]
        self._by_name.setdefault(full[-1], set()).add(path)
        if not folder or f"{folder}/__init__.py" not in self.files:
            self._by_end.setdefault(full[-1], set()).add(path)
        for end in _ends(full):
            self._by_end.setdefault(end, set()).add(path)
        for length in range(1, len(full)):
            self._folders.update(".".join(full[start:length]) for start in range(max(0, length - 3), length))

    def named(self, name: str) -> Files:
        if name not in self._resolved:
            found = set(self._by_end.get(name, ()))
            parts = name.split(".", DEEPEST_NAME)
            if self._anywhere:
                # Any folder may be on the path, or be installed as a package of another name.
                ends = (".".join(parts[start:]) for start in range(1, len(parts) - 1))
                found.update(path for end in ends for path in self._by_end.get(end, ()))
                found |= self._by_name.get(parts[-1], set()) if len(parts) <= 2 else set()
            self._resolved[name] = frozenset(found)
        return self._resolved[name]

    def of(self, importer: str, level: int, name: str) -> Files:
        """The files of a name that a file imports; dots before it are its level."""
        if level:
            return self._relative(importer, level, name)
        folder = importer.rpartition("/")[0]
        stem = "/".join(filter(None, (folder, name.replace(".", "/"))))
        return self.named(name) | self.files.intersection(_files_of(stem))

    def _relative(self, importer: str, level: int, name: str) -> Files:
        folders = importer.split("/")[:-1]
        left = len(folders) - (level - 1)
        if left < 0:
            return NONE
        return self.files.intersection(_files_of("/".join([*folders[:left], *filter(None, name.split("."))])))

    def is_inside(self, name: str) -> bool:
        """Whether a name begins like one of the project: a module, or a folder that may be a package."""
        return bool(self.named(name)) or name in self._folders

    def around(self, path: str, *, conftests: bool = False) -> Files:
        """The packages that a file is in, or the conftest files above it."""
        name = "conftest.py" if conftests else "__init__.py"
        return self.files.intersection([name, *(f"{folder}/{name}" for folder in parents(path))]) - {path}

    def called(self, stem: str) -> Iterable[str]:
        """The files of this name in any folder."""
        return self._by_name.get(stem, ())

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


def _files_of(stem: str) -> tuple[str, str]:
    return f"{stem}.py" if stem else "__init__.py", f"{stem}/__init__.py" if stem else "__init__.py"
