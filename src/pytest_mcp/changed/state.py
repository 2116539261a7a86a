"""The state of the code, by which two runs can be told to be of the same code.

It is the commit that is checked out, whether anything differs from it, and a hash of the commit and of every file that
does. What runs leave behind does not count, nor do files that git ignores.
"""

import hashlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_mcp.changed import differences, git_commands, relevance, snapshot
from pytest_mcp.changed.differences import Look
from pytest_mcp.changed.git_commands import CannotTell, Refused, Repository
from pytest_mcp.changed.working_tree import WorkingTree
from pytest_mcp.config.model import Config
from pytest_mcp.process.background import in_thread
from pytest_mcp.python import git_files


@dataclass(frozen=True)
class CodeState:
    # None without a repository.
    commit: str | None = None
    # None if it cannot be told.
    hash: str | None = None
    dirty: bool = False


class CodeWatch:
    """The state of the code of one project; git is asked again only if a file may have changed.

    `written` is a file that we write ourselves: neither it nor what is beside it with a longer name is code.
    """

    def __init__(self, config: Config, written: Path | None = None) -> None:
        self._config = config
        self._written = written
        self._snapshot: bytes | None = None
        self._state = CodeState()

    async def look(self, taken: Look | None = None) -> CodeState:
        """`taken` is the call's own look at the working tree, if it needed one."""
        if taken is not None:
            return await self._of_paths(taken.repository, taken.uncommitted)
        checkout = git_files.find(self._config.root)
        if checkout is None:
            return CodeState()
        # Taken first: what changes while git is asked is noticed the next time.
        seen = await in_thread(partial(snapshot.take, checkout.top, self._written))
        if seen is None or seen != self._snapshot:
            self._state = await self._ask()
            self._snapshot = seen
        return self._state

    async def _ask(self) -> CodeState:
        try:
            repository = await git_commands.find(self._config)
            paths = await differences.uncommitted(repository)
        except (Refused, CannotTell):
            return CodeState(git_files.head_commit(self._config.root))
        return await self._of_paths(repository, paths)

    async def _of_paths(self, repository: Repository, paths: Collection[bytes]) -> CodeState:
        own = os.fsencode(self._written) if self._written else None
        top = os.fsencode(repository.top) + b"/"
        counted = [path for path in paths if not relevance.is_cached(os.fsdecode(path))]
        changed = sorted(path for path in counted if own is None or not (top + path).startswith(own))
        return await in_thread(partial(_state, repository, changed))


def _state(repository: Repository, changed: Collection[bytes]) -> CodeState:
    commit = repository.head
    if commit is None:
        return CodeState()
    try:
        return CodeState(commit, _hash(commit, changed, repository.top), bool(changed))
    except CannotTell:
        return CodeState(commit)


def _hash(commit: str, changed: Collection[bytes], top: Path) -> str:
    tree = WorkingTree(top)
    digest = hashlib.sha256(commit.encode())
    for path in changed:
        digest.update(b"%d " % len(path) + path + (_of_folder(top / os.fsdecode(path)) or tree.digest(path)))
    return digest.hexdigest()


def _of_folder(path: Path) -> bytes | None:
    """Of a submodule, or of a repository inside; None if it is none."""
    if path.is_symlink() or not path.is_dir():
        return None
    found = snapshot.take(path)
    if found is None:
        raise CannotTell("it has too many files")
    return found
