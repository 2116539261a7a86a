"""What surrounds a project: its git checkout, the temporary folder, the server itself.

In comes the config; out comes a frozen `Surroundings`. Only files are looked at. Which of it becomes a notice is
decided in `hints`.
"""

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp import __version__
from pytest_mcp.api.advice import Sentence
from pytest_mcp.config.model import Config
from pytest_mcp.python import advice, django, files, git_files, lookup, members, user_dirs
from pytest_mcp.python.django import Django
from pytest_mcp.python.git_files import Checkout
from pytest_mcp.python.interpreter import OPERATORS_CHOICE, Candidate
from pytest_mcp.python.manifest import read_manifest
from pytest_mcp.python.members import Members
from pytest_mcp.python.project_root import is_package

# A folder with one of these, a Python file or the files of a manager is a project.
_SIGNS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "pytest.toml", ".pytest.ini", ".pytest.toml"),
    *("requirements.txt", "tests", "test", "src", ".git"),
)
# In the order of Python's tempfile: the first one that is set counts.
_TEMPORARY_VARIABLES = ("TMPDIR", "TEMP", "TMP")


@dataclass(frozen=True)
class TemporaryFolder:
    """`path` is None if no folder is usable; `ignored` is a variable whose folder is not."""

    path: Path | None
    writable: bool
    free_bytes: int | None
    ignored: str | None


@dataclass(frozen=True)
class Itself:
    """The server that answers."""

    version: str
    python: str
    executable: str
    prefix: str


@dataclass(frozen=True)
class Surroundings:
    root: Path
    checkout: Checkout | None
    temporary: TemporaryFolder
    looks_like_a_project: bool
    # Modules and packages in `src`.
    in_src: frozenset[str]
    server: Itself
    # Installs the project itself into the Python that is used.
    installation: Sentence | None = None
    # Projects below the root, if it is a monorepo.
    members: Members | None = None
    # If it is a Django project.
    django: Django | None = None
    # The operator's limit for each process of a run, in bytes.
    max_memory: int | None = None


def look(config: Config, python: Path | None = None, folder: Path | None = None) -> Surroundings:
    """`python` is the one that runs the tests, `folder` what was asked for; None: everything."""
    root, search_path = config.root, user_dirs.search_path(config.environment)
    home = root if folder is None else next(filter(is_package, files.upward(folder, root)), root)
    return Surroundings(
        root=root,
        checkout=git_files.find(root),
        temporary=_temporary_folder(config),
        looks_like_a_project=is_project(home),
        in_src=_modules(home / "src") | _packages(home / "src"),
        server=Itself(__version__, platform.python_version(), sys.executable, sys.prefix),
        installation=None if python is None else advice.installation(root, python, home, search_path),
        members=members.find(config) if folder is None else None,
        django=None if python is None else _django(config, python, home),
        max_memory=config.max_memory,
    )


def _django(config: Config, python: Path, home: Path) -> Django | None:
    module = django.settings_module(home)
    if module is None:
        return None
    chosen = Candidate(python, OPERATORS_CHOICE if config.python is not None else "")
    line = advice.addition(django.PLUGIN, chosen, config.root, home, user_dirs.search_path(config.environment))
    return Django(module, line)


def is_project(root: Path) -> bool:
    named = any((root / name).exists() for name in _SIGNS)
    return named or bool(_modules(root)) or bool(lookup.used(read_manifest(root)))


def _temporary_folder(config: Config) -> TemporaryFolder:
    asked = next((name for name in _TEMPORARY_VARIABLES if config.environment.get(name)), None)
    try:
        used = Path(tempfile.gettempdir())
    except OSError:
        return TemporaryFolder(None, writable=False, free_bytes=None, ignored=asked)
    ignored = asked is not None and Path(os.path.abspath(config.environment[asked])) != used  # noqa: PTH100 - as tempfile does it: symlinks stay
    return TemporaryFolder(used, _is_writable(used), _free_bytes(used), asked if ignored else None)


def _is_writable(folder: Path) -> bool:
    """Tried out: permissions do not show that a file system is full or read-only."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _modules(folder: Path) -> frozenset[str]:
    return frozenset(path.stem for path in folder.glob("*.py"))


def _packages(folder: Path) -> frozenset[str]:
    return frozenset(path.parent.name for path in folder.glob("*/__init__.py"))
