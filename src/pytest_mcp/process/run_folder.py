"""The private folder of one run: created, locked while it is used, removed afterwards.

The lock belongs to one open descriptor that the server shares with the run's supervisor, so the kernel drops it when
both have ended, however they ended. A folder without a lock is abandoned, and the next server removes it when it
starts.
"""

import fcntl
import os
import re
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.process import removal
from pytest_mcp.process.job import SpawnError

PREFIX = "pytest-mcp-run-"
# Nobody names a folder like this by accident.
_NAME = re.compile(re.escape(PREFIX) + "[0-9a-f]{16}")
# Another server that starts may remove the new folder before it is locked; then it is created again.
_ATTEMPTS = 3


class FolderError(SpawnError):
    """There is no place for a run's files."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the temporary folder cannot be used: {why}")


@dataclass(frozen=True)
class Folder:
    path: Path
    # Open and locked. It leads to this folder even if the path is removed or replaced.
    descriptor: int

    def create(self, name: str, flags: int) -> int:
        """Create a file that only this user can read, whatever the umask is."""
        descriptor = os.open(name, flags | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=self.descriptor)
        os.fchmod(descriptor, 0o600)
        return descriptor

    def remove(self) -> None:
        removal.remove(str(self.path))
        os.close(self.descriptor)


def make() -> Folder:
    try:
        for _ in range(_ATTEMPTS):
            path = Path(tempfile.gettempdir(), f"{PREFIX}{os.urandom(8).hex()}")
            path.mkdir(mode=0o700)
            if (descriptor := _opened(path)) is not None:
                return Folder(path, descriptor)
    except OSError as error:
        raise FolderError(error.strerror or str(error)) from error
    raise FolderError("another process removes every new folder in it")


def _opened(path: Path) -> int | None:
    """The new folder's descriptor; None if another server has removed it.

    If there are no more descriptors, the folder is removed.
    """
    try:
        # Again, because an umask may take the permission away.
        path.chmod(0o700)
        return _locked(path, or_without_locks=True)
    except FileNotFoundError:
        return None
    except OSError:
        with suppress(OSError):
            path.rmdir()
        raise


def remove_abandoned() -> None:
    """In a thread, because a test may have left any number of files in one."""
    threading.Thread(target=_remove_abandoned, name="abandoned folders", daemon=True).start()


def _remove_abandoned() -> None:
    # If there is no temporary folder, the first run reports it.
    with suppress(OSError):
        for path in [Path(entry) for entry in os.scandir(tempfile.gettempdir()) if _is_ours(entry)]:
            if (descriptor := _locked(path)) is not None:
                Folder(path, descriptor).remove()


def _is_ours(entry: "os.DirEntry[str]") -> bool:
    with suppress(OSError):
        is_folder = bool(_NAME.fullmatch(entry.name)) and entry.is_dir(follow_symlinks=False)
        return is_folder and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    return False


def _locked(path: Path, *, or_without_locks: bool = False) -> int | None:
    """The folder's descriptor; None if it is in use, or was removed or replaced meanwhile.

    On a file system without locks, every folder counts as in use.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = os.path.samestat(path.lstat(), os.fstat(descriptor))
    except (BlockingIOError, FileNotFoundError):
        is_ours = False
    except OSError:
        is_ours = or_without_locks
    if not is_ours:
        os.close(descriptor)
    return descriptor if is_ours else None
