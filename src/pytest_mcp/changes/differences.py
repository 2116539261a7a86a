"""What changed: the tree of a commit against the working tree.

In come the settings and a ref, or none; out come the changed paths. Which tests a change reaches is decided in
`reach`. A path is changed if the working tree has something else there than the commit: staged, unstaged or
untracked, added or deleted; a renamed file is two paths. Ignored files do not count, nor do files that a sparse
checkout leaves out, nor what pytest-mcp itself has written: histories, and the files that this command writes.
"""

import os
import stat
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio

from pytest_mcp.changes import git_commands, listings, references
from pytest_mcp.changes.git_commands import CannotTell, Listings, NoRepository, Repository
from pytest_mcp.changes.imports.graph import is_of_tests
from pytest_mcp.changes.listings import SUBMODULE, Entry, Index
from pytest_mcp.changes.working_tree import WorkingTree
from pytest_mcp.config.model import HISTORY_ID, Config
from pytest_mcp.execution.background import in_thread

# For all of it, submodules included.
MOST_SECONDS = 60
# Of one checkout. If there are more, each counts as changed.
MOST_SUBMODULES = 8
# What SQLite adds to the name of a database, for its own files.
_OF_SQLITE = ("", "-wal", "-shm", "-journal")
# The header of an SQLite file begins with these words and has the application's number further on.
_SQLITE = b"SQLite format 3\0"
_HISTORY = slice(68, 72)
_ATTRIBUTES = b".gitattributes"


@dataclass(frozen=True)
class Changes:
    # The ref as a person names it, and its commit.
    since: str
    commit: str
    # Relative to the root.
    files: frozenset[str]
    # Changed files of the checkout that are not below the root, relative to the top of the checkout.
    outside: frozenset[str]


async def since(config: Config, ref: str | None) -> Changes:
    """Raises NoRepository or UnknownRef, which refuse the request, or CannotTell. `references` has the default."""
    with anyio.move_on_after(MOST_SECONDS):
        found = await git_commands.find(config)
        base = await references.resolve(found, ref)
        compared = await _compare(found, base.commit)
        ours = {os.fsencode(path.relative_to(found.top)) for path in _written_by_us(config, found.top)}
        below, outside = _split(replace(compared, changed=compared.changed - ours), config.root.relative_to(found.top))
        return Changes(base.name, base.commit, below, outside)
    raise CannotTell(f"the files could not be compared within {MOST_SECONDS} seconds")


def _written_by_us(config: Config, top: Path) -> list[Path]:
    """The files of the checkout that this server or command writes."""
    history = [f"{os.path.realpath(config.history.address)}{ending}" for ending in _OF_SQLITE] if config.history else []
    paths = [*map(Path, history), *(Path(os.path.realpath(path)) for path in config.outputs)]
    return [path for path in paths if path.is_relative_to(top)]


@dataclass(frozen=True)
class _Compared:
    changed: set[bytes]
    tracked: set[bytes]
    # Submodules that have files, and the commit that the tree names for each.
    submodules: dict[bytes, str]


def _split(compared: _Compared, root: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The paths below the root, and the others."""
    prefix = b"" if root == Path() else os.fsencode(root) + b"/"
    if prefix and not any(path.startswith(prefix) for path in compared.tracked):
        raise CannotTell("git tracks no file of the project's folder")
    below = {os.fsdecode(path.removeprefix(prefix)) for path in compared.changed if path.startswith(prefix)}
    outside = {os.fsdecode(path) for path in compared.changed if not path.startswith(prefix)}
    return frozenset(below), frozenset(outside)


async def _compare(found: Repository, commit: str) -> _Compared:
    listed = await found.list_all(commit)
    compared = await in_thread(partial(_compare_files, found.top, listed))
    if len(compared.submodules) > MOST_SUBMODULES:
        return replace(compared, changed=compared.changed | compared.submodules.keys())
    for path, expected in compared.submodules.items():
        compared.changed.update(await _look_inside(found, path, expected))
    return compared


async def _look_inside(found: Repository, path: bytes, commit: str) -> set[bytes]:
    """What changed in a submodule; the submodule itself, if that cannot be told."""
    try:
        inside = await found.submodule(found.top / os.fsdecode(path))
        compared = await _compare(inside, commit)
    except (NoRepository, CannotTell):
        return {path}
    return {path + b"/" + each for each in compared.changed}


def _compare_files(top: Path, listed: Listings) -> _Compared:
    try:
        tree, index = listings.parse_tree(listed.tree), listings.parse_files(listed.files)
    except ValueError as error:
        raise CannotTell("git gave an answer that could not be read") from error
    files = WorkingTree(top, _with_attributes(listed, index))
    comparison = _Comparison(tree, index, files)
    return _Compared(comparison.changed(), index.tracked.keys() | tree.keys(), comparison.submodules)


def _is_history(head: bytes) -> bool:
    return head.startswith(_SQLITE) and head[_HISTORY] == HISTORY_ID.to_bytes(4, "big")


def _with_attributes(listed: Listings, index: Index) -> git_commands.Settings:
    """`.gitattributes` can have line ends converted too."""
    if any(path.rpartition(b"/")[2] == _ATTRIBUTES for path in index.tracked):
        return replace(listed.settings, converts_line_ends=True)
    return listed.settings


class _Comparison:
    def __init__(self, tree: dict[bytes, Entry], index: Index, files: WorkingTree) -> None:
        self.tree = tree
        self.index = index
        self.files = files
        self.submodules: dict[bytes, str] = {}

    def changed(self) -> set[bytes]:
        differing = {path for path, entry in self.tree.items() if not self._is_same(path, entry)}
        added = {path for path in self.index.tracked.keys() - self.tree.keys() if self._is_there(path)}
        return differing | added | self.index.unmerged | (self.index.untracked - self._of_histories())

    def _of_histories(self) -> set[bytes]:
        """Untracked histories, also of other servers and earlier commands. Tests may read those among them."""
        others = [path for path in self.index.untracked if not is_of_tests(os.fsdecode(path))]
        found = [path for path in others if _is_history(self.files.head(path, _HISTORY.stop))]
        return {path + ending.encode() for path in found for ending in _OF_SQLITE}

    def _is_same(self, path: bytes, entry: Entry) -> bool:
        tracked = self.index.tracked.get(path)
        if tracked is None:
            return False
        if path in self.index.sparse and self.files.mode(path) is None:
            return tracked == entry
        if entry.mode == SUBMODULE:
            return tracked == entry and self._may_be_same_submodule(path, entry)
        # Without executable bits in the working tree, those of the index count.
        return self.files.has_same(path, entry) and self._has_same_bits(tracked, entry)

    def _has_same_bits(self, tracked: Entry, entry: Entry) -> bool:
        return self.files.settings.executable_bits or tracked.mode == entry.mode

    def _is_there(self, path: bytes) -> bool:
        """A folder in the place of a file is not that file."""
        mode = self.files.mode(path)
        if mode is None:
            return path in self.index.sparse
        return self.index.tracked[path].mode == SUBMODULE or not stat.S_ISDIR(mode)

    def _may_be_same_submodule(self, path: bytes, entry: Entry) -> bool:
        """One that was not checked out is an empty folder. If there is a repository in it, that is compared too."""
        names = self.files.names(path)
        if names is not None and b".git" in names:
            self.submodules[path] = entry.hash.decode()
            return True
        return names == []
