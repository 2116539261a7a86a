"""The state of the code, by which two runs can be told to be of the same code.

In come the settings; out come the commit that is checked out, whether anything differs from it, and a hash of the
commit and of every file that does. What runs leave behind does not count, nor do files that git ignores.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_mcp.changes import differences, relevance, snapshot
from pytest_mcp.changes.differences import Changes
from pytest_mcp.changes.git_commands import CannotTell, Refused, Settings
from pytest_mcp.changes.working_tree import WorkingTree
from pytest_mcp.config.model import Config
from pytest_mcp.environments import git_files
from pytest_mcp.execution.background import in_thread


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

    async def look(self) -> CodeState:
        checkout = git_files.find(self._config.root)
        if checkout is None:
            return CodeState()
        # Taken first: what changes while git is asked is noticed the next time.
        taken = await in_thread(partial(snapshot.take, checkout.top, self._written))
        if taken is None or taken != self._snapshot:
            self._state = await self._ask()
            self._snapshot = taken
        return self._state

    async def _ask(self) -> CodeState:
        try:
            changes = relevance.without_caches(await differences.since(self._config, "HEAD"))
            return await in_thread(partial(_of_changes, changes, self._config.root, self._written))
        except (Refused, CannotTell):
            return CodeState(git_files.head_commit(self._config.root))


def _of_changes(changes: Changes, root: Path, written: Path | None) -> CodeState:
    checkout = git_files.find(root)
    assert checkout is not None
    below = {root / path for path in changes.files}
    outside = {checkout.top / path for path in changes.outside}
    changed = sorted(path for path in below | outside if not (written and str(path).startswith(str(written))))
    return CodeState(changes.commit, _hash(changes.commit, changed, checkout.top), bool(changed))


def _hash(commit: str, changed: list[Path], top: Path) -> str:
    tree = WorkingTree(top, Settings(executable_bits=True, converts_line_ends=False))
    digest = hashlib.sha256(commit.encode())
    for path in changed:
        relative = os.fsencode(path.relative_to(top))
        digest.update(b"%d " % len(relative) + relative + tree.digest(relative))
    return digest.hexdigest()
