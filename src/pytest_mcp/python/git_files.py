"""The git checkout that a folder belongs to, read from git's files without running git.

A `.git` file counts only if its repository points back at it: it could name any folder. For the commit that is checked
out that does not matter: only a hash is taken from there.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.python import files

_LINK = "gitdir:"
# A word and a path.
_MAX_LINE = 8192
# A hundred thousand branches and tags.
_MAX_REFS = 16 * 1024 * 1024
# The version of an index with compressed paths.
_COMPRESSED_PATHS = b"\0\0\0\4"
_REF = "ref:"
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Not every name that git allows, but none that leads out of the folder.
_REF_NAME = re.compile(r"refs(?:/(?!\.)[^/\0]+)+")


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


def head_commit(folder: Path) -> str | None:
    """The hash of the commit that is checked out; None without a repository, or if its files do not say."""
    checkout = find(folder)
    if checkout is None:
        return None
    own = repository(checkout.top / ".git")
    head = _line(own / "HEAD")
    if head.startswith(_REF):
        return _commit_of(head.removeprefix(_REF).strip(), own)
    return head if _HASH.fullmatch(head) else None


def index(top: Path) -> Path:
    """The file in which git keeps what is staged in this checkout."""
    return repository(top / ".git") / "index"


def is_tracked(file: Path, *, if_unknown: bool = False) -> bool:
    """Whether git knows this file. Unknown if the index cannot be read, or has compressed paths (version 4)."""
    checkout = find(file.parent)
    if checkout is None:
        return False
    try:
        content = index(checkout.top).read_bytes()
    except FileNotFoundError:  # a checkout without an index tracks nothing yet
        return False
    except OSError:
        return if_unknown
    # A signature, then the version.
    if content[4:8] == _COMPRESSED_PATHS:
        return if_unknown
    name = os.fsencode(file.relative_to(checkout.top).as_posix())
    # Before each path is its length, whose last byte differs from the slash before the end of a longer path, as a rule.
    return bytes([len(name) % 256]) + name + b"\0" in content


def repository(git: Path) -> Path:
    """The folder with HEAD: `.git` itself, or what it names if it is a file."""
    link = _line(git)
    return git.parent / link.removeprefix(_LINK).strip() if link.startswith(_LINK) else git


def common_of(repository: Path) -> Path:
    """The folder that linked worktrees share; else the same."""
    return repository / _line(repository / "commondir")


def _commit_of(name: str, repository: Path) -> str | None:
    if not _REF_NAME.fullmatch(name):
        return None
    common = common_of(repository)
    for folder in (repository, common):
        if _HASH.fullmatch(commit := _line(folder / name)):
            return commit
    packed = files.text(common / "packed-refs", _MAX_REFS)
    match = re.search(rf"^({_HASH.pattern}) {re.escape(name)}$", packed, re.MULTILINE)
    return match.group(1) if match else None


def _main(link: Path) -> Path | None:
    """None for a submodule, whose `.git` file looks the same, and for a bare repository."""
    own = repository(link)
    confirmed, common = _line(own / "gitdir"), _line(own / "commondir")
    if not confirmed or not common or os.path.realpath(own / confirmed) != os.path.realpath(link):
        return None
    shared = Path(os.path.realpath(own / common))
    return shared.parent if shared.name == ".git" else None


def _line(path: Path) -> str:
    """Empty if there is none, or it has a character that no path has."""
    line = files.text(path, _MAX_LINE).strip()
    return "" if "\0" in line else line
