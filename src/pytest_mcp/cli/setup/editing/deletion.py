"""Deleting what `setup --remove` has emptied: whether a file may go, and the folders that are empty without it.

That nothing else is in a file is decided in `config_file`. A folder is deleted only if it is empty, and only below
certain folders, which stay themselves.
"""

import contextlib
import os
from collections.abc import Set
from pathlib import Path

from pytest_mcp.environments import git_files


def is_allowed(path: Path) -> bool:
    """Not for a link, a file with a second name, one that git may track, or one in a folder that is read-only."""
    real = Path(os.path.realpath(path))
    try:
        is_single = not path.is_symlink() and real.stat().st_nlink == 1
    except OSError:
        return False
    return is_single and os.access(real.parent, os.W_OK) and not git_files.may_be_tracked(real)


def delete_empty_folders(folder: Path, bounds: Set[Path]) -> Path | None:
    """Delete this folder and those above it, as long as they are empty and below a bound; the highest one deleted."""
    deleted = None
    with contextlib.suppress(OSError):
        for each in (folder, *folder.parents):
            if each in bounds or bounds.isdisjoint(each.parents):
                break
            # Fails if something is in it, and for a link.
            each.rmdir()
            deleted = each
    return deleted
