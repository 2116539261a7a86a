"""The pytest plugin that refuses what a call names and the project's own collection would not take.

That collection is `python -m pytest` in the project's folder, without any argument. A named file that is no test file
is refused before any conftest is imported; of other modules that the project does not collect, the doctests are left
out.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generator, Iterable

import pytest
from xdist_controller import with_argument

if TYPE_CHECKING:
    from channel import Channel

    from pytest_mcp.process.job import Job

# Files by which some version of pytest recognises an environment of venv, virtualenv or conda.
SIGNS_OF_AN_ENVIRONMENT = ("pyvenv.cfg", os.path.join("conda-meta", "history"), os.path.join("bin", "activate"))
# The most files that one record lists.
MAX_UNREACHABLE = 1000
# Collectors that import their file.
IMPORTING = {"DoctestModule", "Module"}


class Admission:
    def __init__(self, channel: Channel, job: Job) -> None:
        self.emit = channel.emit
        self.root = job["root"]
        self.files = job["explicit_files"]
        self.places = job["targets"]

    # A wrapper, so that it runs before plugins that import code of the project in this hook, as pytest-django does.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: list[str]) -> Generator[None, None, None]:
        if self.files:
            collection = Collection(early_config, early_config.known_args_namespace)
            refused = [path for path in self.files if not collection.takes(path)]
            if refused:
                self.emit("refused", files=refused)
                raise pytest.UsageError("not a test file: " + ", ".join(refused))
        options, more = early_config.known_args_namespace, []
        # Conftests above the root are not loaded, whatever the project's own options say.
        limit = absolute(early_config, options.confcutdir or self.root)
        if not os.path.join(limit, "").startswith(os.path.join(self.root, "")):
            options.confcutdir = self.root
            more.append("--confcutdir=" + self.root)
        # pytest would use the root's absolute path as its argument, and take a part of it for the name of a test.
        is_misread = "[" in self.root or "::" in self.root
        if is_misread and not self.places and not early_config.getini("testpaths"):
            more.append(os.curdir)
        for argument in more:
            args.append(argument)
            early_config.invocation_params = with_argument(early_config, argument)
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        if self.places and config.getoption("doctestmodules", False):
            config.pluginmanager.register(Doctests(self.emit, Collection(config, config.option), self.root))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # Only explains, so it may be missing; it must never raise into pytest.
        with suppress(Exception):
            files = {str(item.path) for item in session.items}
            unreachable = [file[len(self.root) + 1 :] for file in sorted(files) if is_out_of_reach(file, self.root)]
            if unreachable:
                self.emit("unreachable", files=[name.replace(os.sep, "/") for name in unreachable[:MAX_UNREACHABLE]])


def is_out_of_reach(path: str, root: str) -> bool:
    """Whether no call can name this file: a symlink in its path leads out of the root, or `::` is in it."""
    folder = os.path.join(root, "")
    if not path.startswith(folder):
        return False
    return "::" in path[len(folder) :] or not os.path.realpath(path).startswith(folder)


class Doctests:
    """Leaves out modules that would be imported only for doctests, and that the project does not collect."""

    def __init__(self, emit: Any, collection: Collection, root: str) -> None:
        self.emit = emit
        self.collection = collection
        self.root = root
        self.left_out: list[str] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collect_file(self, file_path: Any) -> Generator[None, Any, None]:
        outcome = yield
        if outcome.excinfo is None and self.collection.is_foreign(str(file_path)):
            collectors = outcome.get_result()
            # Besides doctests, pytest gives a named file a collector for tests, whatever its name.
            kept = [each for each in collectors if IMPORTING.isdisjoint(kind.__name__ for kind in type(each).__mro__)]
            if len(kept) < len(collectors):
                self.left_out.append(os.path.relpath(str(file_path), self.root).replace(os.sep, "/"))
                outcome.force_result(kept)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self) -> Generator[None, Any, None]:
        yield
        if self.left_out:
            self.emit("doctests_left_out", count=len(self.left_out), first=self.left_out[0])


# --- the project's own collection --------------------------------------------------------------


class Collection:
    """The settings that decide it. Options are passed separately: early on, `config.option` lacks them."""

    def __init__(self, config: Any, options: Any) -> None:
        self.config = config
        self.modules = config.getini("python_files")
        self.unsearched = config.getini("norecursedirs")
        self.texts = getattr(options, "doctestglob", None) or ["test*.txt"]
        self.doctest_modules = bool(getattr(options, "doctestmodules", False))
        ignored, globs = (getattr(options, name, None) or () for name in ("ignore", "ignore_glob"))
        self.ignored, self.ignored_globs = ([absolute(config, path) for path in paths] for paths in (ignored, globs))
        self.places: list[str] | None = None

    def takes(self, path: str) -> bool:
        """Whether the file may be named: pytest would import any named module and run any named text file.

        Files of other types are harmless: only a plugin of the project collects tests from them.
        """
        suffix = os.path.splitext(path)[1]
        if suffix == ".py":
            has_doctests = self.doctest_modules and not is_program(path) and self.reaches(path)
            return matches(path, self.modules) or has_doctests
        return suffix not in (".txt", ".rst") or matches(path, self.texts)

    def reaches(self, path: str) -> bool:
        """Whether pytest without arguments reaches this path: it starts at testpaths and skips some folders."""
        if self.places is None:
            self.places = starting_places(self.config)
        return any(self.leads_to(path, start) for start in self.places)

    def leads_to(self, path: str, start: str) -> bool:
        if not (path + os.sep).startswith(os.path.join(start, "")):
            return False
        while path != start:
            # --ignore and --ignore-glob, which pytest does not apply to its arguments.
            if path in self.ignored or any(fnmatch.fnmatch(path, pattern) for pattern in self.ignored_globs):
                return False
            if os.path.isdir(path) and (matches(path, self.unsearched) or is_environment(path)):
                return False
            path = os.path.dirname(path)
        return True

    def is_foreign(self, path: str) -> bool:
        """Whether it is a module that is no test file, and that pytest without arguments would not import either.

        Known only after the conftests are loaded, unlike what `takes` says.
        """
        if not path.endswith(".py") or matches(path, self.modules):
            return False
        return not self.reaches(path) or self.is_ignored_by_a_hook(path)

    def is_ignored_by_a_hook(self, path: str) -> bool:
        """Whether a conftest (`collect_ignore`) or a plugin ignores it, or a folder above it."""
        ignores = self.config.hook.pytest_ignore_collect
        parents = [parent for parent in Path(path).parents if str(parent).startswith(str(self.config.rootpath))]
        try:
            return any(ignores(collection_path=place, config=self.config) for place in (Path(path), *parents))
        except Exception:  # noqa: BLE001 - a hook of the project's; what it would say is not known
            return True


def absolute(config: Any, path: Any) -> str:
    return os.path.normpath(os.path.join(str(config.invocation_params.dir), str(path)))


def starting_places(config: Any) -> list[str]:
    root, started_in = str(config.rootpath), str(config.invocation_params.dir)
    patterns = [os.path.join(glob.escape(root), pattern) for pattern in config.getini("testpaths")]
    places = [os.path.normpath(path) for pattern in patterns for path in glob.glob(pattern, recursive=True)]
    # A project in a folder below our root has settings of its own, and a person would start pytest there.
    return places or [root, started_in]


def matches(path: str, patterns: Iterable[str]) -> bool:
    """As pytest does: a pattern with a slash is matched against the end of the path, any other against the name."""
    name = os.path.basename(path)
    return any(
        fnmatch.fnmatch(path, "*/" + pattern) if "/" in pattern else fnmatch.fnmatch(name, pattern)
        for pattern in patterns
    )


def is_program(path: str) -> bool:
    """A module in which pytest looks for no doctests, because importing it runs a program."""
    if os.path.basename(path) != "setup.py":
        return os.path.basename(path) == "__main__.py"
    with suppress(OSError), open(path, "rb") as handle:
        contents = handle.read()
        return b"setuptools" in contents or b"distutils" in contents
    return True


def is_environment(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, sign)) for sign in SIGNS_OF_AN_ENVIRONMENT)
