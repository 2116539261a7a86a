"""The git checkout that a folder belongs to, read from git's files without running git.

In comes a folder; out come the top of its checkout and, for a linked worktree, the main checkout. A `.git` file
counts only if its repository points back at it: it could name any folder.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.environments import files

_LINK = "gitdir:"
# A word and a path.
_LONGEST_LINE = 8192


@dataclass(frozen=True)
class Checkout:
    top: Path
    # The main checkout, if this one is a linked worktree.
    main: Path | None


def find(folder: Path) -> Checkout | None:
    for top in (folder, *folder.parents):
        git = top / ".git"
        if files.holds(git.is_dir):
            return Checkout(top, None)
        if files.holds(git.is_file):
            return Checkout(top, _main(git))
    return None


def _main(link: Path) -> Path | None:
    """None for a submodule, whose `.git` file looks the same, and for a bare repository."""
    said = _line(link)
    if said is None or not said.startswith(_LINK):
        return None
    own = _real(link.parent / said.removeprefix(_LINK).strip())
    confirmed, common = _line(own / "gitdir"), _line(own / "commondir")
    if confirmed is None or common is None or _real(own / confirmed) != _real(link):
        return None
    repository = _real(own / common)
    return repository.parent if repository.name == ".git" else None


def _real(path: Path) -> Path:
    """Does not raise for symlink loops and bad names, unlike pathlib."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


def _line(path: Path) -> str | None:
    return files.text(path, _LONGEST_LINE).strip() or None
