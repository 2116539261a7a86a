"""What changed: which commit the working tree is compared with, and one look at the tree by git.

A path is changed if `git diff` against the commit names it, or `git status` as untracked, with conflicts, or as a
submodule with changes inside. So a renamed file is two paths, and a submodule is one, whatever changed inside. Never
changed is what this server or command writes: its history, and the files of its output. Lines are numbered as in the
file that git stores: a filter that adds or removes lines shifts them.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import anyio

from pytest_mcp.changed import listings
from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused, GitFailed, Repository, open_repository
from pytest_mcp.changed.listings import Hunk, Status, TreeFile
from pytest_mcp.config.model import Config
from pytest_mcp.process.background import in_thread
from pytest_mcp.run.run import ALL_LINES, ChangedLines

# For all of it.
MAX_SECONDS = 60
MAX_REF = 256
# Characters that no ref has, and syntax for ranges, paths and searches in messages. A search can take any time.
_UNUSABLE = (" ", ":", "?", "*", "[", "\\", "..", "{/")
_REMOTE_HEAD = "refs/remotes/origin/HEAD"
# What SQLite adds to the name of a database, for its own files.
_OF_SQLITE = ("", "-wal", "-shm", "-journal")

Lines = Mapping[str, frozenset[int]]


@dataclass(frozen=True)
class Base:
    # As a person names it.
    name: str
    commit: str


@dataclass(frozen=True)
class Changes:
    # The ref as a person names it, and its commit.
    since: str
    commit: str
    # Relative to the root.
    files: frozenset[str]
    # Changed files of the checkout that are not below the root, relative to the top of the checkout.
    outside: frozenset[str]


@dataclass(frozen=True)
class TreeComparison:
    """The working tree at one moment. The lines are known only if they were asked for."""

    repository: Repository
    changes: Changes
    # What git status names, relative to the top of the checkout.
    uncommitted: frozenset[bytes]
    # Relative to the root: where the changed files differ, those that the base lacks, and those that git does not know.
    hunks: Mapping[str, Sequence[Hunk]]
    new: frozenset[str]
    untracked: frozenset[str]
    # Relative to the top: everything that changed, with what the base has in its place; and what git does not know.
    committed: Mapping[str, TreeFile | None]
    unknown: frozenset[str]

    def added_lines(self) -> ChangedLines:
        """Every line that was added or replaced. A file that only lost lines has none."""
        root = self.repository.config.root
        ranges = {file: ",".join(_range(hunk) for hunk in hunks if hunk.length) for file, hunks in self.hunks.items()}
        ranges |= {file: ALL_LINES for file in self.untracked if _has_lines(root / file)}
        return ChangedLines(self.changes.since, {file: lines for file, lines in ranges.items() if lines})

    def changed_lines(self) -> Lines:
        """New and replaced lines, and the line behind one that was deleted, of files that the base has."""
        known = {file: hunks for file, hunks in self.hunks.items() if file not in self.new}
        return {file: frozenset(chain.from_iterable(map(_numbers, hunks))) for file, hunks in known.items()}


async def since_ref(config: Config, ref: str | None, *, lines: bool = False) -> TreeComparison:
    """Raises ChangesRefused or CannotTell."""
    with anyio.move_on_after(MAX_SECONDS):
        repository = await open_repository(config)
        return await since(repository, await resolve(repository, ref), lines=lines)
    raise CannotTell(f"the files could not be compared within {MAX_SECONDS} seconds")


async def since(repository: Repository, base: Base, *, lines: bool = False) -> TreeComparison:
    status, diff = await repository.status_and_diff(base.commit, lines=lines)
    return await in_thread(partial(_compared, repository, base, status, diff))


async def uncommitted(repository: Repository) -> frozenset[bytes]:
    """The paths that git status names, relative to the top."""
    status, _ = await repository.status_and_diff(None)
    return await in_thread(lambda: _status(repository, status).uncommitted)


async def resolve(repository: Repository, ref: str | None) -> Base:
    """A given ref stands for its own tree.

    Without one it is the merge base of HEAD and the default branch: everything that was done on a branch. It is HEAD
    if HEAD is part of the default branch or there is no such branch: everything that is not committed.
    """
    if ref is None:
        return await _default(repository)
    is_usable = 0 < len(ref) <= MAX_REF and ref.isprintable() and not ref.startswith(("-", "^"))
    if not is_usable or any(each in ref for each in _UNUSABLE):
        raise ChangesRefused("must name one commit, for example main, v1.2, HEAD~3, origin/main or a1b2c3d")
    try:
        (commit,) = await repository.commits([ref])
    except GitFailed as error:
        raise ChangesRefused(f"names no commit: {error}") from error
    if commit is None:
        raise ChangesRefused("names no commit of this repository; if it is on a remote, fetch it first")
    return Base(ref, commit)


async def ancestors(repository: Repository, base: Base, steps: Sequence[int]) -> list[Base]:
    """The commits so many steps before it, by first parents; without those that there are not."""
    commits = await repository.commits([f"{base.commit}~{step}" for step in steps])
    known = [(step, commit) for step, commit in zip(steps, commits, strict=True) if commit is not None]
    return [Base(f"HEAD~{step}" if base.name == "HEAD" else commit[:7], commit) for step, commit in known]


async def _default(repository: Repository) -> Base:
    head, branches = repository.head, repository.branches
    if head is None:
        raise CannotTell("the repository has no commit yet")
    branch, tip = next(iter(branches.items()), ("HEAD", head))
    base = head if tip == head else await repository.merge_base(head, tip)
    if base is None:
        raise CannotTell(f"HEAD and {_short(branch)} have no common commit here (a shallow clone may lack it)")
    if base == head:
        return Base("HEAD", head)
    # origin/main rather than origin/HEAD, if that is what it stands for.
    same = [name for name, other in branches.items() if other == tip and name != _REMOTE_HEAD]
    return Base(_short(same[0] if branch == _REMOTE_HEAD and same else branch), base)


def _short(branch: str) -> str:
    return branch.removeprefix("refs/heads/").removeprefix("refs/remotes/")


def _compared(repository: Repository, base: Base, status_output: bytes, diff_output: bytes) -> TreeComparison:
    status, difference = _status(repository, status_output), listings.parse_diff(diff_output)
    changed = (difference.committed.keys() - _written_by_us(repository)) | status.unique | status.untracked
    prefix = b"" if repository.root == Path() else os.fsencode(repository.root) + b"/"
    # By their names from the root.
    inside = {os.fsdecode(path.removeprefix(prefix)): path for path in changed if path.startswith(prefix)}
    if not inside and not repository.has_root:
        # Its files would seem unchanged, however they change.
        raise CannotTell("git tracks no file of the project's folder")
    return TreeComparison(
        repository,
        Changes(
            base.name, base.commit, frozenset(inside), frozenset(map(os.fsdecode, changed.difference(inside.values())))
        ),
        uncommitted=status.uncommitted,
        hunks={file: difference.hunks[path] for file, path in inside.items() if path in difference.hunks},
        new=frozenset(file for file, path in inside.items() if difference.committed.get(path, ...) is None),
        untracked=frozenset(file for file, path in inside.items() if path in status.untracked),
        committed={os.fsdecode(path): difference.committed.get(path) for path in changed},
        unknown=frozenset(map(os.fsdecode, status.untracked)),
    )


def _status(repository: Repository, output: bytes) -> Status:
    """Without what we have written."""
    status, ours = listings.parse_status(output), _written_by_us(repository)
    return Status(status.tracked - ours, status.unique - ours, status.untracked - ours)


def _written_by_us(repository: Repository) -> set[bytes]:
    """The files of the checkout that this server or command writes."""
    config = repository.config
    history = [f"{os.path.realpath(config.history.address)}{ending}" for ending in _OF_SQLITE] if config.history else []
    paths = [*map(Path, history), *(Path(os.path.realpath(path)) for path in config.outputs)]
    return {os.fsencode(path.relative_to(repository.top)) for path in paths if path.is_relative_to(repository.top)}


def _range(hunk: Hunk) -> str:
    return f"{hunk.first}-{hunk.first + hunk.length - 1}" if hunk.length > 1 else f"{hunk.first}"


def _numbers(hunk: Hunk) -> range:
    return range(hunk.first, hunk.first + hunk.length) if hunk.length else range(hunk.first + 1, hunk.first + 2)


def _has_lines(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size > 0
