"""Removing the folder of a run, whatever its tests have made of it.

What cannot be removed stays. Standard library only: a supervisor does it too.
"""

import os
import shutil
from contextlib import suppress

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(folder: str) -> None:
    """Also folders that are too deep for `rmtree`, or that their owner may not read."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        # Not if a link has replaced it.
        top = os.open(folder, _FOLDER)
        try:
            _flatten(top)
        finally:
            os.close(top)
        shutil.rmtree(folder, ignore_errors=True)


def _flatten(top: int) -> None:
    """Move every folder below it to its first level."""
    names = ["."]
    while names:
        with suppress(OSError):
            names += _lift(top, names.pop())


def _lift(top: int, name: str) -> list[str]:
    inside = os.open(name, _FOLDER, dir_fd=top)
    lifted = []
    try:
        with os.scandir(inside) as entries:
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for each in folders:
            with suppress(OSError):
                os.chmod(each, 0o700, dir_fd=inside)
                new = os.urandom(8).hex()
                os.rename(each, new, src_dir_fd=inside, dst_dir_fd=top)
                lifted.append(new)
    finally:
        os.close(inside)
    return lifted
