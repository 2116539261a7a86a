"""Which project a folder belongs to, for commands that a person types somewhere inside it, and whether it is one.

Only files are looked at. The server does not search: its root is its working directory, unless `--root` names another.
In a root that is no project but has projects below it, nothing is run.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pytest_mcp.python import files, virtualenv
from pytest_mcp.python.files import Manifest, read_manifest
from pytest_mcp.python.managers import MANAGERS, is_environment, used_managers
from pytest_mcp.text import in_line

_PACKAGE_FILES = ("setup.py", "setup.cfg")
_PACKAGE_TABLES = ("project", "build-system")
# A folder of tests may have settings of its own, so these count only where no folder above is a package.
_SETTINGS = ("pyproject.toml", "tox.ini", "pytest.ini", "pytest.toml", ".pytest.ini", ".pytest.toml", ".git")
# One of these makes the folder itself a project, as does a file of a manager.
_FILES = (*_PACKAGE_FILES, *_SETTINGS)
# One of these does so only where no checkout is below it: among checkouts it may be a stray file.
_WEAK_FILES = ("requirements.txt", "conftest.py")
# A folder that is no project and holds more than can be searched is not one project.
_MAX_FOLDERS = 2_000
# A few seconds on a slow disk; far more than a busy machine takes for a folder of tests.
_MAX_SECONDS = 10.0
_TOO_LARGE = "more folders below it than can be searched for projects"
_UNSEARCHED = (".git", "node_modules", "__pycache__")


def of_working_directory(home: Path | None) -> Path | None:
    try:
        return find(Path.cwd(), home)
    except OSError:
        return None  # it was deleted


def find(folder: Path, home: Path | None) -> Path | None:
    """The nearest folder upward that is a package or has an environment; otherwise the nearest with settings.

    The search ends with the top of the git checkout, and before the home folder and the root of the file system.
    """
    places = list(_upward(folder, home))
    return next(filter(is_package, places), None) or next(filter(_has_settings, places), None)


def shared_environment(root: Path) -> Path | None:
    """Of the workspace above that the project in this folder is a member of, if it has one."""
    homes = [manager.shared_home(root) for manager in MANAGERS]
    prefixes = [home / virtualenv.FOLDERS[0] for home in homes if home is not None and home != root]
    return next(filter(virtualenv.starts, prefixes), None)


def _upward(folder: Path, home: Path | None) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        if place in (home, Path(place.anchor)):
            return
        yield place
        if _is_checkout(place):
            return


def is_package(folder: Path) -> bool:
    """Whether it is a project of its own, or has an environment."""
    manifest = read_manifest(folder)
    return can_be_built(manifest) or virtualenv.is_in(folder) or bool(used_managers(manifest))


def can_be_built(manifest: Manifest) -> bool:
    """Whether a package can be built of it."""
    return any(manifest.table(name) for name in _PACKAGE_TABLES) or any(
        files.holds((manifest.folder / name).is_file) for name in _PACKAGE_FILES
    )


def _has_settings(folder: Path) -> bool:
    return _has_any(folder, _SETTINGS)


def refusal(root: Path) -> str | None:
    """If it is no project but has projects below it, such as a folder of checkouts: that nothing is run there.

    Such projects have nothing to do with each other, and nobody has asked for the code of all of them to be executed.
    """
    if _is_project(root):
        return None
    may_be_one = _has_any(root, _WEAK_FILES)
    what = _first_below(root, _is_checkout if may_be_one else _is_separate)
    if what is None or (may_be_one and what == _TOO_LARGE):
        return None
    advice = "start pytest-mcp in one of them or pass it with --root, or give this folder a pyproject.toml if it is one"
    return f"{in_line(str(root))} is not a project, but has {what}: {advice}."


def _is_project(folder: Path) -> bool:
    return _has_any(folder, _FILES) or bool(used_managers(read_manifest(folder)))


def _is_separate(folder: Path) -> bool:
    return is_package(folder) or _is_checkout(folder)


def _is_checkout(folder: Path) -> bool:
    return _has_any(folder, (".git",))


def _has_any(folder: Path, names: Iterable[str]) -> bool:
    return any(files.holds((folder / name).exists) for name in names)


def _first_below(root: Path, is_meant: Callable[[Path], bool]) -> str | None:
    deadline = time.monotonic() + _MAX_SECONDS
    for count, folder in enumerate(_below(root)):
        if is_meant(folder):
            return f"projects below it, such as {in_line(str(folder.relative_to(root)))}"
        if count >= _MAX_FOLDERS or time.monotonic() > deadline:
            return _TOO_LARGE
    return None


def _below(root: Path) -> Iterator[Path]:
    """Breadth first. What a symlink leads to is looked at, but not searched."""
    left = deque([root])
    while left:
        inner = [] if (folder := left.popleft()).is_symlink() else files.folders(folder)
        folders = [each for each in inner if each.name not in _UNSEARCHED and not is_environment(each)]
        left += folders
        yield from folders
