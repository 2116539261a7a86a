"""Which project a folder belongs to, for commands that a person types somewhere inside it, and whether it is one.

Only files are looked at. The server does not search: its root is its working directory, unless `--root` names another.
In a root that is no project but has projects below it, nothing is run.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_mcp.python import files, uv, virtualenv
from pytest_mcp.python.files import Manifest, read_manifest
from pytest_mcp.python.managers import used_managers
from pytest_mcp.text import in_line

PACKAGE_FILES = ("setup.py", "setup.cfg")
_PACKAGE_TABLES = ("project", "build-system")
# A folder of tests may have settings of its own, so these count only where no folder above is a package.
SETTINGS = ("pyproject.toml", "tox.ini", "pytest.ini", "pytest.toml", ".pytest.ini", ".pytest.toml", ".git")
# One of these makes a folder a project only where no checkout is below it: among checkouts it may be a stray file.
_WEAK_FILES = ("requirements.txt", "conftest.py")
# A folder that is no project and holds more than can be searched is not one project.
_MAX_FOLDERS = 2_000
# A few seconds on a slow disk; far more than a busy machine takes for a folder of tests.
_MAX_SECONDS = 10.0
_UNSEARCHED = ("node_modules", "__pycache__")


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
    with_settings = (place for place in places if _has_any(place, SETTINGS))
    return next(filter(is_package, places), None) or next(with_settings, None)


def shared_environment(root: Path) -> Path | None:
    """The environment of the workspace above that the project in this folder is a member of, if there is one."""
    home = uv.workspace(root)
    prefix = (root if home is None else home) / virtualenv.FOLDERS[0]
    return prefix if home not in (None, root) and virtualenv.starts(prefix) else None


def _upward(folder: Path, home: Path | None) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        if place in (home, Path(place.anchor)):
            return
        yield place
        if _has_any(place, (".git",)):
            return


def is_package(folder: Path) -> bool:
    """Whether it is a project of its own, or has an environment."""
    manifest = read_manifest(folder)
    return can_be_built(manifest) or virtualenv.is_in(folder) or bool(used_managers(manifest))


def can_be_built(manifest: Manifest) -> bool:
    """Whether a package can be built of it."""
    return any(map(manifest.table, _PACKAGE_TABLES)) or _has_any(manifest.folder, PACKAGE_FILES)


def refusal(root: Path) -> str | None:
    """If it is no project but has projects below it, such as a folder of checkouts: that nothing is run there.

    Such projects have nothing to do with each other, and nobody has asked for the code of all of them to be executed.
    """
    if _has_any(root, (*PACKAGE_FILES, *SETTINGS)) or used_managers(read_manifest(root)):
        return None
    what = _projects_below(root, may_be_one=_has_any(root, _WEAK_FILES))
    advice = "start pytest-mcp in one of them or pass it with --root, or give this folder a pyproject.toml if it is one"
    return None if what is None else f"{in_line(str(root))} is not a project, but has {what}: {advice}."


def _projects_below(root: Path, *, may_be_one: bool) -> str | None:
    """What separate projects there are; below a folder that may be one itself, only checkouts are."""
    deadline = time.monotonic() + _MAX_SECONDS
    for count, folder in enumerate(below(root)):
        if _has_any(folder, (".git",)) or (not may_be_one and is_package(folder)):
            return f"projects below it, such as {in_line(str(folder.relative_to(root)))}"
        if count >= _MAX_FOLDERS or time.monotonic() > deadline:
            return None if may_be_one else "more folders below it than can be searched for projects"
    return None


def _has_any(folder: Path, names: Iterable[str]) -> bool:
    return any(files.holds((folder / name).exists) for name in names)


def below(root: Path, deepest: int | None = None) -> Iterator[Path]:
    """Breadth first, without hidden folders, environments and what tools write. No symlink is searched."""
    left = deque([(root, 1)])
    while left:
        folder, depth = left.popleft()
        inner = [each for each in files.folders(folder) if not _is_skipped(each)]
        yield from inner
        if depth != deepest:
            left += [(each, depth + 1) for each in inner if not each.is_symlink()]


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _UNSEARCHED or virtualenv.is_environment(folder)
