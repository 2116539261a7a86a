"""Copy a checkout, a little at a time so that a call can be cancelled in between.

What git tracks is copied as it is in the working tree, or the copy is refused as too large. What git does not track
comes after that, the smallest first, as long as there is room. Every file becomes a file of its own: a test may write
to it, so a hard link would change the checkout. Pipes, sockets and devices are passed over. A link that leads to
somewhere in the checkout leads to the same place in the copy, any other to where it led.

The copy has a repository of its own, which reads the objects of the checkout's: git never writes to those. Other
worktrees, and repositories of submodules, do not belong to it: a command of git in the copy must not reach them, nor
write through a link in `.git`.
"""

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import anyio

from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.changed.listings import SUBMODULE, TreeFile
from pytest_mcp.changed.project_files import ENVIRONMENT
from pytest_mcp.process.background import in_thread
from pytest_mcp.python import git_files
from pytest_mcp.python.files import holds

# How long one part of the work may take, which cannot be cancelled.
SLICE_SECONDS = 0.1
# Caches name the place where they were made, and what is installed is complete only there.
_LEFT = frozenset(
    {
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"),
        *("node_modules", "__pypackages__", "site-packages"),
    }
)
# Parts of a repository that are large, or about other checkouts.
_APART = frozenset({"objects", "worktrees", "modules", "lfs", "annex", "commondir", "gitdir", "logs"})
# What a linked worktree shares with the main one. Everything else there is about the main one.
_SHARED = frozenset({"config", "packed-refs", "refs", "reftable", "hooks", "info", "shallow", "description"})
# The last value counts. `worktree` keeps git away from a folder that the original names, and is relative to `.git`.
_SETTINGS = "\n[core]\n\tbare = false\n\tworktree = ..\n"
_LARGE_FILES = "lfs"


async def in_slices(work: Iterator[None]) -> None:
    """Do it in a thread, until it is done or the call is cancelled: never does a thread still write after that."""

    def proceed() -> bool:
        end = time.monotonic() + SLICE_SECONDS
        return any(time.monotonic() > end for _ in work)

    is_unfinished = True
    while is_unfinished:
        with anyio.CancelScope(shield=True):
            is_unfinished = await in_thread(proceed)
        await anyio.lowlevel.checkpoint()


@dataclass
class Listing:
    """What is in a folder, without what is behind links; names are relative to its top."""

    top: Path
    is_apart: Callable[[str], bool]
    folders: list[str] = field(default_factory=list)
    # With their sizes.
    files: dict[str, int] = field(default_factory=dict)
    # What could not be read.
    unread: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(self.files.values())

    def scan(self, name: str = "") -> Iterator[None]:
        """A file, or a folder with all that is in it."""
        status = (self.top / name).lstat()
        todo = [name] if stat.S_ISDIR(status.st_mode) else []
        if not todo:
            self.files[name] = status.st_size
        while todo:
            folder = todo.pop()
            self.folders.append(folder)
            try:
                entries = [*os.scandir(self.top / folder)]
            except OSError:
                self.unread.append(folder)
                continue
            for entry in entries:
                inner = f"{folder}/{entry.name}" if folder else entry.name
                if not entry.is_dir(follow_symlinks=False):
                    self.files[inner] = _size(entry)
                elif not self.is_apart(inner):
                    todo.append(inner)
            yield

    def copy(self, target: Path) -> Iterator[None]:
        """The target need not exist."""
        for name in self.folders:
            (target / name).mkdir(parents=True, exist_ok=True)
        for name in self.files:
            try:
                _copy_file(self.top, target, name)
            except FileNotFoundError:
                # It was removed meanwhile.
                pass
            except PermissionError:
                self.unread.append(name)
            yield


def _size(entry: "os.DirEntry[str]") -> int:
    with suppress(OSError):
        return entry.stat(follow_symlinks=False).st_size
    return 0


def _copy_file(top: Path, target: Path, name: str) -> None:
    mode = (top / name).lstat().st_mode
    if stat.S_ISLNK(mode):
        (target / name).symlink_to(_led(top / name, top, target))
    elif stat.S_ISREG(mode):
        # With its times, which caches of bytecode and tools like make compare.
        shutil.copy2(top / name, target / name, follow_symlinks=False)


def _led(link: Path, top: Path, target: Path) -> Path:
    """Where the copy of a link leads."""
    text, real = link.readlink(), Path(os.path.realpath(link))
    named = Path(os.path.normpath(os.path.realpath(link.parent) / text))
    if not (real.is_relative_to(top) and named.is_relative_to(top)):
        return real
    return target / named.relative_to(top) if text.is_absolute() else text


@dataclass(frozen=True)
class SizeLimit:
    bytes: int
    files: int

    def __sub__(self, folder: Listing) -> "SizeLimit":
        return SizeLimit(self.bytes - folder.size, self.files - len(folder.files))

    @property
    def is_exceeded(self) -> bool:
        return self.bytes < 0 or self.files < 0


# For what git tracks, for what it does not, and for a part of a repository.
ROOM = SizeLimit(512 * 1024**2, 100_000)
ROOM_FOR_UNTRACKED = SizeLimit(256 * 1024**2, 20_000)
ROOM_FOR_REPOSITORY = SizeLimit(256 * 1024**2, 20_000)


@dataclass
class TreeCopy:
    top: Path
    tree: Path
    # What is in the index.
    tracked: Mapping[str, TreeFile]
    room: SizeLimit = ROOM
    room_for_untracked: SizeLimit = ROOM_FOR_UNTRACKED
    # What is too large or cannot be read.
    left_out: list[str] = field(default_factory=list)
    _untracked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._submodules = {path for path, file in self.tracked.items() if file.mode == SUBMODULE}
        self._folders = {os.fspath(above) for path in self.tracked for above in PurePosixPath(path).parents}

    def steps(self) -> Iterator[None]:
        """Raises CannotTell if it is too large, and OSError if it cannot be written."""
        own = Listing(self.top, self._is_apart)
        yield from own.scan()
        self._untracked += [name for name in own.files if not self._is_own(name) and not _is_repository(name)]
        own.files = {name: size for name, size in own.files.items() if self._is_own(name)}
        if (self.room - own).is_exceeded:
            raise CannotTell(
                f"the checkout is too large to copy: {own.size // 1024**2:,} MiB in {len(own.files):,} tracked files"
            )
        yield from own.copy(self.tree)
        for inside in ("", *sorted(self._submodules)):
            yield from _copy_repository(self.top / inside, self.tree / inside)
        yield from self._copy_untracked()
        self.left_out += own.unread

    def _copy_untracked(self) -> Iterator[None]:
        """A folder as a whole or not at all."""
        found = []
        for name in self._untracked:
            listing = Listing(self.top, lambda name: _is_left(self.top / name))
            yield from listing.scan(name)
            found.append((listing.size, name, listing))
        room = self.room_for_untracked
        for _, name, listing in sorted(found, key=lambda each: each[:2]):
            room -= listing
            if room.is_exceeded:
                self.left_out.append(name)
            else:
                yield from listing.copy(self.tree)
                self.left_out += listing.unread

    def _is_apart(self, name: str) -> bool:
        """Whether a folder is not copied with what git tracks."""
        if name in self._folders or name in self._submodules:
            return False
        if _is_repository(name) or _is_left(self.top / name):
            return True
        is_untracked = not self._is_in_submodule(name)
        self._untracked += [name] if is_untracked else []
        return is_untracked

    def _is_own(self, name: str) -> bool:
        return name in self.tracked or (self._is_in_submodule(name) and not _is_repository(name))

    def _is_in_submodule(self, name: str) -> bool:
        return bool(self._submodules) and any(os.fspath(up) in self._submodules for up in PurePosixPath(name).parents)


def _is_repository(name: str) -> bool:
    return PurePosixPath(name).name == ".git"


def _is_left(folder: Path) -> bool:
    """Whether it is an environment, packages installed for others, a cache or a linked worktree."""
    inside = _names_in(folder)
    is_worktree = ".git" in inside and holds((folder / ".git").is_file)
    return folder.name in _LEFT or not ENVIRONMENT.isdisjoint(inside) or is_worktree


def _names_in(folder: Path) -> set[str]:
    """None if it cannot be read."""
    with suppress(OSError):
        return {entry.name for entry in os.scandir(folder)}
    return set()


def _copy_repository(top: Path, tree: Path) -> Iterator[None]:
    """Nothing if there is none, as in a submodule that is not checked out. Raises CannotTell, OSError."""
    if not os.path.lexists(top / ".git"):
        return
    own = Path(os.path.realpath(git_files.repository(top / ".git")))
    common = Path(os.path.realpath(git_files.common_of(own)))
    parts = [own / name for name in _names_in(own) - _APART]
    parts += [common / name for name in _names_in(common) & _SHARED if common != own]
    target = tree / ".git"
    for folder in ("objects/info", "objects/pack", "refs"):
        (target / folder).mkdir(parents=True, exist_ok=True)
    for part in parts:
        yield from _copy_part(part, target / part.name)
    objects = os.fspath(common / "objects")
    if "\n" in objects or objects.startswith('"'):
        raise CannotTell("the name of its folder cannot be given to git")
    (target / "objects" / "info" / "alternates").write_bytes(os.fsencode(f"{objects}\n"))
    for name in ("config", "config.worktree"):
        if name == "config" or (target / name).exists():
            with (target / name).open("a", encoding="utf-8") as config:
                config.write(_SETTINGS)


def _copy_part(part: Path, target: Path) -> Iterator[None]:
    """What a link leads to, as `git-new-workdir` makes them, and no links in it."""
    listing = Listing(Path(os.path.realpath(part)), is_apart=lambda _: False)
    if not listing.top.is_dir():
        if listing.top.is_file() and part.suffix != ".lock":
            shutil.copy2(listing.top, target)
        return
    yield from listing.scan()
    if (ROOM_FOR_REPOSITORY - listing).is_exceeded:
        raise CannotTell("there is too much in its .git folder")
    is_kept = (name for name in listing.files if not name.endswith(".lock") and not (listing.top / name).is_symlink())
    listing.files = dict.fromkeys(is_kept, 0)
    yield from listing.copy(target)


@contextmanager
def with_large_files(top: Path, tree: Path) -> Iterator[None]:
    """In the block, the filter of git-lfs finds the files that it keeps in the checkout's repository."""
    kept = git_files.common_of(git_files.repository(top / ".git")) / _LARGE_FILES
    link = tree / ".git" / _LARGE_FILES
    if not kept.is_dir():
        yield
        return
    link.symlink_to(os.path.realpath(kept))
    try:
        yield
    finally:
        link.unlink()


def remove(top: Path, names: Iterable[str]) -> None:
    """Files, links and folders, if they are there, and folders that are empty then; nothing behind a link."""
    for name in names:
        path = top / name
        above = [each for each in path.parents if each != top and each.is_relative_to(top)]
        if not any(each.is_symlink() for each in above):
            _remove(path)
        # An empty folder can be imported.
        with suppress(OSError):
            for each in filter(Path.exists, above):
                each.rmdir()


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
