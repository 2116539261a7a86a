"""Which file configures pytest for this call, and what keeps everything above the root out of it.

pytest searches for settings from the common folder of all targets up to the root of the file system. The same
search is done here twice: once up to the project's root, once as far as pytest would go. If both find the same,
pytest gets no options; otherwise it gets options that lead to what the first search found. pytest's own parser
decides which file has settings.
"""

from __future__ import annotations

import importlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import pytest

VERSION = pytest.version_tuple[:2]
NAMES = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
# Other files that make pytest use a folder.
SIGNS = ("setup.py", "conftest.py", "__init__.py")
# The most that is read of a file above the root. Parsing TOML of this size takes a second at worst.
MAX_BYTES = 128 * 1024

Judge = Callable[[str], bool]


class SettingsFile(NamedTuple):
    """pytest's rootdir, its settings file, and whether that file has settings for pytest."""

    rootdir: str
    file: str | None
    counts: bool


class Confinement(NamedTuple):
    """Options for pytest, and what it would have used above the root, as paths relative to the root."""

    options: list[str]
    settings: list[str]
    conftests: list[str]


def confinement(targets: list[str], root: str) -> Confinement:
    nothing = Confinement([], [], [])
    outside = list(upward(os.path.dirname(root), os.sep))
    if not any(os.path.isfile(os.path.join(folder, name)) for folder in outside for name in (*names(), *SIGNS)):
        return nothing
    judge = judging(root)
    own, unbounded = (search(targets, root, last, judge) for last in (root, os.sep))
    limit = conftest_limit(unbounded, os.sep)
    loading = outside[: outside.index(limit) + 1] if limit in outside else []
    if own == unbounded and not loading:
        return nothing
    conftests = [os.path.join(folder, "conftest.py") for folder in loading]
    return Confinement(
        options(own, root),
        [os.path.relpath(unbounded.file, root)] if unbounded.file and unbounded.counts else [],
        [os.path.relpath(path, root) for path in conftests if os.path.isfile(path)],
    )


def settings_file(targets: list[str], root: str) -> str | None:
    """The file inside the root that has pytest's settings, even if pytest cannot read it."""
    settings = search(targets, root, root, has_settings)
    return settings.file if settings.counts else None


def options(own: SettingsFile, root: str) -> list[str]:
    """Options with which pytest uses exactly these settings and searches no further."""
    if own.file is not None:
        return ["-c", own.file]
    name_no_file()
    return ["-c", os.devnull, "--rootdir=" + own.rootdir, "--confcutdir=" + conftest_limit(own, root)]


def conftest_limit(settings: SettingsFile, last: str) -> str:
    """The topmost folder whose conftest.py pytest loads."""
    if settings.file is not None:
        return os.path.dirname(settings.file)
    return settings.rootdir if VERSION >= (7, 4) else last


def name_no_file() -> None:
    """Make pytest's search in this run report no file: plugins would look for their settings beside the null device."""
    config: Any = importlib.import_module("_pytest.config")
    determine = getattr(config, "determine_setup", None)
    if determine is None:
        return

    def determine_setup(*args: Any, **kwargs: Any) -> Any:
        config.determine_setup = determine
        rootdir, _, *others = determine(*args, **kwargs)
        return (rootdir, None, *others)

    config.determine_setup = determine_setup


# --- the search, as pytest does it -------------------------------------------------------------


def search(targets: list[str], root: str, last: str, judge: Judge) -> SettingsFile:
    """What pytest finds for these targets if it is started in the root and stops at the last folder."""
    folders = [target if os.path.isdir(target) else os.path.dirname(target) for target in targets]
    shared = os.path.commonpath(folders) if folders else root
    settings = located([shared], last, judge)
    if settings is None:
        for folder in upward(shared, last):
            if os.path.isfile(os.path.join(folder, "setup.py")):
                return SettingsFile(folder, None, counts=False)
        settings = located(folders, last, judge)
    return settings or SettingsFile(root, None, counts=False)


def located(folders: Iterable[str], last: str, judge: Judge) -> SettingsFile | None:
    """The first file with settings. If there is none: the first pyproject.toml, from pytest 8.1 on."""
    projects = []
    for start in folders:
        for folder in upward(start, last):
            for path in (os.path.join(folder, name) for name in names()):
                # Only regular files are opened, here and by pytest.
                if not os.path.isfile(path):
                    continue
                if judge(path):
                    return SettingsFile(folder, path, counts=True)
                if os.path.basename(path) == "pyproject.toml":
                    projects.append(SettingsFile(folder, path, counts=False))
    return projects[0] if projects and VERSION >= (8, 1) else None


def names() -> tuple[str, ...]:
    """The files in which this version of pytest looks for settings, in order."""
    loaders = getattr(findpaths(), "CONFIG_LOADERS_BY_NAME", None)
    if loaders is not None:
        return tuple(loaders)
    if VERSION < (7, 2):
        return NAMES
    dotted = (NAMES[0], ".pytest.ini", *NAMES[1:])
    return dotted if VERSION < (9, 0) else ("pytest.toml", ".pytest.toml", *dotted)


def upward(folder: str, last: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if folder == last or parent == folder:
            return
        folder = parent


# --- what counts -------------------------------------------------------------------------------


def findpaths() -> Any:
    """pytest has no public function for this."""
    return importlib.import_module("_pytest.config.findpaths")


def has_settings(path: str) -> bool:
    """A file that pytest cannot read counts too: its search ends there, with an error."""
    try:
        return findpaths().load_config_dict_from_file(Path(path)) is not None
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - pytest reports it when it reads the file
        return True


def judging(root: str) -> Judge:
    """Check each file once. One above the root, which other users may change, counts if it is too large to be read."""

    @lru_cache(maxsize=None)
    def judge(path: str) -> bool:
        is_too_large = not path.startswith(root + os.sep) and os.path.getsize(path) > MAX_BYTES
        return is_too_large or has_settings(path)

    return judge
