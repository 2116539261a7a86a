"""A copy of the checkout in a private folder: as it is, or with what changed since a commit put back.

All that is not part of the change is there as it is in the checkout: what git ignores, what was generated, what filters
made of it. What git does not track may be too large; then it is named. To git it looks as if the branch were at the
base. Nothing of the checkout is written to. The folder is that of a supervisor without a child, which removes it also
if this process is killed.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

import anyio

from pytest_mcp.changed import listings, working_tree
from pytest_mcp.changed.git_commands import CannotTell, Repository
from pytest_mcp.changed.listings import SUBMODULE
from pytest_mcp.changed.project_files import SETTINGS
from pytest_mcp.changed.tree_copy import TreeCopy, in_slices, remove, with_large_files
from pytest_mcp.changed.working_tree import Base, TreeComparison
from pytest_mcp.process import process, start
from pytest_mcp.process.background import in_thread
from pytest_mcp.process.job import SpawnError
from pytest_mcp.text import label

# For copying all of it.
MAX_SECONDS = 60.0

# Whether what changed at a path, from the top, is put back; and whether git knows nothing of the path.
IsPutBack = Callable[[str, bool], bool]


@dataclass(frozen=True)
class Tree:
    """`left_out` are paths of the checkout that the copy lacks, because they are too large or cannot be read."""

    top: Path
    checkout: Path
    left_out: tuple[str, ...] = ()
    # What was put back, from the top; and of what git does not track, what was removed for that and what was kept.
    put_back: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def is_part_of_change(path: str, is_untracked: bool) -> bool:
    """Of what git does not track, source is taken to be new, and data to have been there before."""
    name = PurePosixPath(path).name
    return not is_untracked or name.endswith((".py", ".pyx")) or name in SETTINGS


@asynccontextmanager
async def plain_copy(repository: Repository) -> AsyncIterator[Tree]:
    """The checkout as it is. Raises CannotTell, as below."""
    async with _copy_of(repository) as tree:
        yield tree


@asynccontextmanager
async def base_tree(
    repository: Repository, base: Base, is_put_back: IsPutBack = is_part_of_change
) -> AsyncIterator[Tree]:
    """The checkout with what changed since the base put back. Raises CannotTell if that cannot be made."""
    comparison = await working_tree.since(repository, base)
    async with _copy_of(repository) as tree:
        await _put_back(comparison, tree.top, is_put_back)
        put_back = frozenset(path for path in comparison.committed if is_put_back(path, path in comparison.unknown))
        untracked = {path for path in comparison.unknown if comparison.committed[path] is None}
        removed, kept = sorted(untracked & put_back), sorted(untracked - put_back)
        yield replace(tree, put_back=put_back, removed=tuple(removed), kept=tuple(kept))


@asynccontextmanager
async def _copy_of(repository: Repository) -> AsyncIterator[Tree]:
    try:
        started = start.supervisor(repository.config.environment)
    except SpawnError as error:
        raise CannotTell(f"there is no place for a copy: {error}") from error
    try:
        tree = started.folder.path / "tree"
        yield Tree(tree, repository.top, await _copy(repository, tree))
    finally:
        await process.end(started)


async def _copy(repository: Repository, tree: Path) -> tuple[str, ...]:
    """What is left out."""
    tracked = listings.parse_index(await repository.tracked())
    copy = TreeCopy(repository.top, tree, {os.fsdecode(path): file for path, file in tracked.items()})
    try:
        with anyio.fail_after(MAX_SECONDS):
            await in_slices(copy.steps())
    except TimeoutError as error:
        raise CannotTell(f"copying the checkout took longer than {MAX_SECONDS:.0f} seconds") from error
    except OSError as error:
        raise CannotTell(f"the copy could not be written: {error.strerror}") from error
    return tuple(sorted(copy.left_out))


async def _put_back(comparison: TreeComparison, tree: Path, is_put_back: IsPutBack) -> None:
    unknown, top = comparison.unknown, comparison.repository.top
    chosen = {path: file for path, file in comparison.committed.items() if is_put_back(path, path in unknown)}
    for path, file in chosen.items():
        if file is not None and file.mode == SUBMODULE and (top / path / ".git").exists():
            raise CannotTell(f"the submodule {label(path)} changed, which cannot be put back")
    files = [os.fsencode(path) for path, file in chosen.items() if file is not None]
    await in_thread(partial(remove, tree, sorted(chosen)))
    with with_large_files(top, tree):
        await comparison.repository.put_back(tree, comparison.changes.commit, files)
