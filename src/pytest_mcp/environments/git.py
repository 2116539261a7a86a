"""The git checkout that a folder belongs to, read from git's own files: no git is started.

In comes a folder; out come the top of its checkout and, for a linked worktree, the main checkout. A `.git`
file that its repository does not confirm is not believed: it could name any folder.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.environments import files

_LINK = "gitdir:"
# A path, and a word before it.
_LONGEST_LINE = 8192


@dataclass(frozen=True)
class Checkout:
    top: Path
    # Where the repository itself lies, if this is only a worktree that is linked to it.
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
    """None for a submodule, whose file looks the same, and for a repository without a checkout of its own."""
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
    """Also of what leads around in a circle, or has a name that no file can have: pathlib raises there."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


def _line(path: Path) -> str | None:
    return files.text(path, _LONGEST_LINE).strip() or None
