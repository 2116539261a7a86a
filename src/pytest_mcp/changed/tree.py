"""The Python files and the settings files of a project.

In comes the root; out come paths relative to it, or the reason why not all of them can be known. Not descended into:
hidden folders, environments, installed packages and caches. No link is followed out of the root. The number of files,
their size and the time are limited.
"""

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pytest_mcp.text import label

MOST_FILES = 100_000
# More than a person writes into one file; in bytes.
LARGEST_FILE = 1_000_000
# For reading all of them, in seconds.
LONGEST_SCAN = 30.0
_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "__pypackages__"})
# What shows that a folder is an environment.
_ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})
SETTINGS = frozenset(
    {
        *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"),
        "setup.py",
    }
)


class Unreadable(Exception):
    """The imports of the project cannot be known; the message says why, as half of a sentence."""


@dataclass
class Tree:
    root: Path
    python: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    # Links to other files of the project: the path of the link, and where it leads.
    links: dict[str, str] = field(default_factory=dict)
    # Links that lead out of the root.
    foreign: set[str] = field(default_factory=set)


def is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def look(root: Path) -> Tree:
    """Raises Unreadable if there are too many files, or folders that have two names."""
    tree = Tree(root)
    todo = [""]
    deadline = _deadline()
    while todo:
        _check(deadline)
        prefix = todo.pop()
        entries = _entries(root / prefix)
        if not _ENVIRONMENT.isdisjoint(entry.name for entry in entries):
            continue
        for entry in entries:
            if entry.is_symlink():
                _follow(tree, entry, prefix + entry.name)
            elif entry.is_dir():
                todo += [] if is_skipped(entry.name) else [f"{prefix}{entry.name}/"]
            elif entry.name.endswith(".py"):
                tree.python.append(prefix + entry.name)
            if entry.name in SETTINGS:
                tree.settings.append(prefix + entry.name)
        if len(tree.python) > MOST_FILES:
            raise Unreadable(f"the project has more than {MOST_FILES:,} Python files")
    return tree


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _follow(tree: Tree, link: "os.DirEntry[str]", name: str) -> None:
    target = _inside(tree.root, link.path)
    if name.endswith(".py"):
        tree.python.append(name)
        if target is None:
            tree.foreign.add(name)
        else:
            tree.links[name] = target
    elif target is not None and not is_skipped(link.name) and _is_folder(link):
        raise Unreadable(f"{label(name)} is a link to another folder of the project")


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """False for a link in a loop."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _inside(root: Path, link: str) -> str | None:
    """Where a link leads, relative to the root; None if it leads out of it or nowhere that is looked at."""
    try:
        target = os.path.relpath(os.path.realpath(link), os.path.realpath(root)).replace(os.sep, "/")
    except (OSError, ValueError):
        return None
    leads_out = target == ".." or target.startswith("../") or any(map(is_skipped, target.split("/")))
    return None if leads_out and target != "." else target


def contents(tree: Tree, names: list[str]) -> Iterator[tuple[str, bytes | None]]:
    """Each file with its content; None if it is not a readable regular file in the root, or too large."""
    deadline = _deadline()
    root = str(tree.root)
    for name in names:
        _check(deadline)
        yield name, None if name in tree.foreign else _content(f"{root}/{name}")


def _deadline() -> float:
    return time.monotonic() + LONGEST_SCAN


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise Unreadable(f"reading the project's files took longer than {LONGEST_SCAN:.0f} seconds")


def _content(path: str) -> bytes | None:
    try:
        # Opening a pipe would block.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
            return None
        # One byte more shows whether it grew. To ask for the most would allocate a megabyte for every file.
        content = os.read(descriptor, found.st_size + 1)
        return content if len(content) == found.st_size else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
