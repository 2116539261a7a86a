"""What a child does before it has a job, and whether that is still valid when the job arrives.

It imports pytest and the modules that every run of pytest imports, but nothing of the project and none of its
plugins, and records the state of all files that this depends on. If any of them changes before the job arrives, or
the project's folder has a module that would have been imported instead, the child restarts.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import sys
import time
from importlib.machinery import all_suffixes
from typing import Any, Iterator

# Imported by every run before it loads anything of the project, besides pytest's default plugins.
ALWAYS_IMPORTED = ("_pytest._argcomplete", "faulthandler")
SUFFIXES = tuple(sorted(all_suffixes(), key=len, reverse=True))


class Ahead:
    """What was imported ahead, and the state of the files that it depends on."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.pytest = import_pytest()
        gc.collect()
        gc.freeze()
        self.stamps = {path: stamp(path) for path in self.foundations()}
        self.offers = {folder: self.offered(folder) for folder in sys.path if self.is_of_the_project(folder)}

    def is_void(self) -> bool:
        """Whether a start now could import anything else."""
        return (
            bool(self.offered(self.root))
            or any(stamp(path) != before for path, before in self.stamps.items())
            or any(self.offered(folder) != before for folder, before in self.offers.items())
        )

    def begin(self) -> None:
        """Reset clocks and import caches, so that none is older than the job."""
        importlib.invalidate_caches()
        started = getattr(logging, "_startTime", None)
        if started is not None:
            # The zero of a log record's relative time; in nanoseconds from Python 3.13 on.
            logging._startTime = time.time_ns() if isinstance(started, int) else time.time()  # type: ignore[attr-defined]

    def foundations(self) -> Iterator[str]:
        """Every file that was loaded, and the folders and files that decided which files were loaded."""
        # Whether or not Python found one: an environment that was being replaced may have had none.
        for folder in (os.path.dirname(sys.executable), os.path.dirname(os.path.dirname(sys.executable))):
            yield os.path.join(folder, "pyvenv.cfg")
        yield sys.executable
        yield os.path.realpath(sys.executable)
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str):
                yield path
        for folder in sys.path:
            if not self.is_of_the_project(folder):
                yield folder
                for name in listed(folder):
                    if name.endswith(".pth"):
                        yield os.path.join(folder, name)

    def is_of_the_project(self, folder: str) -> bool:
        """The project's folders change all the time, so only names matter there. An environment does not count."""
        return is_inside(folder, self.root) and not is_inside(folder, sys.prefix)

    def offered(self, folder: str) -> set[str]:
        """The loaded modules for which this folder has a module or a package."""
        loaded = {name.partition(".")[0] for name in sys.modules}
        return {name for entry in listed(folder) for name in [stem(entry)] if name in loaded and hides(folder, entry)}


def import_pytest() -> Any:
    """pytest and what it imports in every run, with garbage collection off: there is no garbage yet."""
    gc.disable()
    try:
        import pytest

        config = sys.modules.get("_pytest.config")
        for name in ALWAYS_IMPORTED + tuple("_pytest." + name for name in getattr(config, "default_plugins", ())):
            importlib.import_module(name)
    finally:
        # Modules live as long as the process; scanning them again and again is most of the cost of a collection.
        gc.freeze()
        gc.enable()
    return pytest


def stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def listed(folder: str) -> tuple[str, ...]:
    try:
        return tuple(os.listdir(folder))
    except OSError:
        return ()


def stem(entry: str) -> str:
    """The name under which a file or a folder would be imported."""
    suffix = next((suffix for suffix in SUFFIXES if entry.endswith(suffix)), "")
    return entry[: len(entry) - len(suffix)]


def hides(folder: str, entry: str) -> bool:
    """Whether this entry shadows an installed module: a file does; a folder only if it is a regular package."""
    path = os.path.join(folder, entry)
    return not os.path.isdir(path) or any(os.path.exists(os.path.join(path, "__init__" + end)) for end in SUFFIXES)


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
