"""Which of the project's own packages and modules were imported from somewhere else.

Nothing is imported to find out, and each folder is listed once.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, Callable, Generator, Iterator

import pytest

# Names that many projects have, but not for the code under test.
NOT_THE_CODE = frozenset(
    ("setup", "conftest", "noxfile", "tasks", "fabfile", "manage", "docs", "doc", "examples", "example", "scripts")
    + ("tests", "test", "testing", "benchmarks", "build", "dist", "tools", "site", "typings")
)
# Folders of installed copies, also in an environment inside the root.
INSTALLED = ("site-packages", "dist-packages")
HOMES = ("", "src", "python", "lib")
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


def imported_elsewhere(root: str) -> Iterator[tuple[str, str, str]]:
    """Name, file and place in the project of modules that are loaded from elsewhere: one of each top-level package."""
    places: dict[str, list[str]] = {}
    for folder in homes(root):
        for name, own in loaded_below(folder):
            places.setdefault(name, []).append(own)
    packages: set[str] = set()
    for name in sorted(places):
        top, module = name.partition(".")[0], sys.modules[name]
        file = getattr(module, "__file__", None) or next(iter(folders_of(module)), None)
        if top not in packages and isinstance(file, str) and is_foreign(file, places[name], root, module):
            packages.add(top)
            yield name, file, places[name][0]


def homes(root: str) -> list[str]:
    """The folders whose packages are those of the project, and of the members that have modules loaded.

    `lib` often has copies of other packages, so it counts only if it is in sys.path.
    """
    loaded = {os.path.dirname(str(getattr(module, "__file__", None))) for module in list(sys.modules.values())}
    below = [relative_parts(folder, root) for folder in loaded]
    own = [parts for parts in below if parts is not None and not is_apart(parts, root)]
    inner = sorted({root + os.sep.join(parts[:depth]) for parts in own for depth in range(2, len(parts) + 1)})
    members = [each for each in inner if any(os.path.isfile(os.path.join(each, name)) for name in PROJECT_FILES)]
    folders = [os.path.join(each, name).rstrip(os.sep) for each in [root, *members] for name in HOMES]
    return [each for each in folders if os.path.isdir(each) and (os.path.basename(each) != "lib" or each in sys.path)]


def loaded_below(folder: str, package: str = "") -> Iterator[tuple[str, str]]:
    """Names and own places of modules and packages in this folder that are loaded, from wherever.

    Also what is inside of a package that may be spread over several folders.
    """
    for entry in sorted(os.listdir(folder)):
        stem, is_file = (entry[: -len(".py")], True) if entry.endswith(".py") else (entry, False)
        name, own = package + stem, os.path.join(folder, entry)
        if name not in sys.modules or not (stem.isidentifier() if package else is_code(stem)):
            continue
        is_whole = is_file or os.path.isfile(os.path.join(own, "__init__.py"))
        if is_whole:
            yield name, own
        if os.path.isdir(own) and (not is_whole or len(folders_of(sys.modules[name])) > 1):
            yield from loaded_below(own, name + ".")


def folders_of(package: Any) -> list[str]:
    return [folder for folder in list(getattr(package, "__path__", ())) if isinstance(folder, str)]


def is_code(name: str) -> bool:
    special = name.startswith(("__", "test_")) or name.endswith("_test")
    return name.isidentifier() and not special and name not in NOT_THE_CODE


def is_foreign(file: str, owns: list[str], root: str, module: Any) -> bool:
    # An old-style namespace package has several folders, and its `__init__` may be in any of them.
    path, *others = [os.path.realpath(place) for place in [file] + folders_of(module)]
    for ours in map(os.path.realpath, owns):
        if any(place == ours or place.startswith(ours + os.sep) for place in [path] + others):
            return False
    below = relative_parts(path, os.path.realpath(root))
    if below is not None:
        # An archive is a copy, also inside the root.
        return is_apart(below, root) or hasattr(getattr(module, "__loader__", None), "archive")
    of_python = relative_parts(path, STANDARD_LIBRARY)
    # A project may have a module with the name of one of Python's own, and import Python's.
    return of_python is None or is_installed(of_python)


def is_apart(below: list[str], root: str) -> bool:
    """Whether this place below the root is of an environment, a build of setuptools or another checkout."""
    if below[1] == "build" or is_installed(below):
        return True
    above = (root + os.sep.join(below[:depth]) for depth in range(2, len(below) + 1))
    return any(os.path.exists(os.path.join(it, ".git")) for it in above)


def relative_parts(path: str, folder: str) -> list[str] | None:
    return path[len(folder) :].split(os.sep) if path.startswith(folder + os.sep) else None


def is_installed(parts: list[str]) -> bool:
    return any(part in INSTALLED for part in parts)


def parts_in_project(path: str, root: str) -> list[str] | None:
    """The parts of the path below the root; None outside of it, and in an environment there."""
    below = relative_parts(path, root)
    return None if below is None or is_installed(below) else below


class MovedSource:
    """Has a copy of a checkout tested instead of the checkout, whose packages may be installed in editable mode.

    Entries of sys.path that lead into the checkout lead into the copy afterwards. What is still imported from the
    checkout is reported as imported from elsewhere.
    """

    def __init__(self, emit: Callable[..., Any], checkout: str, copy: str) -> None:
        self.emit = emit
        self.checkout = checkout
        self.copy = copy
        sys.path[:] = [self.moved(entry) or entry for entry in sys.path]

    def moved(self, path: str) -> str | None:
        """The same place in the copy; None for what is no part of the project."""
        below = parts_in_project(path, self.checkout)
        # An environment, and even Python itself, can be inside the checkout.
        prefixes = tuple(prefix + os.sep for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix))
        if below is None or path.startswith(prefixes):
            return None
        return self.copy + os.sep.join(below)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        # Modules can be anything, and nothing may be raised into pytest.
        with suppress(Exception):
            files = {}
            for name, module in sorted(sys.modules.items(), reverse=True):
                file = getattr(module, "__file__", None)
                if isinstance(file, str) and self.moved(file) is not None:
                    files[name.partition(".")[0]] = file
            for package, file in sorted(files.items()):
                self.emit("imported_elsewhere", name=package, file=file, own=self.moved(file))
        yield
