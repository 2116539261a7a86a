"""A copy of a commit's tree in a private folder, written from git's objects.

Nothing of the repository is written to, and no hook and no filter runs. The folder is that of a supervisor without a
child, which removes it also if this process is killed. Submodules, large files and links that may lead out of the tree
are left out, and named.
"""

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import dropwhile
from pathlib import Path
from typing import NamedTuple

import anyio

from pytest_mcp.changed import listings
from pytest_mcp.changed.git_commands import UNREADABLE, CannotTell, Repository
from pytest_mcp.changed.listings import LINK, SUBMODULE, TreeFile
from pytest_mcp.process import process, start
from pytest_mcp.process.background import in_thread
from pytest_mcp.process.job import SpawnError

# A larger tree is not copied.
MAX_BYTES = 512 * 1024 * 1024
# What git is asked for and written at once, which cannot be interrupted. A larger file is left out.
BATCH_BYTES = 32 * 1024 * 1024
BATCH_FILES = 2_000
_EXECUTABLE = b"100755"

Files = Mapping[bytes, TreeFile]


class TreeCopy(NamedTuple):
    """`left_out` has the paths that are in the commit and not in the copy."""

    tree: Path
    left_out: tuple[str, ...]


@asynccontextmanager
async def copy_of(repository: Repository, commit: str) -> AsyncIterator[TreeCopy]:
    """Raises CannotTell if the tree cannot be read, is too large or cannot be written."""
    try:
        started = start.supervisor(repository.config.environment)
    except SpawnError as error:
        raise CannotTell(f"there is no place for a copy: {error}") from error
    try:
        tree = started.folder.path / "tree"
        yield TreeCopy(tree, await _write(repository, commit, tree))
    finally:
        await process.end(started)


async def _write(repository: Repository, commit: str, tree: Path) -> tuple[str, ...]:
    """What is left out."""
    files = listings.parse_tree(await repository.list_tree(commit))
    if sum(file.size for file in files.values()) > MAX_BYTES:
        raise CannotTell(f"its tree is larger than {MAX_BYTES // 1024**2} MiB")
    readable = {path: file for path, file in files.items() if file.mode != SUBMODULE and file.size <= BATCH_BYTES}
    left_out = [path for path in files if path not in readable]
    for batch in _batches(readable):
        output = await repository.contents([readable[path].hash for path in batch])
        contents = list(zip(batch, _contents(output), strict=True))
        # Shielded: a thread that still writes would leave files behind when the folder is removed.
        with anyio.CancelScope(shield=True):
            left_out += await in_thread(partial(_write_files, os.fsencode(tree), readable, contents))
    return tuple(map(os.fsdecode, left_out))


def _batches(files: Files) -> Iterator[list[bytes]]:
    """Files first and links last, so that no file is written through a link."""
    batch: list[bytes] = []
    bytes_in_batch = 0
    for path in sorted(files, key=lambda each: (files[each].mode == LINK, each)):
        size = files[path].size
        if bytes_in_batch + size > BATCH_BYTES or len(batch) == BATCH_FILES:
            yield batch
            batch, bytes_in_batch = [], 0
        batch.append(path)
        bytes_in_batch += size
    if batch:
        yield batch


def _contents(output: bytes) -> Iterator[bytes]:
    """Parse what `cat-file --batch` printed."""
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        _, kind, size = output[start:end].split(b" ")
        if kind != b"blob":
            raise CannotTell(UNREADABLE)
        start = end + 1 + int(size)
        yield output[end + 1 : start]
        start += 1


def _write_files(tree: bytes, files: Files, contents: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """The paths of links that are left out."""
    left_out = []
    try:
        for path, content in contents:
            if files[path].mode == LINK and not _stays_inside(path, content):
                left_out.append(path)
                continue
            full = tree + b"/" + path
            os.makedirs(os.path.dirname(full), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib knows no bytes
            _write_file(full, content, files[path].mode)
    except OSError as error:
        raise CannotTell(f"the copy could not be written: {error.strerror}") from error
    return left_out


def _write_file(full: bytes, content: bytes, mode: bytes) -> None:
    if mode == LINK:
        os.symlink(content, full)  # noqa: PTH211 - pathlib knows no bytes
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(full, flags, 0o755 if mode == _EXECUTABLE else 0o644), "wb") as opened:
        opened.write(content)


def _stays_inside(path: bytes, target: bytes) -> bool:
    """Behind another name, `..` may start from where a link leads to, so it is allowed only in front."""
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    upwards = len(parts) - len(list(dropwhile(lambda part: part == b"..", parts)))
    return (
        not target.startswith(b"/")
        and b"\0" not in target
        and upwards <= path.count(b"/")
        and b".." not in parts[upwards:]
    )
