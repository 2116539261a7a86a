"""A repository for a copy of a checkout: everything of the checkout's but the objects, which it reads there.

git never writes to the objects of another repository that it reads. Other worktrees, and repositories of submodules, do
not belong to the copy: a command of git in it must not reach them. Links in `.git` that lead
out of it, as `git-new-workdir` makes them, are replaced by what they lead to: git would write through them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_mcp.changed.folder_copy import Copier, FolderListing, copy_content, names_in
from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.python import git_files

# Without large objects of git-lfs and git-annex. More than this is no repository that anybody uses.
MAX_FILES = 20_000
MAX_BYTES = 256 * 1024**2
_APART = frozenset({"objects", "worktrees", "modules", "lfs", "annex", "commondir", "gitdir"})
# What a linked worktree shares with the main one. Everything else there is about the main one.
_SHARED = frozenset({"config", "packed-refs", "refs", "reftable", "hooks", "info", "shallow", "description"})
# The last value counts. `worktree` keeps git away from a folder that the original names, and is relative to `.git`.
_SETTINGS = "\n[core]\n\tbare = false\n\tworktree = ..\n"
_LARGE_FILES = "lfs"


def copy_repository(top: Path, tree: Path) -> Iterator[None]:
    """Nothing if there is none, as in a submodule that is not checked out. Raises CannotTell, OSError."""
    if not os.path.lexists(top / ".git"):
        return
    own = Path(os.path.realpath(git_files.repository(top / ".git")))
    common = Path(os.path.realpath(git_files.common_of(own)))
    target = tree / ".git"
    yield from _copy_entries(own, target, sorted(names_in(own) - _APART))
    if common != own:
        yield from _copy_entries(common, target, sorted(names_in(common) & _SHARED))
    objects = os.fspath(common / "objects")
    if "\n" in objects or objects.startswith('"'):
        raise CannotTell("the name of its folder cannot be given to git")
    for folder in ("objects/info", "objects/pack", "refs"):
        (target / folder).mkdir(parents=True, exist_ok=True)
    (target / "objects" / "info" / "alternates").write_bytes(os.fsencode(f"{objects}\n"))
    for name in ("config", "config.worktree"):
        if name == "config" or (target / name).exists():
            with (target / name).open("a", encoding="utf-8") as config:
                config.write(_SETTINGS)


@contextmanager
def with_large_files(top: Path, tree: Path) -> Iterator[None]:
    """In the block, the filter of git-lfs finds the files that it keeps in the checkout's repository."""
    kept = git_files.common_of(git_files.repository(top / ".git")) / _LARGE_FILES
    link = tree / ".git" / _LARGE_FILES
    if not kept.is_dir():
        yield
        return
    link.symlink_to(os.path.realpath(kept))
    try:
        yield
    finally:
        link.unlink()


def _copy_entries(source: Path, target: Path, names: list[str], *, follows: bool = True) -> Iterator[None]:
    """Links that lead out are followed once, and not at all in what they lead to."""
    found = FolderListing(os.fspath(source), is_left_out=lambda _: False)
    for name in names:
        yield from found.scan_one(name)
        if len(found.files) > MAX_FILES or found.size > MAX_BYTES:
            raise CannotTell("there is too much in its .git folder")
    files = [name for name in found.files if not name.endswith(".lock")]
    out = {name: real for name in files if (real := _led_out(source, name)) is not None}
    inside = [name for name in files if name not in out]
    yield from Copier(os.fspath(source), os.fspath(target)).copy(["", *found.folders], inside)
    for name, real in out.items() if follows else ():
        if real.is_dir():
            yield from _copy_entries(real, target / name, sorted(names_in(real)), follows=False)
        elif real.is_file():
            yield from copy_content(os.fspath(real), os.fspath(target / name))


def _led_out(folder: Path, name: str) -> Path | None:
    """What a link leads to outside of the folder; None if it does not, or is no link."""
    if not (folder / name).is_symlink():
        return None
    real = Path(os.path.realpath(folder / name))
    return None if real.is_relative_to(folder) else real
