"""Which lines of the project's files differ from the base: those that `git diff` names.

Numbers of lines are those of the file as git stores it. A filter that adds or removes lines shifts them.
"""

import stat
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from pytest_mcp.api.reach import ALL_LINES, ChangedLines
from pytest_mcp.changed.differences import Look
from pytest_mcp.changed.listings import Hunk

Lines = Mapping[str, frozenset[int]]


def added(look: Look) -> ChangedLines:
    """Every line that was added or replaced. A file that only lost lines has none."""
    root = look.repository.config.root
    ranges = {file: ",".join(_range(hunk) for hunk in hunks if hunk.length) for file, hunks in look.hunks.items()}
    untracked = {file: ALL_LINES for file in look.untracked if _has_lines(root / file)}
    return ChangedLines(look.changes.since, {file: each for file, each in (ranges | untracked).items() if each})


def changed(look: Look) -> Lines:
    """New and replaced lines, and the line behind one that was deleted, of files that the base has."""
    known = {file: hunks for file, hunks in look.hunks.items() if file not in look.new}
    return {file: frozenset(chain.from_iterable(map(_numbers, hunks))) for file, hunks in known.items()}


def _range(hunk: Hunk) -> str:
    return f"{hunk.first}-{hunk.first + hunk.length - 1}" if hunk.length > 1 else f"{hunk.first}"


def _numbers(hunk: Hunk) -> range:
    return range(hunk.first, hunk.first + hunk.length) if hunk.length else range(hunk.first + 1, hunk.first + 2)


def _has_lines(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0
