"""The state of the code, by which two runs can be told to be of the same code.

It is the commit that is checked out, whether anything differs from it, and a hash of the commit and of every file that
does. What runs leave behind does not count, nor do files that git ignores. git is asked again only if the names, sizes
or times of the files differ from those at the last look.
"""

import hashlib
import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_mcp.changed import git_commands, working_tree
from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused, Repository
from pytest_mcp.changed.project_files import MAX_SCAN, FolderEntry, digest_of, entries_of
from pytest_mcp.changed.reach import CACHES, is_cached
from pytest_mcp.changed.working_tree import TreeComparison
from pytest_mcp.config.model import Config
from pytest_mcp.process.background import in_thread
from pytest_mcp.python import git_files

# Beyond this, looking takes about as long as asking git.
MAX_FILES = 20_000
_SKIPPED = CACHES | {".git", "node_modules", "site-packages", "__pypackages__"}


@dataclass(frozen=True)
class CodeState:
    # None without a repository.
    commit: str | None = None
    # None if it cannot be told.
    hash: str | None = None
    dirty: bool = False


class CodeWatch:
    """The state of the code of one project."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._fingerprint: bytes | None = None
        self._state = CodeState()

    async def state(self, comparison: TreeComparison | None = None) -> CodeState:
        """`comparison` is the call's own look at the working tree, if it needed one."""
        if comparison is not None:
            return await in_thread(partial(_state, comparison.repository, comparison.uncommitted))
        checkout = git_files.find(self._config.root)
        if checkout is None:
            return CodeState()
        # Taken first: what changes while git is asked is noticed the next time.
        fingerprint = await in_thread(partial(_fingerprint, checkout.top))
        if fingerprint is None or fingerprint != self._fingerprint:
            self._state = await self._ask()
            self._fingerprint = fingerprint
        return self._state

    async def _ask(self) -> CodeState:
        try:
            repository = await git_commands.open_repository(self._config)
            paths = await working_tree.uncommitted(repository)
        except (ChangesRefused, CannotTell):
            return CodeState(git_files.head_commit(self._config.root))
        return await in_thread(partial(_state, repository, paths))


def _state(repository: Repository, paths: Collection[bytes]) -> CodeState:
    commit = repository.head
    if commit is None:
        return CodeState()
    changed = sorted(path for path in paths if not is_cached(os.fsdecode(path)))
    digest, deadline = hashlib.sha256(commit.encode()), time.monotonic() + MAX_SCAN
    for path in changed:
        full = repository.top / os.fsdecode(path)
        # A submodule, or a repository inside, is a folder.
        content = _fingerprint(full) if full.is_dir() and not full.is_symlink() else digest_of(full)
        if content is None or time.monotonic() > deadline:
            return CodeState(commit)
        digest.update(b"%d " % len(path) + path + content)
    return CodeState(commit, digest.hexdigest(), bool(changed))


def _fingerprint(top: Path) -> bytes | None:
    """Equal if no file of a checkout has changed, nor what is staged; None if there are too many files."""
    digest = hashlib.blake2b(repr(git_files.head_commit(top)).encode())
    for number, entry in enumerate(_files(os.fspath(top))):
        if number > MAX_FILES:
            return None
        digest.update(os.fsencode(entry.path) + b"\0" + _facts(entry))
    digest.update(_facts(git_files.index(top)))
    return digest.digest()


def _files(top: str) -> Iterator[FolderEntry]:
    todo = [top]
    while todo:
        for entry in entries_of(todo.pop()):
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif entry.name not in _SKIPPED:
                todo.append(entry.path)


def _facts(file: FolderEntry | Path) -> bytes:
    try:
        status = file.stat(follow_symlinks=False)
    except OSError:
        return b""
    return b"%d %d %d %d " % (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
