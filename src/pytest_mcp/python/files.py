"""Read files of a project with limits, since a repository may contain pipes, devices, cycles or huge files.

Nothing here blocks or raises: text is empty if it is no regular file, not readable or too long.
"""

import os
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

# Settings files are far smaller.
MOST_BYTES = 512 * 1024
# In one folder.
MOST_ENTRIES = 2_000


def text(path: Path, most: int = MOST_BYTES) -> str:
    try:
        # Opening a pipe would block.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
            return ""
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def folders(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            return sorted(Path(entry) for entry in islice(entries, MOST_ENTRIES) if entry.is_dir())
    except (OSError, ValueError):
        return []


def matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(islice(folder.glob(pattern), MOST_ENTRIES))
    except (OSError, ValueError):
        return []


def upward(folder: Path, last: Path) -> Iterator[Path]:
    """The folder and its parents up to `last`."""
    for place in (folder, *folder.parents):
        yield place
        if place == last:
            return


def holds(question: Callable[[], bool]) -> bool:
    """False if the check raises (permission, symlink loop, bad name)."""
    try:
        return question()
    except (OSError, ValueError, RuntimeError):
        return False
