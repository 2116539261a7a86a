"""Copies of files and folders of a checkout, made a little at a time so that a call can be cancelled in between.

Every file becomes a file of its own: a test may write to it, so a hard link would change the checkout. Where the file
system can share blocks, the kernel does. Pipes, sockets and devices are passed over. A link that leads to somewhere in
the checkout leads to the same place in the copy, any other to where it led.
"""

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from pytest_mcp.changed.project_files import ENVIRONMENT
from pytest_mcp.process.background import in_thread
from pytest_mcp.python.files import holds

# A large file is copied in parts of so many bytes.
PART = 16 * 1024 * 1024
# How long one part of the work may take, which cannot be cancelled.
SLICE_SECONDS = 0.1
# Of no use in a copy, and often large: caches name the place where they were made.
_MADE_AGAIN = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})
# Only at this place they are complete.
_INSTALLED = frozenset({"node_modules", "__pypackages__", "site-packages"})
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Not all systems have it.
_share = getattr(os, "copy_file_range", None)

IsLeftOut = Callable[[str], bool]


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


def is_installed(path: str) -> bool:
    """Whether this folder is an environment, packages installed for others, a cache or a linked worktree."""
    if path.rpartition("/")[2] in _MADE_AGAIN | _INSTALLED:
        return True
    inside = names_in(path)
    return not ENVIRONMENT.isdisjoint(inside) or (".git" in inside and holds(Path(path, ".git").is_file))


def names_in(folder: str | Path) -> set[str]:
    """None if it cannot be read."""
    with suppress(OSError):
        return {entry.name for entry in os.scandir(folder)}
    return set()


@dataclass
class FolderListing:
    """What is in a folder, listed without following links."""

    top: str
    is_left_out: IsLeftOut = is_installed
    # Relative to the top, folders before what is in them.
    folders: list[str] = field(default_factory=list)
    # With their sizes.
    files: dict[str, int] = field(default_factory=dict)
    # What could not be read.
    unread: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(self.files.values())

    def scan_one(self, name: str) -> Iterator[None]:
        """A file, or a folder with all that is in it."""
        status = os.lstat(f"{self.top}/{name}")
        if stat.S_ISDIR(status.st_mode):
            self.folders.append(name)
            yield from self.scan(f"{name}/")
        else:
            self.files[name] = status.st_size

    def scan(self, start: str = "") -> Iterator[None]:
        todo = [start]
        while todo:
            prefix = todo.pop()
            try:
                entries = [*os.scandir(f"{self.top}/{prefix}")]
            except OSError:
                self.unread.append(prefix)
                continue
            for entry in entries:
                name = prefix + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    self.files[name] = _size(entry)
                elif not self.is_left_out(entry.path):
                    self.folders.append(name)
                    todo.append(f"{name}/")
            yield


def _size(entry: "os.DirEntry[str]") -> int:
    with suppress(OSError):
        return entry.stat(follow_symlinks=False).st_size
    return 0


@dataclass(frozen=True)
class Copier:
    """From one folder into another, which need not exist. What could not be read is noted."""

    source: str
    target: str
    unread: list[str] = field(default_factory=list)

    def copy(self, folders: Iterable[str], files: Iterable[str]) -> Iterator[None]:
        for name in folders:
            Path(self.target, name).mkdir(parents=True, exist_ok=True)
        for name in files:
            try:
                yield from self._copy_file(name)
            except FileNotFoundError:
                # It was removed meanwhile.
                pass
            except PermissionError:
                self.unread.append(name)
            yield

    def _copy_file(self, name: str) -> Iterator[None]:
        source, target = f"{self.source}/{name}", f"{self.target}/{name}"
        mode = os.lstat(source).st_mode
        if stat.S_ISLNK(mode):
            Path(target).symlink_to(self._led(Path(source)))
        elif stat.S_ISREG(mode):
            yield from copy_content(source, target)

    def _led(self, link: Path) -> Path:
        """Where the copy of a link leads."""
        text, real = link.readlink(), Path(os.path.realpath(link))
        named = Path(os.path.normpath(os.path.realpath(link.parent) / text))
        if not (real.is_relative_to(self.source) and named.is_relative_to(self.source)):
            return real
        return self.target / named.relative_to(self.source) if text.is_absolute() else text


def copy_content(source: str, target: str) -> Iterator[None]:
    given = os.open(source, _READ)
    try:
        status = os.fstat(given)
        if not stat.S_ISREG(status.st_mode):
            return
        with open(os.open(target, _WRITE, 0o600), "wb") as written:  # noqa: PTH123 - a descriptor
            while _copy_part(given, written.fileno()):
                yield
            os.fchmod(written.fileno(), stat.S_IMODE(status.st_mode) & 0o777)
            # Caches of bytecode and tools like make compare times.
            os.utime(written.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(given)


def _copy_part(given: int, written: int) -> bool:
    """Whether there may be more."""
    if _share is not None:
        # Some file systems cannot, or not from one to another.
        with suppress(OSError):
            return bool(_share(given, written, PART))
    part = memoryview(os.read(given, PART))
    is_end = not part
    while part:
        part = part[os.write(written, part) :]
    return not is_end


def remove(top: Path, name: str) -> None:
    """A file, link or folder, if it is there; nothing behind a link."""
    path = top / name
    if any(above.is_symlink() for above in path.parents if above != top and above.is_relative_to(top)):
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
