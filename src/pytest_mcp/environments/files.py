"""Files of a project, read with bounds: a repository that was only opened must not be able to hold the server up.

In come paths; out comes text, empty for what is no ordinary file, may not be read or is too long. Folders are
listed with bounds too. Whatever a path leads to, nothing here waits or raises.
"""

import os
import stat
from collections.abc import Callable
from itertools import islice
from pathlib import Path

# A settings file of a person is far smaller; a lock may be larger, and is then searched by nobody.
MOST_BYTES = 512 * 1024
# In one folder; the largest ones stay partly unseen.
MOST_ENTRIES = 2_000


def text(path: Path, most: int = MOST_BYTES) -> str:
    try:
        # A pipe would be waited for, and a device has no end.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return ""
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def folders(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            return sorted(Path(entry) for entry in islice(entries, MOST_ENTRIES) if entry.is_dir())
    except (OSError, ValueError):
        return []


def holds(question: Callable[[], bool]) -> bool:
    """Of what may not be looked at, leads around in a circle or no file system could hold, nothing holds."""
    try:
        return question()
    except (OSError, ValueError, RuntimeError):
        return False
