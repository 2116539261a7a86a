"""Parse git's lists of files: the tree of a commit, the index, untracked files.

In come bytes as git prints them with `-z`; out come paths, modes and hashes. Paths stay bytes. A tree or an index can
contain any name, also one that leads out of the checkout: then nothing is compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pytest_mcp.changes.git_commands import CannotTell

# In one listing. Comparing 200,000 takes several seconds and 300 MB.
MOST_ENTRIES = 300_000
# No file system has longer paths; nobody has folders this deep.
LONGEST_PATH = 4096
DEEPEST_PATH = 100
SUBMODULE = b"160000"
LINK = b"120000"
# Of a SHA-1 and of a SHA-256, in hexadecimal.
_HASHES = (40, 64)
_FORBIDDEN = frozenset({b"", b".", b"..", b".git"})


class Entry(NamedTuple):
    mode: bytes
    hash: bytes


@dataclass(frozen=True)
class Index:
    tracked: dict[bytes, Entry]
    # Tracked files that a sparse checkout leaves out of the working tree.
    sparse: set[bytes]
    # In the middle of a merge that has conflicts here.
    unmerged: set[bytes]
    # Not ignored. A repository inside, that is not a submodule, is one path.
    untracked: set[bytes]


def parse_tree(output: bytes) -> dict[bytes, Entry]:
    """Records of `mode type hash TAB path`."""
    found = {}
    for record in _records(output):
        described, _, path = record.partition(b"\t")
        mode, _, name = described.split(b" ")
        found[_safe(path)] = _entry(mode, name)
    return found


def parse_sizes(output: bytes) -> dict[bytes, tuple[Entry, int]]:
    """Records of `mode type hash size TAB path`; a submodule has no size."""
    found = {}
    for record in _records(output):
        described, _, path = record.partition(b"\t")
        mode, _, name, size = described.split()
        found[_safe(path)] = _entry(mode, name), 0 if size == b"-" else int(size)
    return found


def parse_files(output: bytes) -> Index:
    """Records of `tag mode hash stage TAB path`, and `? path` for an untracked file."""
    index = Index({}, set(), set(), set())
    for record in _records(output):
        if record.startswith(b"? "):
            index.untracked.add(_safe(record[2:].removesuffix(b"/")))
            continue
        described, _, path = record.partition(b"\t")
        tag, mode, name, stage = described.split(b" ")
        index.tracked[_safe(path)] = _entry(mode, name)
        if stage != b"0":
            index.unmerged.add(path)
        elif tag == b"S":
            index.sparse.add(path)
    return index


def _records(output: bytes) -> Iterator[bytes]:
    records = output.split(b"\0")
    if len(records) > MOST_ENTRIES:
        raise CannotTell(f"the repository has more than {MOST_ENTRIES} files")
    return iter(records[:-1])


def _entry(mode: bytes, name: bytes) -> Entry:
    if len(name) not in _HASHES:
        raise CannotTell("git gave an answer that could not be read")
    return Entry(mode, name)


def _safe(path: bytes) -> bytes:
    parts = path.split(b"/")
    if len(path) > LONGEST_PATH or len(parts) > DEEPEST_PATH or not _FORBIDDEN.isdisjoint(parts):
        raise CannotTell("the repository contains a path that no checkout can have")
    return path
