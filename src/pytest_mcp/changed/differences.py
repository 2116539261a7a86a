"""What changed: one look at the working tree, by git.

A path is changed if `git diff` against the commit names it, or `git status` as untracked, with conflicts, or as a
submodule with changes inside. So a renamed file is two paths, and a submodule is one, whatever changed inside. Never
changed is what pytest-mcp itself has written: histories, and the files that this command writes. Which tests a change
reaches is decided in `reach`, which commit is compared in `references`.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from pytest_mcp.changed import git_commands, listings, references
from pytest_mcp.changed.git_commands import CannotTell, Outputs, Repository
from pytest_mcp.changed.imports.graph import is_of_tests
from pytest_mcp.changed.listings import Hunk, Status
from pytest_mcp.changed.references import Base
from pytest_mcp.changed.working_tree import WorkingTree
from pytest_mcp.config.model import HISTORY_ID, Config
from pytest_mcp.process.background import in_thread

# For all of it.
MOST_SECONDS = 60
# What SQLite adds to the name of a database, for its own files.
_OF_SQLITE = ("", "-wal", "-shm", "-journal")
# The header of an SQLite file begins with these words and has the application's number further on.
_SQLITE = b"SQLite format 3\0"
_HISTORY = slice(68, 72)


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
class Look:
    """The working tree at one moment. The lines are known only if they were asked for."""

    repository: Repository
    changes: Changes
    # What git status names, relative to the top of the checkout.
    uncommitted: frozenset[bytes]
    # Relative to the root: where the changed files differ, those that the base lacks, and those that git does not know.
    hunks: Mapping[str, Sequence[Hunk]]
    new: frozenset[str]
    untracked: frozenset[str]


async def of_ref(config: Config, ref: str | None, *, lines: bool = False) -> Look:
    """Raises NoRepository or UnknownRef, which refuse the request, or CannotTell. `references` has the default."""
    with anyio.move_on_after(MOST_SECONDS):
        repository = await git_commands.find(config)
        return await since(repository, await references.resolve(repository, ref), lines=lines)
    raise CannotTell(f"the files could not be compared within {MOST_SECONDS} seconds")


async def since(repository: Repository, base: Base, *, lines: bool = False) -> Look:
    outputs = await repository.look(base.commit, lines=lines)
    return await in_thread(partial(_parsed, repository, base, outputs))


async def uncommitted(repository: Repository) -> frozenset[bytes]:
    """The paths that git status names, relative to the top."""
    outputs = await repository.look(None)
    return await in_thread(lambda: _uncommitted(_status(repository, outputs.status)))


def _parsed(repository: Repository, base: Base, outputs: Outputs) -> Look:
    status = _status(repository, outputs.status)
    difference = listings.parse_diff(outputs.diff)
    changed = (difference.paths - _written_by_us(repository)) | status.unique | status.untracked
    inside, outside = _split(repository, changed)
    if not inside and not repository.has_root:
        # Its files would seem unchanged, however they change.
        raise CannotTell("git tracks no file of the project's folder")
    return Look(
        repository,
        Changes(base.name, base.commit, frozenset(inside), frozenset(map(os.fsdecode, outside))),
        uncommitted=_uncommitted(status),
        hunks={file: difference.hunks[path] for file, path in inside.items() if path in difference.hunks},
        new=frozenset(file for file, path in inside.items() if path in difference.new),
        untracked=frozenset(file for file, path in inside.items() if path in status.untracked),
    )


def _split(repository: Repository, paths: Iterable[bytes]) -> tuple[dict[str, bytes], list[bytes]]:
    """Those below the root, by their names from there, and the others."""
    prefix = b"" if repository.root == Path() else os.fsencode(repository.root) + b"/"
    inside = {os.fsdecode(path.removeprefix(prefix)): path for path in paths if path.startswith(prefix)}
    return inside, [path for path in paths if not path.startswith(prefix)]


def _status(repository: Repository, output: bytes) -> Status:
    """Without what we have written."""
    found = listings.parse_status(output)
    ours = _written_by_us(repository)
    untracked = found.untracked - ours
    return Status(found.tracked - ours, found.unique - ours, untracked - _histories(repository.top, untracked))


def _uncommitted(status: Status) -> frozenset[bytes]:
    return frozenset(status.tracked | status.untracked)


def _written_by_us(repository: Repository) -> set[bytes]:
    """The files of the checkout that this server or command writes."""
    config = repository.config
    history = [f"{os.path.realpath(config.history.address)}{ending}" for ending in _OF_SQLITE] if config.history else []
    paths = [*map(Path, history), *(Path(os.path.realpath(path)) for path in config.outputs)]
    return {os.fsencode(path.relative_to(repository.top)) for path in paths if path.is_relative_to(repository.top)}


def _histories(top: Path, untracked: set[bytes]) -> set[bytes]:
    """Untracked histories, also of other servers and earlier commands. Tests may read those among them."""
    files = WorkingTree(top)
    others = [path for path in untracked if not path.endswith(b".py") and not is_of_tests(os.fsdecode(path))]
    found = [path for path in others if _is_history(files.head(path, _HISTORY.stop))]
    return {path + ending.encode() for path in found for ending in _OF_SQLITE}


def _is_history(head: bytes) -> bool:
    return head.startswith(_SQLITE) and head[_HISTORY] == HISTORY_ID.to_bytes(4, "big")
