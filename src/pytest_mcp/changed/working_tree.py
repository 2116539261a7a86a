"""Read single files of a checkout: whether two are equal, and how one begins.

Nothing outside the checkout is read: links are not followed, and pipes and devices are not opened for reading.
"""

import hashlib
import os
import stat
import time
from functools import cache
from pathlib import Path

from pytest_mcp.changed.git_commands import CannotTell

# For all files together.
READING_SECONDS = 30
# Of one file. What is behind it does not count.
MOST_BYTES = 128 * 1024 * 1024


class WorkingTree:
    def __init__(self, top: Path) -> None:
        self._top = os.fsencode(top)
        self._deadline = time.monotonic() + READING_SECONDS
        self._is_real = cache(self._look_at_folder)

    def digest(self, path: bytes) -> bytes:
        """Equal for files of equal mode and content, links to the same target, and for everything that is not read."""
        mode = self.mode(path)
        kind = b"absent" if mode is None else b"%o" % mode
        try:
            if mode is not None and stat.S_ISLNK(mode):
                kind += os.readlink(self._full(path))  # noqa: PTH115 - pathlib knows no bytes
            elif mode is not None and stat.S_ISREG(mode):
                kind += _read(self._full(path), MOST_BYTES)
        except OSError:
            kind += b"unreadable"
        return hashlib.sha256(kind).digest()

    def head(self, path: bytes, size: int) -> bytes:
        """The first bytes of a regular file; empty if it is another kind of file or cannot be read."""
        try:
            return _read(self._full(path), size) if stat.S_ISREG(self.mode(path) or 0) else b""
        except OSError:
            return b""

    def mode(self, path: bytes) -> int | None:
        """Of what stands there, which may be a link; None if nothing does or a folder above is a link."""
        if time.monotonic() > self._deadline:
            raise CannotTell(f"the files could not be read within {READING_SECONDS} seconds")
        try:
            return os.lstat(self._full(path)).st_mode if self._is_real(path.rpartition(b"/")[0]) else None
        except OSError:
            return None

    def _full(self, path: bytes) -> bytes:
        return self._top + b"/" + path

    def _look_at_folder(self, folder: bytes) -> bool:
        """Whether it is a folder of the checkout itself, reached through no link."""
        return not folder or stat.S_ISDIR(self.mode(folder) or 0)


def _read(path: bytes, most: int) -> bytes:
    """The content up to a limit, of a regular file."""
    # Opening a pipe, which may have taken the file's place, would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(descriptor, min(most, os.fstat(descriptor).st_size))
    finally:
        os.close(descriptor)
