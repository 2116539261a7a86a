"""The state of the code, by which two runs can be told to be of the same code.

In come the settings; out come the commit that is checked out, whether anything differs from it, and a hash of the
commit and of every file that does. What runs leave behind does not count, nor do files that git ignores.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_mcp.changes import differences, relevance
from pytest_mcp.changes.differences import Changes
from pytest_mcp.changes.repository import CannotTell, Refused, Settings
from pytest_mcp.changes.working_tree import WorkingTree
from pytest_mcp.config.model import Config
from pytest_mcp.environments import git
from pytest_mcp.execution.background import in_thread


@dataclass(frozen=True)
class CodeState:
    # None without a repository.
    commit: str | None = None
    # None if it cannot be told.
    hash: str | None = None
    dirty: bool = False


async def of_code(config: Config, written: Path | None = None) -> CodeState:
    """`written` is a file that we write ourselves: neither it nor what is beside it with a longer name is code."""
    try:
        changes = relevance.without_caches(await differences.since(config, "HEAD"))
        return await in_thread(partial(_of_changes, changes, config.root, written))
    except (Refused, CannotTell):
        return CodeState(git.head_commit(config.root))


def _of_changes(changes: Changes, root: Path, written: Path | None) -> CodeState:
    checkout = git.find(root)
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
