"""The private folder of one run: made before anybody is told its name, locked while it is used, removed afterwards.

The lock is held by one open descriptor that the server shares with the run's supervisor, so the kernel drops it when
both are gone, however they went. A folder that nobody has locked is abandoned, and the next start removes it.
What lies in a folder is decided in `report`.
"""

import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PREFIX = "pytest-mcp-run-"
# No folder of a person has such a name by accident.
_NAME = re.compile(re.escape(PREFIX) + "[0-9a-f]{16}")
# Another start may take a folder for abandoned before it is locked; that it does so twice is beyond belief.
_ATTEMPTS = 3


class FolderError(Exception):
    """The machine gives no place for a run's files."""


@dataclass(frozen=True)
class Folder:
    path: Path
    # Open and locked. Whoever removes or replaces the folder does not change what this leads to.
    descriptor: int

    def create(self, name: str, flags: int) -> int:
        """A new file in it that only this user may read, whatever the umask says."""
        descriptor = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=self.descriptor)
        os.fchmod(descriptor, 0o600)
        return descriptor

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.descriptor)


def make() -> Folder:
    try:
        for _ in range(_ATTEMPTS):
            path = Path(tempfile.gettempdir(), f"{PREFIX}{secrets.token_hex(8)}")
            path.mkdir(mode=0o700)
            # Again, for an umask that takes it away from ourselves.
            path.chmod(0o700)
            if (descriptor := _locked(path, or_without_locks=True)) is not None:
                return Folder(path, descriptor)
    except OSError as error:
        raise FolderError(error.strerror or str(error)) from error
    raise FolderError("another process removes every new folder in it")


def remove_abandoned() -> None:
    """Beside whatever else is done: a test may have left any number of files in one."""
    threading.Thread(target=_remove_abandoned, name="abandoned folders", daemon=True).start()


def _remove_abandoned() -> None:
    # Where there is no temporary folder, the first run says so.
    with suppress(OSError):
        for path in [Path(entry) for entry in os.scandir(tempfile.gettempdir()) if _is_ours(entry)]:
            if (descriptor := _locked(path)) is not None:
                Folder(path, descriptor).remove()


def _is_ours(entry: "os.DirEntry[str]") -> bool:
    """By its name, and because nobody else could have made it."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return bool(_NAME.fullmatch(entry.name)) and stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _locked(path: Path, *, or_without_locks: bool = False) -> int | None:
    """The folder's descriptor; None if somebody works with it or has removed it.

    On a file system that has no locks, every folder looks as if somebody worked with it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    if _lock(descriptor, or_without_locks=or_without_locks) and _leads_to(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _lock(descriptor: int, *, or_without_locks: bool) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return or_without_locks
    return True


def _leads_to(path: Path, descriptor: int) -> bool:
    """Whether it has not been removed, or replaced, between being opened and being locked."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
