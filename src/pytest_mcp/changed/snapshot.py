"""Whether any file of a checkout may have changed since the last look, without running git.

In comes the top of a checkout; out comes a digest of the names, sizes and times of its files. Equal digests mean that
nothing changed. Caches, environments and installed packages are not descended into.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from pytest_mcp.changed.relevance import CACHES
from pytest_mcp.python import git_files

# Beyond this, looking takes about as long as asking git.
MOST_FILES = 20_000
_SKIPPED = CACHES | {".git", "node_modules", "site-packages", "__pypackages__"}
_ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})


def take(top: Path, written: Path | None = None) -> bytes | None:
    """None if there are too many files. `written` is what we write ourselves, with everything that begins so."""
    digest = hashlib.blake2b(repr(git_files.head_commit(top)).encode())
    own = os.fspath(written) if written else None
    for number, entry in enumerate(_files(os.fspath(top))):
        if number > MOST_FILES:
            return None
        if own is None or not entry.path.startswith(own):
            digest.update(_facts(entry))
    digest.update(_index(top))
    return digest.digest()


def _files(top: str) -> Iterator["os.DirEntry[str]"]:
    todo = [top]
    while todo:
        entries = _entries(todo.pop())
        if not _ENVIRONMENT.isdisjoint(entry.name for entry in entries):
            continue
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif entry.name not in _SKIPPED:
                todo.append(entry.path)


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _facts(entry: "os.DirEntry[str]") -> bytes:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return b""
    return b"%b\0%d %d %d %d " % (
        os.fsencode(entry.path),
        *(found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode),
    )


def _index(top: Path) -> bytes:
    """What is staged counts too."""
    try:
        found = git_files.index(top).stat()
    except OSError:
        return b""
    return b"%d %d" % (found.st_mtime_ns, found.st_size)
