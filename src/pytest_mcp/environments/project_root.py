"""Which project a folder belongs to, for commands that a person types somewhere inside it.

In comes a folder; out comes the root of its project, or None if no folder upward is one. Only files are looked at.
The server does not use this: its root is its working directory, unless `--root` names another.
"""

from collections.abc import Iterator
from pathlib import Path

from pytest_mcp.environments import files, project, virtualenv
from pytest_mcp.environments.managers import lookup
from pytest_mcp.environments.managers.registry import MANAGERS
from pytest_mcp.environments.project import Manifest

PACKAGE_FILES = ("setup.py", "setup.cfg")
_PACKAGE_TABLES = ("project", "build-system")
# A folder of tests may have settings of its own, so these count only where no folder above is a package.
SETTINGS = ("pyproject.toml", "tox.ini", "pytest.ini", "pytest.toml", ".pytest.ini", ".pytest.toml", ".git")


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
        if files.holds((place / ".git").exists):
            return


def is_package(folder: Path) -> bool:
    """Whether it is a project of its own, or has an environment."""
    manifest = project.read(folder)
    return (
        builds(manifest)
        or any(virtualenv.is_environment(folder / name) for name in virtualenv.FOLDERS)
        or bool(lookup.used(manifest))
    )


def builds(manifest: Manifest) -> bool:
    """Whether a package can be built of it."""
    return any(manifest.table(name) for name in _PACKAGE_TABLES) or any(
        files.holds((manifest.folder / name).is_file) for name in PACKAGE_FILES
    )


def _has_settings(folder: Path) -> bool:
    return any(files.holds((folder / name).exists) for name in SETTINGS)
