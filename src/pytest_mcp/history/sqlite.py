"""The history in an SQLite file that any number of processes on one machine share.

The file is created with mode 0600 before SQLite opens it; its -wal and -shm files get the mode of the file. Who only
reads creates none: a file that is not there is an empty history. A connection is used by one thread at a time.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_mcp.config.model import HISTORY_ID
from pytest_mcp.history import store
from pytest_mcp.history.store import HistoryUnavailable, Store

# How long a writer waits for others.
BUSY_SECONDS = 10
# More than a run changes: the file itself is written when the connection is closed, while others can write already.
CHECKPOINT_PAGES = 8_000


class SqliteStore(Store):
    # Measured with a million of them.
    bytes_per_result = 38

    def __init__(self, path: Path, *, creates: bool = True) -> None:
        self._path = path
        with self.translated():
            self.connection = sqlite3.connect(
                _uri(path, creates=creates),
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        # Takes the write lock at once: a transaction that begins by reading could not wait for it later.
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            # A full disk has rolled back already.
            with suppress(HistoryUnavailable):
                self.execute("ROLLBACK")
            raise

    def _prepare(self) -> None:
        # In this order: another process may be creating the tables, with its mark, in one transaction.
        if self.execute("SELECT 1 FROM sqlite_master LIMIT 1") and self._pragma("application_id") != HISTORY_ID:
            raise HistoryUnavailable(f"{self._path} is a database of another program")
        # Readers and one writer do not wait for each other. Refused while others write, and by some file systems:
        # then everything works, only slower.
        with self.translated(), suppress(sqlite3.OperationalError):
            self.connection.execute("PRAGMA journal_mode = WAL")
        # Kept after SIGKILL; a power cut can lose the last runs, but not damage the file.
        self.execute("PRAGMA synchronous = NORMAL")
        self.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        if not self._missing_steps():
            return
        with self.transaction():
            # Another process may have done it meanwhile.
            for statement in self._missing_steps():
                self.execute(statement)
            self.execute(f"PRAGMA application_id = {HISTORY_ID}")
            self.execute(f"PRAGMA user_version = {len(store.STEPS)}")

    def _missing_steps(self) -> list[str]:
        return store.missing_steps(self._pragma("user_version"), self._path, store.SQLITE)

    def _pragma(self, name: str) -> int:
        ((value,),) = self.execute(f"PRAGMA {name}")
        return int(value)

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise HistoryUnavailable(f"{self._path} cannot be opened: {error.strerror}") from error
        except sqlite3.Error as error:
            raise HistoryUnavailable(f"{self._path} cannot be used: {error}") from error


def _uri(path: Path, *, creates: bool) -> str:
    """Its URI. Where there is no file yet, an empty one for us alone is created, or a database in memory stands for it.

    Only a regular file is opened: a FIFO would block.
    """
    if not creates and path.parent.is_dir() and not os.path.lexists(path):
        return "file::memory:"
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    if not stat.S_ISREG(path.stat().st_mode):
        raise HistoryUnavailable(f"{path} is not a regular file")
    return f"{path.absolute().as_uri()}?mode=rw"
