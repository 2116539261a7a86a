"""The pytest plugin that keeps stale bytecode out of a run, and leaves none behind.

A cache file counts as valid while its source has the same size and the same whole second of modification;
so it does for Python, and for the modules that pytest rewrites. Of two edits within a second the first one's
code stays in force. Here a cache is read only if it was written safely later than its source's last change,
and written only when that change is over. One that may be stale is removed, since a plain pytest would use it.

This holds for the project's code alone: installers write source and cache of a package within the same second. What it
needs is captured at the start: tests replace clocks and file systems.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from functools import wraps
from importlib.machinery import SourceFileLoader
from typing import Any, Generator, Iterator

import pytest
from admission import is_environment
from import_origins import INSTALLED, STANDARD_LIBRARY
from preload import listed

# In nanoseconds. A cache that is written sooner after a change may hold the code from before it.
SAFELY_LATER = 1_000_000_000
# A source that has changed since then may change again within the same second.
SETTLED = 2_000_000_000
CACHES = "__pycache__"
# Folders in which nobody edits code, and the most caches that are looked at.
UNSEARCHED = ("node_modules", "site-packages", CACHES)
MAX_FILES = 20_000
# The part of a cache's file name that names this Python.
TAG = "." + (sys.implementation.cache_tag or "")
PACKAGES = tuple(os.sep + name + os.sep for name in INSTALLED)
LIBRARIES = (STANDARD_LIBRARY + os.sep, os.path.dirname(os.__file__) + os.sep)

stat, unlink, now = os.stat, os.unlink, time.time_ns


class FreshBytecode:
    def __init__(self, root: str) -> None:
        self.root = root
        self.guard_imports()
        self.guard_rewriting()

    def guard_imports(self) -> None:
        """Wraps only functions that call no code of the project, so none of this is in its tracebacks."""
        source_loader: Any = SourceFileLoader
        get_data, cache_bytecode = source_loader.get_data, getattr(source_loader, "_cache_bytecode", None)
        if cache_bytecode is None:
            return

        @wraps(get_data)
        def get_fresh_data(loader: Any, path: Any) -> Any:
            if is_cache_of(loader, path) and self.discarded(loader.path, path):
                raise FileNotFoundError(path)
            return get_data(loader, path)

        @wraps(cache_bytecode)
        def cache_settled_bytecode(loader: Any, source: Any, *rest: Any) -> Any:
            return cache_bytecode(loader, source, *rest) if self.is_settled(source) else None

        source_loader.get_data, source_loader._cache_bytecode = get_fresh_data, cache_settled_bytecode

    def guard_rewriting(self) -> None:
        """The same for test modules, conftests and plugins, whose caches pytest reads and writes itself."""
        rewrite: Any = sys.modules.get("_pytest.assertion.rewrite")
        read, write = getattr(rewrite, "_read_pyc", None), getattr(rewrite, "_write_pyc", None)
        if read is None or write is None:
            return

        @wraps(read)
        def read_fresh_pyc(source: Any, pyc: Any, *rest: Any) -> Any:
            return None if self.discarded(str(source), str(pyc)) else read(source, pyc, *rest)

        @wraps(write)
        def write_settled_pyc(state: Any, code: Any, source: Any, *rest: Any) -> Any:
            is_settled = self.is_settled(getattr(code, "co_filename", None))
            return write(state, code, source, *rest) if is_settled else False

        rewrite._read_pyc, rewrite._write_pyc = read_fresh_pyc, write_settled_pyc

    # --- other interpreters: xdist's workers, and what tests start ------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        self.discard_all()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        yield
        self.discard_all()

    def discard_all(self) -> None:
        try:
            for source, cache in caches_below(self.root):
                self.discarded(source, cache)
        except Exception:  # noqa: BLE001, S110 - must never raise into pytest; what is left is as without us
            pass

    # --- one cache -----------------------------------------------------------------------------

    def discarded(self, source: str, cache: str) -> bool:
        """Whether this cache must not be used. If so it is removed."""
        try:
            if is_installed(source) or stat(cache).st_mtime_ns > last_change(source) + SAFELY_LATER:
                return False
        except Exception:  # noqa: BLE001 - no cache or no source: Python handles that itself
            return False
        with suppress(OSError):
            unlink(cache)
        return True

    def is_settled(self, source: Any) -> bool:
        try:
            return is_installed(source) or now() >= last_change(source) + SETTLED
        except Exception:  # noqa: BLE001 - a doubt costs a compilation, never a run
            return True


def is_installed(path: str) -> bool:
    return path.startswith(LIBRARIES) or any(part in path for part in PACKAGES)


def is_cache_of(loader: Any, path: Any) -> bool:
    """Whatever its tag: loaders that change code use file names of their own."""
    source = getattr(loader, "path", None)
    if not isinstance(path, str) or not isinstance(source, str) or not path.endswith(".pyc"):
        return False
    return os.path.basename(path).startswith(os.path.splitext(os.path.basename(source))[0] + ".")


def last_change(source: str) -> int:
    """An editor can set the modification time, but not the time of the inode's last change."""
    status = stat(source)
    return max(status.st_mtime_ns, status.st_ctime_ns)


def caches_below(root: str) -> Iterator[tuple[str, str]]:
    count = 0
    for folder in folders_below(root):
        caches = os.path.join(folder, CACHES) if sys.pycache_prefix is None else sys.pycache_prefix + folder
        for name in listed(caches):
            stem, tag, _ = name.rpartition(TAG)
            if tag:
                yield os.path.join(folder, stem + ".py"), os.path.join(caches, name)
                count += 1
        if count > MAX_FILES:
            return


def folders_below(root: str) -> Iterator[str]:
    """Folders in which people edit source code, this one too."""
    for folder, below, _ in os.walk(root):
        yield folder
        own = [name for name in below if not name.startswith(".") and name not in UNSEARCHED]
        below[:] = [name for name in own if not is_environment(os.path.join(folder, name))]
