"""Which files the project's own collection takes: `python -m pytest` in its folder, without any argument.

In come pytest's configuration and paths; out come answers. Standard library only.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from pathlib import Path
from typing import Any, Iterable

# By which any version of pytest knows an environment of venv, virtualenv or conda.
SIGNS_OF_AN_ENVIRONMENT = ("pyvenv.cfg", os.path.join("conda-meta", "history"), os.path.join("bin", "activate"))


class Collection:
    """The settings that decide it. The options are given apart: early on they are not yet in the configuration."""

    def __init__(self, config: Any, options: Any) -> None:
        self.config = config
        self.modules = config.getini("python_files")
        self.texts = getattr(options, "doctestglob", None) or ["test*.txt"]
        self.doctest_modules = bool(getattr(options, "doctestmodules", False))
        started_in = str(config.invocation_params.dir)
        self.ignored = [absolute(path, started_in) for path in getattr(options, "ignore", None) or ()]
        self.ignored_globs = [absolute(path, started_in) for path in getattr(options, "ignore_glob", None) or ()]
        self.places: list[str] | None = None

    def takes(self, path: str) -> bool:
        """pytest itself would import any module and run any text file that is named explicitly.

        Files of other kinds are harmless: only a plugin of the project makes tests of them.
        """
        suffix = os.path.splitext(path)[1]
        if suffix == ".py":
            return matches(path, self.modules) or (self.doctest_modules and self.takes_doctests_of(path))
        return suffix not in (".txt", ".rst") or matches(path, self.texts)

    def takes_doctests_of(self, path: str) -> bool:
        """Whether --doctest-modules takes this module, as pytest's doctest plugin decides it."""
        return os.path.basename(path) != "__main__.py" and not is_setup_script(path) and self.reaches(path)

    def reaches(self, path: str) -> bool:
        """Whether pytest comes to this place when it is told none: it starts at testpaths, and leaves folders out."""
        if self.places is None:
            self.places = starting_places(self.config)
        return any(self.leads_to(path, start) for start in self.places)

    def leads_to(self, path: str, start: str) -> bool:
        if not (path + os.sep).startswith(os.path.join(start, "")):
            return False
        while path != start:
            if self.ignores(path) or (os.path.isdir(path) and self.leaves_out(path)):
                return False
            path = os.path.dirname(path)
        return True

    def ignores(self, path: str) -> bool:
        """By --ignore and --ignore-glob, which pytest does not apply to what is named."""
        return path in self.ignored or any(fnmatch.fnmatch(path, pattern) for pattern in self.ignored_globs)

    def leaves_out(self, folder: str) -> bool:
        return matches(folder, self.config.getini("norecursedirs")) or any(
            os.path.exists(os.path.join(folder, sign)) for sign in SIGNS_OF_AN_ENVIRONMENT
        )

    def is_ignored_by_a_hook(self, path: str) -> bool:
        """Whether a conftest (`collect_ignore`) or a plugin leaves it out, or a folder above it."""
        ignores = self.config.hook.pytest_ignore_collect
        parents = [parent for parent in Path(path).parents if str(parent).startswith(str(self.config.rootpath))]
        return any(ignores(collection_path=place, config=self.config) for place in (Path(path), *parents))


def absolute(path: Any, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, str(path)))


def starting_places(config: Any) -> list[str]:
    root, started_in = str(config.rootpath), str(config.invocation_params.dir)
    patterns = [os.path.join(glob.escape(root), pattern) for pattern in config.getini("testpaths")]
    found = [os.path.normpath(path) for pattern in patterns for path in glob.glob(pattern, recursive=True)]
    # A project below our root has settings of its own, and a person would start pytest there.
    return found or [root, started_in]


def matches(path: str, patterns: Iterable[str]) -> bool:
    """As pytest does it: a pattern with a slash is compared with the end of the path, any other with the name."""
    name = os.path.basename(path)
    return any(
        fnmatch.fnmatch(path, "*/" + pattern) if "/" in pattern else fnmatch.fnmatch(name, pattern)
        for pattern in patterns
    )


def is_setup_script(path: str) -> bool:
    if os.path.basename(path) != "setup.py":
        return False
    try:
        with open(path, "rb") as handle:
            contents = handle.read()
    except OSError:
        return True
    return b"setuptools" in contents or b"distutils" in contents
