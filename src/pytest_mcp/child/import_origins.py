"""Which of the project's own packages and modules were imported from somewhere else.

In come the root and the loaded modules; out come names with both paths. Nothing is imported, and each folder is
listed once. Standard library only.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Iterator

# Names that many projects have, but not for the code under test.
NOT_THE_CODE = frozenset(
    ("setup", "conftest", "noxfile", "tasks", "fabfile", "manage", "docs", "doc", "examples", "example", "scripts")
    + ("tests", "test", "testing", "benchmarks", "build", "dist", "tools", "site", "typings")
)
# Folders of installed copies, also in an environment inside the root.
INSTALLED = ("site-packages", "dist-packages")
# Where setuptools puts copies, below the root.
BUILT = "build"
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


def imported_elsewhere(root: str) -> Iterator[dict[str, str]]:
    """Modules that are in the project and loaded, but not loaded from the project: one of each top-level package."""
    places: dict[str, list[str]] = {}
    for folder in homes(root):
        for name, own in loaded_below(folder):
            places.setdefault(name, []).append(own)
    told: set[str] = set()
    for name in sorted(places):
        top, module = name.partition(".")[0], sys.modules[name]
        file = getattr(module, "__file__", None) or next(iter(folders_of(module)), None)
        if top not in told and isinstance(file, str) and is_foreign(file, places[name], root, module):
            told.add(top)
            yield {"name": name, "file": file, "own": places[name][0]}


def homes(root: str) -> list[str]:
    """The folders whose packages are those of the project, and of the members that have modules loaded.

    `lib` often has copies of other packages, so it counts only if it is in sys.path.
    """
    folders = [os.path.join(project, name) for project in projects(root) for name in ("", "src", "python", "lib")]
    folders = [folder.rstrip(os.sep) for folder in folders]
    return [each for each in folders if os.path.isdir(each) and (os.path.basename(each) != "lib" or each in sys.path)]


def projects(root: str) -> list[str]:
    """The root, and every folder below it that has a project file and a loaded module."""
    loaded = {os.path.dirname(str(getattr(module, "__file__", None))) for module in list(sys.modules.values())}
    below = [relative_parts(folder, root) for folder in loaded]
    own = [parts for parts in below if parts is not None and not is_apart(parts, root)]
    inner = {os.sep.join(parts[:depth]) for parts in own for depth in range(2, len(parts) + 1)}
    found = [root + part for part in sorted(inner)]
    return [root] + [each for each in found if any(os.path.isfile(os.path.join(each, name)) for name in PROJECT_FILES)]


def loaded_below(folder: str, package: str = "") -> Iterator[tuple[str, str]]:
    """Names and own places of modules and packages in this folder that are loaded, from wherever.

    Of a package that may be spread over several folders, also those of what is inside.
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
    """Whether this loaded file is not part of the project."""
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
    return of_python is None or any(part in INSTALLED for part in of_python)


def is_apart(below: list[str], root: str) -> bool:
    """Whether this place below the root is of an environment, a build or another checkout (a linked worktree)."""
    if below[1] == BUILT or any(part in INSTALLED for part in below):
        return True
    above = (root + os.sep.join(below[:depth]) for depth in range(2, len(below) + 1))
    return any(os.path.exists(os.path.join(it, ".git")) for it in above)


def relative_parts(path: str, folder: str) -> list[str] | None:
    return path[len(folder) :].split(os.sep) if path.startswith(folder + os.sep) else None
