"""Parse git's lists of files, as it prints them with `-z`: what differs, what is not committed, what is tracked.

Paths stay bytes. A tree or an index can contain any name, also one that leads out of the checkout: then nothing is
compared.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pytest_mcp.changed.git_commands import UNREADABLE, CannotTell

# In one listing.
MAX_ENTRIES = 300_000
# No file system has longer paths; nobody has folders this deep.
MAX_PATH = 4096
DEEPEST_PATH = 100
SUBMODULE = b"160000"
# In place of the mode of a file that is not there.
_ABSENT = b"000000"
# The lengths of a SHA-1 and of a SHA-256, in hexadecimal.
_HASHES = (40, 64)
_FORBIDDEN = frozenset({b"", b".", b"..", b".git"})
# How many words stand before the path, by the kind of a record of `status`. A path can have spaces.
_WORDS = {b"1": 8, b"u": 10, b"?": 1}
# A submodule without changes inside, that is only staged.
_SAME_SUBMODULE = b"S..."
_REGULAR = frozenset({b"100644", b"100755"})
# Where lines of the old file were, and where those of the new one are: the first line and, unless it is 1, the number.
_HUNK = re.compile(rb"@@ -\d++(?:,(\d++))? \+(\d++)(?:,(\d++))? @@")
_NEW_NAME = b"+++ "


class TreeFile(NamedTuple):
    mode: bytes
    hash: bytes


class Status(NamedTuple):
    """What is not committed."""

    # Tracked files that are not as HEAD has them, or not as they are staged.
    tracked: set[bytes]
    # Those of them that differ from every commit: conflicts, and submodules with changes inside.
    unique: set[bytes]
    # Not ignored. A repository inside, that is not a submodule, is one path.
    untracked: set[bytes]

    @property
    def uncommitted(self) -> frozenset[bytes]:
        return frozenset(self.tracked | self.untracked)


class Hunk(NamedTuple):
    """Lines that are new or replace others: the first, and how many. If there are none, lines behind it are gone."""

    first: int
    length: int


class Difference(NamedTuple):
    """What differs from a commit, with what the commit has in its place, and where: the hunks of regular files."""

    committed: dict[bytes, TreeFile | None]
    hunks: dict[bytes, list[Hunk]]


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise CannotTell(UNREADABLE) from error


@_reading()
def parse_status(output: bytes) -> Status:
    """Records of `1 XY submodule … path`, of `u … path` for a file with conflicts, and of `? path`; and of remarks."""
    paths: dict[bytes, set[bytes]] = {kind: set() for kind in _WORDS}
    submodules: set[bytes] = set()
    for record in _records(output):
        kind = record.partition(b" ")[0]
        if kind == b"#":
            continue
        before = _WORDS.get(kind, -1)
        *words, path = record.split(b" ", max(before, 0))
        if len(words) != before:
            raise ValueError("no record of git status")
        paths[kind].add(_safe(path.removesuffix(b"/")))
        if kind == b"1" and words[2].startswith(b"S") and words[2] != _SAME_SUBMODULE:
            submodules.add(path)
    return Status(paths[b"1"] | paths[b"u"], paths[b"u"] | submodules, paths[b"?"])


@_reading()
def parse_diff(output: bytes) -> Difference:
    """Records of `:mode mode hash hash kind` and of a path, then the patch, if it was asked for."""
    raw, _, patch = output.partition(b"\0\0")
    records = list(_records(raw.removesuffix(b"\0") + b"\0")) if raw else []
    modes = {_safe(path): described.split(b" ") for described, path in zip(records[::2], records[1::2], strict=True)}
    if any(len(words) != 5 or not words[0].startswith(b":") for words in modes.values()):
        raise ValueError("no record of git diff")
    hunks = {path: each for path, each in _hunks(patch) if path in modes and modes[path][1] in _REGULAR}
    before = {path: TreeFile(words[0][1:], words[2]) for path, words in modes.items()}
    return Difference({path: None if file.mode == _ABSENT else file for path, file in before.items()}, hunks)


@_reading()
def parse_index(output: bytes) -> dict[bytes, TreeFile]:
    """Records of `mode hash stage TAB path`."""
    files = {}
    for record in _records(output):
        described, _, path = record.partition(b"\t")
        mode, name, _ = described.split()
        if len(name) not in _HASHES:
            raise ValueError("no hash")
        files[_safe(path)] = TreeFile(mode, name)
    return files


def _hunks(patch: bytes) -> Iterator[tuple[bytes, list[Hunk]]]:
    lines = iter(patch.split(b"\n"))
    hunks: list[Hunk] = []
    for line in lines:
        if line.startswith(_NEW_NAME):
            hunks = []
            name = line.removeprefix(_NEW_NAME)
            if name.startswith(b'"'):
                raise CannotTell("git quotes the name of a changed file, which has control characters or quotes")
            # A name with spaces ends in a tab.
            yield name.removesuffix(b"\t"), hunks
        elif match := _HUNK.match(line):
            deleted, first, count = (1 if each is None else int(each) for each in match.groups())
            hunks.append(Hunk(first, count))
            # Its lines can look like anything. A remark on a missing line end is none of them.
            left = deleted + count
            while left and (skipped := next(lines, None)) is not None:
                left -= not skipped.startswith(b"\\")


def _records(output: bytes) -> Iterator[bytes]:
    records = output.split(b"\0")
    if len(records) > MAX_ENTRIES:
        raise CannotTell(f"the repository has more than {MAX_ENTRIES} files")
    return iter(records[:-1])


def _safe(path: bytes) -> bytes:
    parts = path.split(b"/")
    if len(path) > MAX_PATH or len(parts) > DEEPEST_PATH or not _FORBIDDEN.isdisjoint(parts):
        raise CannotTell("the repository contains a path that no checkout can have")
    return path
