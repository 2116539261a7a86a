"""Compare files of a checkout with what git has stored, by hashing them.

In come a path and the entry that git has for it; out comes whether the file is the same. git is not asked, because it
would run the filters that the repository names. So a file that a filter changes, as git-lfs does, is never the same.
Nothing outside the checkout is read: links are not followed, and pipes and devices are not opened for reading.
"""

import hashlib
import os
import stat
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from pytest_mcp.changes.git_commands import CannotTell, Settings
from pytest_mcp.changes.listings import LINK, Entry

# For all files together.
HASH_SECONDS = 30
# A larger file counts as changed. Hosts of repositories do not take larger ones.
MOST_BYTES = 128 * 1024 * 1024
_ALGORITHMS = {40: hashlib.sha1, 64: hashlib.sha256}


class WorkingTree:
    def __init__(self, top: Path, settings: Settings) -> None:
        self._top = os.fsencode(top)
        self.settings = settings
        self._deadline = time.monotonic() + HASH_SECONDS
        self._is_real = cache(self._look_at_folder)

    def has_same(self, path: bytes, entry: Entry) -> bool:
        """A regular file or a link with this content; the executable bit counts if the repository says so."""
        self._check_time()
        if not self._is_real(_folder(path)):
            return False
        try:
            if entry.mode == LINK:
                target = os.readlink(self._full(path))  # noqa: PTH115 - pathlib knows no bytes
                return _hash(target, entry) == entry.hash
            return self._has_same_file(self._full(path), entry)
        except OSError:
            return False

    def digest(self, path: bytes) -> bytes:
        """Equal for files with equal content, links to the same target, and for everything that is not read."""
        self._check_time()
        mode = self.mode(path)
        kind = b"absent" if mode is None else b"%o" % mode
        try:
            if mode is not None and stat.S_ISLNK(mode):
                kind += os.readlink(self._full(path))  # noqa: PTH115 - pathlib knows no bytes
            elif mode is not None and stat.S_ISREG(mode):
                kind += hashlib.sha256(_read(self._full(path)) or b"").digest()
        except OSError:
            kind += b"unreadable"
        return hashlib.sha256(kind).digest()

    def head(self, path: bytes, size: int) -> bytes:
        """The first bytes of a regular file; empty if it is another kind of file or cannot be read."""
        self._check_time()
        try:
            return _read(self._full(path), most=size) or b"" if self._is_real(_folder(path)) else b""
        except OSError:
            return b""

    def mode(self, path: bytes) -> int | None:
        """Of what stands there, which may be a link; None if nothing does or a folder above is a link."""
        try:
            return os.lstat(self._full(path)).st_mode if self._is_real(_folder(path)) else None
        except OSError:
            return None

    def names(self, folder: bytes) -> list[bytes] | None:
        """What is in a folder; None if it is none."""
        try:
            return [entry.name for entry in os.scandir(self._full(folder))] if self._is_real(folder) else None
        except OSError:
            return None

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise CannotTell(f"the files could not be compared within {HASH_SECONDS} seconds")

    def _full(self, path: bytes) -> bytes:
        return self._top + b"/" + path

    def _look_at_folder(self, folder: bytes) -> bool:
        """Whether it is a folder of the checkout itself, reached through no link."""
        if not folder:
            return True
        mode = self.mode(folder)
        return mode is not None and stat.S_ISDIR(mode)

    def _has_same_file(self, path: bytes, entry: Entry) -> bool:
        content = _read(path, lambda found: self._has_same_bits(found, entry))
        return content is not None and self._is_same_content(content, entry)

    def _has_same_bits(self, found: os.stat_result, entry: Entry) -> bool:
        is_executable = bool(found.st_mode & stat.S_IXUSR)
        return not self.settings.executable_bits or is_executable == (entry.mode == b"100755")

    def _is_same_content(self, content: bytes, entry: Entry) -> bool:
        if _hash(content, entry) == entry.hash:
            return True
        converted = self.settings.converts_line_ends and b"\r\n" in content
        return converted and _hash(content.replace(b"\r\n", b"\n"), entry) == entry.hash


def _read(
    path: bytes, accept: Callable[[os.stat_result], bool] = lambda _found: True, most: int | None = None
) -> bytes | None:
    """The content of a regular file, or its first bytes; None for another kind of file, too large, or not accepted."""
    # Opening a pipe would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return None
        if most is not None:
            return os.read(descriptor, most)
        if found.st_size > MOST_BYTES or not accept(found):
            return None
        # One byte more: a file that grew meanwhile is not the same.
        return os.read(descriptor, found.st_size + 1)
    finally:
        os.close(descriptor)


def _folder(path: bytes) -> bytes:
    return path.rpartition(b"/")[0]


def _hash(content: bytes, like: Entry) -> bytes:
    digest = _ALGORITHMS[len(like.hash)](b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest().encode()
