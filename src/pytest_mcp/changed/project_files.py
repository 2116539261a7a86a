"""The files of a project and of its checkout, read without following links out of them and without waiting for pipes.

Not descended into: hidden folders, environments, installed packages and caches. The number of files, their size and
the time are limited.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pytest_mcp.python.files import holds
from pytest_mcp.text import label

MAX_FILES = 100_000
# More than a person writes into one file; in bytes.
MAX_FILE = 1_000_000
# For reading all of them, in seconds.
MAX_SCAN = 60.0
# What is compared of one file of a checkout, in bytes.
MAX_COMPARED = 128 * 1024 * 1024
# What shows that a folder is an environment.
ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})
SETTINGS = frozenset(
    {
        *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"),
        "setup.py",
    }
)
_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "__pypackages__"})
_TEST_FOLDERS = frozenset({"test", "tests", "testing"})

FolderEntry = os.DirEntry[str]


class Unreadable(Exception):
    """The imports of the project cannot be known; the message says why, as half of a sentence."""


@dataclass
class ScannedFiles:
    """Paths relative to the root."""

    root: Path
    python: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    # Links to other files of the project: the path of the link, and where it leads.
    links: dict[str, str] = field(default_factory=dict)
    # Links that lead out of the root.
    foreign: set[str] = field(default_factory=set)


def is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def is_of_tests(path: str) -> bool:
    return is_test(path) or PurePosixPath(path).name == "conftest.py" or not _TEST_FOLDERS.isdisjoint(path.split("/"))


def is_test(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith("test_") or name.endswith("_test.py")


def list_files(root: Path) -> ScannedFiles:
    """Raises Unreadable if there are too many files, or folders that have two names."""
    files = ScannedFiles(root)
    todo = [""]
    deadline = time.monotonic() + MAX_SCAN
    while todo:
        _check(deadline)
        prefix = todo.pop()
        for entry in entries_of(root / prefix):
            if entry.is_symlink():
                _follow(files, entry, prefix + entry.name)
            elif entry.is_dir():
                todo += [] if is_skipped(entry.name) else [f"{prefix}{entry.name}/"]
            elif entry.name.endswith(".py"):
                files.python.append(prefix + entry.name)
            if entry.name in SETTINGS:
                files.settings.append(prefix + entry.name)
        if len(files.python) > MAX_FILES:
            raise Unreadable(f"the project has more than {MAX_FILES:,} Python files")
    return files


def entries_of(folder: str | Path) -> list[FolderEntry]:
    """By name; none of an environment, or of a folder that cannot be read."""
    try:
        with os.scandir(folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except OSError:
        return []
    return entries if ENVIRONMENT.isdisjoint(entry.name for entry in entries) else []


def _follow(files: ScannedFiles, link: FolderEntry, name: str) -> None:
    target = _inside(files.root, link.path)
    if name.endswith(".py"):
        files.python.append(name)
        if target is None:
            files.foreign.add(name)
        else:
            files.links[name] = target
    elif target is not None and not is_skipped(link.name) and holds(link.is_dir):
        raise Unreadable(f"{label(name)} is a link to another folder of the project")


def _inside(root: Path, link: str) -> str | None:
    """Where a link leads, relative to the root; None if it leads out of it or nowhere that is looked at."""
    try:
        target = os.path.relpath(os.path.realpath(link), os.path.realpath(root))
    except (OSError, ValueError):
        return None
    leads_out = target == ".." or target.startswith("../") or any(map(is_skipped, target.split("/")))
    return None if leads_out and target != "." else target


def contents(files: ScannedFiles, names: list[str]) -> Iterator[tuple[str, bytes | None]]:
    """Each file with its content; None if it is not a readable regular file in the root, or too large."""
    deadline = time.monotonic() + MAX_SCAN
    root = str(files.root)
    for name in names:
        _check(deadline)
        try:
            # One byte more shows whether it is too large.
            content = None if name in files.foreign else read_regular(f"{root}/{name}", MAX_FILE + 1)
        except (OSError, ValueError):
            content = None
        yield name, content if content is not None and len(content) <= MAX_FILE else None


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise Unreadable(f"reading the project's files took longer than {MAX_SCAN:.0f} seconds")


def read_regular(path: str | bytes | Path, most: int, *, flags: int = 0) -> bytes | None:
    """The first bytes of a regular file; None if it is none, or is being written."""
    # Opening a pipe would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        # One byte more shows whether it grew. To ask for the most would allocate it for every file.
        content = os.read(descriptor, min(most, status.st_size + 1))
        return content if len(content) == min(most, status.st_size) else None
    finally:
        os.close(descriptor)


def digest_of(path: Path) -> bytes:
    """Equal for files of equal mode and content, links to the same target, and for all that is not read or not there.

    A file behind a folder that is a link is not there.
    """
    full = os.fsencode(path)
    try:
        is_linked = os.path.realpath(path.parent) != os.fspath(path.parent)
        mode = 0 if is_linked else path.lstat().st_mode
        kind = b"%o" % mode
        if stat.S_ISLNK(mode):
            kind += os.readlink(full)  # noqa: PTH115 - pathlib knows no bytes
        elif stat.S_ISREG(mode):
            kind += read_regular(full, MAX_COMPARED, flags=os.O_NOFOLLOW) or b""
    except FileNotFoundError:
        kind = b"0"
    except OSError:
        kind = b"unreadable"
    return hashlib.sha256(kind).digest()
