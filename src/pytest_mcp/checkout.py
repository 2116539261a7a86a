"""The git checkout that a folder belongs to, read from git's own files: no git is started.

In comes a folder; out come the top of its checkout and, for a linked worktree, the main checkout. A `.git`
file that its repository does not confirm is not believed: it could name any folder.
"""

from dataclasses import dataclass
from pathlib import Path

_LINK = "gitdir:"


@dataclass(frozen=True)
class Checkout:
    top: Path
    # Where the repository itself lies, if this is only a worktree that is linked to it.
    main: Path | None


def find(folder: Path) -> Checkout | None:
    for top in (folder, *folder.parents):
        git = top / ".git"
        if git.is_dir():
            return Checkout(top, None)
        if git.is_file():
            return Checkout(top, _main(git))
    return None


def _main(link: Path) -> Path | None:
    """None for a submodule, whose file looks the same, and for a repository without a checkout of its own."""
    said = _line(link)
    if said is None or not said.startswith(_LINK):
        return None
    own = (link.parent / said.removeprefix(_LINK).strip()).resolve()
    confirmed, common = _line(own / "gitdir"), _line(own / "commondir")
    if confirmed is None or common is None or (own / confirmed).resolve() != link.resolve():
        return None
    repository = (own / common).resolve()
    return repository.parent if repository.name == ".git" else None


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
