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
STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


def imported_elsewhere(root: str) -> Iterator[dict[str, str]]:
    """Modules that are in the project and loaded, but not loaded from the project."""
    for folder in homes(root):
        for entry in sorted(os.listdir(folder)):
            name = entry[: -len(".py")] if entry.endswith(".py") else entry
            if name not in sys.modules or not is_code(name):
                continue
            own = os.path.join(folder, entry)
            if not entry.endswith(".py") and not os.path.isfile(os.path.join(own, "__init__.py")):
                continue
            path = getattr(sys.modules[name], "__file__", None)
            if isinstance(path, str) and is_foreign(os.path.realpath(path), own, root, sys.modules[name]):
                yield {"name": name, "file": path, "own": own}


def homes(root: str) -> list[str]:
    """The folders whose packages are the project's own distribution.

    `lib` often has copies of other packages, so it counts only if it is in sys.path.
    """
    lib = os.path.join(root, "lib")
    folders = [root, os.path.join(root, "src")] + ([lib] if lib in sys.path else [])
    return [folder for folder in folders if os.path.isdir(folder)]


def is_code(name: str) -> bool:
    special = name.startswith(("__", "test_")) or name.endswith("_test")
    return name.isidentifier() and not special and name not in NOT_THE_CODE


def is_foreign(path: str, own: str, root: str, module: Any) -> bool:
    """Whether this loaded file is not part of the project."""
    ours = os.path.realpath(own)
    # An old-style namespace package has several folders, and its `__init__` may be in any of them.
    places = [path] + [os.path.realpath(place) for place in list(getattr(module, "__path__", []))]
    if any(place == ours or place.startswith(ours + os.sep) for place in places):
        return False
    below = relative_parts(path, os.path.realpath(root))
    if below is not None:
        return any(part in INSTALLED for part in below)
    of_python = relative_parts(path, STANDARD_LIBRARY)
    # A project may have a module with the name of one of Python's own, and import Python's.
    return of_python is None or any(part in INSTALLED for part in of_python)


def relative_parts(path: str, folder: str) -> list[str] | None:
    return path[len(folder) :].split(os.sep) if path.startswith(folder + os.sep) else None
