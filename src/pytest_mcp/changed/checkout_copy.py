"""Which files of a checkout its copy has, and copying them.

What git tracks is copied as it is in the working tree, or the copy is refused as too large. What git does not track
comes after that, the smallest first, as long as there is room.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pytest_mcp.changed.folder_copy import Copier, FolderListing, is_installed
from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.changed.listings import SUBMODULE, TreeFile
from pytest_mcp.changed.repository_copy import copy_repository


@dataclass(frozen=True)
class SizeLimit:
    bytes: int
    files: int

    def __sub__(self, folder: FolderListing) -> "SizeLimit":
        return SizeLimit(self.bytes - folder.size, self.files - len(folder.files))

    @property
    def is_exceeded(self) -> bool:
        return self.bytes < 0 or self.files < 0


# For what git tracks, and for what it does not.
ROOM = SizeLimit(512 * 1024**2, 100_000)
ROOM_FOR_UNTRACKED = SizeLimit(256 * 1024**2, 20_000)


@dataclass
class CheckoutCopy:
    top: Path
    tree: Path
    # What is in the index.
    tracked: Mapping[str, TreeFile]
    room: SizeLimit = ROOM
    room_for_untracked: SizeLimit = ROOM_FOR_UNTRACKED
    # What is too large or cannot be read.
    left_out: list[str] = field(default_factory=list)
    _untracked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._submodules = {path for path, file in self.tracked.items() if file.mode == SUBMODULE}
        self._folders = {os.fspath(above) for path in self.tracked for above in PurePosixPath(path).parents}

    def steps(self) -> Iterator[None]:
        """Raises CannotTell if it is too large, and OSError if it cannot be written."""
        own = FolderListing(os.fspath(self.top), self._is_apart)
        yield from own.scan()
        self._untracked += [name for name in own.files if not self._is_own(name) and not _is_repository(name)]
        own.files = {name: size for name, size in own.files.items() if self._is_own(name)}
        if (self.room - own).is_exceeded:
            raise CannotTell(
                f"the checkout is too large to copy: {own.size // 1024**2:,} MiB in {len(own.files):,} tracked files"
            )
        copier = Copier(os.fspath(self.top), os.fspath(self.tree), self.left_out)
        yield from copier.copy(["", *own.folders], own.files)
        for inside in ("", *sorted(self._submodules)):
            yield from copy_repository(self.top / inside, self.tree / inside)
        yield from self._copy_untracked(copier)
        self.left_out += own.unread

    def _copy_untracked(self, copier: Copier) -> Iterator[None]:
        """A folder as a whole or not at all."""
        found = []
        for name in self._untracked:
            folder = FolderListing(copier.source)
            yield from folder.scan_one(name)
            found.append((folder.size, name, folder))
        room = self.room_for_untracked
        for _, name, folder in sorted(found, key=lambda each: each[:2]):
            room -= folder
            if room.is_exceeded:
                self.left_out.append(name)
            else:
                yield from copier.copy(folder.folders, folder.files)
                self.left_out += folder.unread

    def _is_apart(self, path: str) -> bool:
        """Whether a folder is not copied with what git tracks."""
        name = os.path.relpath(path, self.top)
        if name in self._folders or name in self._submodules:
            return False
        if _is_repository(name) or is_installed(path):
            return True
        is_untracked = not self._is_in_submodule(name)
        self._untracked += [name] if is_untracked else []
        return is_untracked

    def _is_own(self, name: str) -> bool:
        return name in self.tracked or (self._is_in_submodule(name) and not _is_repository(name))

    def _is_in_submodule(self, name: str) -> bool:
        return bool(self._submodules) and any(os.fspath(up) in self._submodules for up in PurePosixPath(name).parents)


def _is_repository(name: str) -> bool:
    return PurePosixPath(name).name == ".git"
