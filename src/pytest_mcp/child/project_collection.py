"""Which files the project's own collection takes: `python -m pytest` in its folder, without any argument.

In come pytest's configuration and paths; out come answers. Standard library only.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from pathlib import Path
from typing import Any, Iterable

# Files by which some version of pytest recognises an environment of venv, virtualenv or conda.
SIGNS_OF_AN_ENVIRONMENT = ("pyvenv.cfg", os.path.join("conda-meta", "history"), os.path.join("bin", "activate"))


class Collection:
    """The settings that decide it. Options are passed separately: early on, `config.option` lacks them."""

    def __init__(self, config: Any, options: Any) -> None:
        self.config = config
        self.modules = config.getini("python_files")
        self.texts = getattr(options, "doctestglob", None) or ["test*.txt"]
        self.doctest_modules = bool(getattr(options, "doctestmodules", False))
        started_in = str(config.invocation_params.dir)
        self.ignored = [absolute(path, started_in) for path in getattr(options, "ignore", None) or ()]
        self.ignored_globs = [absolute(path, started_in) for path in getattr(options, "ignore_glob", None) or ()]
        self.places: list[str] | None = None

    def learn_from_conftests(self) -> None:
        """Add `collect_ignore` of loaded conftests: from pytest 8 on, the hook knows only collected folders."""
        for plugin in self.config.pluginmanager.get_plugins():
            file = getattr(plugin, "__file__", None)
            if isinstance(file, str) and os.path.basename(file) == "conftest.py":
                folder = os.path.dirname(file)
                self.ignored += [absolute(path, folder) for path in listed(plugin, "collect_ignore")]
                self.ignored_globs += [absolute(path, folder) for path in listed(plugin, "collect_ignore_glob")]

    def takes(self, path: str) -> bool:
        """Whether the file may be named: pytest would import any named module and run any named text file.

        Files of other types are harmless: only a plugin of the project collects tests from them.
        """
        suffix = os.path.splitext(path)[1]
        if suffix == ".py":
            return matches(path, self.modules) or (self.doctest_modules and self.takes_doctests_of(path))
        return suffix not in (".txt", ".rst") or matches(path, self.texts)

    def takes_doctests_of(self, path: str) -> bool:
        """Whether --doctest-modules takes this module, as pytest's doctest plugin decides it."""
        return os.path.basename(path) != "__main__.py" and not is_setup_script(path) and self.reaches(path)

    def reaches(self, path: str) -> bool:
        """Whether pytest without arguments reaches this path: it starts at testpaths and skips some folders."""
        if self.places is None:
            self.places = starting_places(self.config)
        return any(self.leads_to(path, start) for start in self.places)

    def leads_to(self, path: str, start: str) -> bool:
        if not (path + os.sep).startswith(os.path.join(start, "")):
            return False
        while path != start:
            if self.ignores(path) or (os.path.isdir(path) and self.skips(path)):
                return False
            path = os.path.dirname(path)
        return True

    def ignores(self, path: str) -> bool:
        """By --ignore and --ignore-glob, which pytest does not apply to its arguments."""
        return path in self.ignored or any(fnmatch.fnmatch(path, pattern) for pattern in self.ignored_globs)

    def skips(self, folder: str) -> bool:
        return matches(folder, self.config.getini("norecursedirs")) or any(
            os.path.exists(os.path.join(folder, sign)) for sign in SIGNS_OF_AN_ENVIRONMENT
        )

    def is_foreign(self, path: str) -> bool:
        """Whether it is a module that is no test file, and that pytest without arguments would not import either."""
        return path.endswith(".py") and not matches(path, self.modules) and self.leaves_out(path)

    def leaves_out(self, path: str) -> bool:
        """Known only after the conftests are loaded, unlike what `takes` says."""
        return not self.reaches(path) or self.is_ignored_by_a_hook(path)

    def is_ignored_by_a_hook(self, path: str) -> bool:
        """Whether a conftest (`collect_ignore`) or a plugin ignores it, or a folder above it."""
        ignores = self.config.hook.pytest_ignore_collect
        parents = [parent for parent in Path(path).parents if str(parent).startswith(str(self.config.rootpath))]
        try:
            return any(ignores(collection_path=place, config=self.config) for place in (Path(path), *parents))
        except Exception:  # noqa: BLE001 - a hook of the project's; what it would say is not known
            return True


def listed(conftest: Any, name: str) -> list[Any]:
    value = getattr(conftest, name, None)
    return list(value) if isinstance(value, (list, tuple, set)) else []


def absolute(path: Any, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, str(path)))


def starting_places(config: Any) -> list[str]:
    root, started_in = str(config.rootpath), str(config.invocation_params.dir)
    patterns = [os.path.join(glob.escape(root), pattern) for pattern in config.getini("testpaths")]
    found = [os.path.normpath(path) for pattern in patterns for path in glob.glob(pattern, recursive=True)]
    # A project in a folder below our root has settings of its own, and a person would start pytest there.
    return found or [root, started_in]


def matches(path: str, patterns: Iterable[str]) -> bool:
    """As pytest does: a pattern with a slash is matched against the end of the path, any other against the name."""
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
