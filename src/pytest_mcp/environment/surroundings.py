"""What surrounds a project: its git checkout, the temporary folder, the server itself; and notices about it.

Only files are looked at. Notices about the run itself are in `report/notices.py`.
"""

import os
import platform
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp import __version__
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.results import Git, Server, TemporaryFolder
from pytest_mcp.config.model import Config
from pytest_mcp.python import advice, files, git_files, user_dirs
from pytest_mcp.python.files import read_manifest
from pytest_mcp.python.interpreter import OPERATORS_CHOICE, Candidate
from pytest_mcp.python.managers import used_managers
from pytest_mcp.python.members import MemberList, find_members
from pytest_mcp.python.project_root import is_package
from pytest_mcp.report.notices import memory_setting
from pytest_mcp.run.events import Portrait
from pytest_mcp.text import cut_middle

# A folder with one of these, a Python file or the files of a manager is a project.
_SIGNS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "pytest.toml", ".pytest.ini", ".pytest.toml"),
    *("requirements.txt", "tests", "test", "src", ".git"),
)
# What manage.py of a Django project contains.
_DJANGO_SETTINGS = re.compile(r"""["']DJANGO_SETTINGS_MODULE["'], {0,4}["']([\w.]{1,200})["']""")
DJANGO_PLUGIN = "pytest-django"
# In the order of Python's tempfile: the first one that is set counts.
_TEMPORARY_VARIABLES = ("TMPDIR", "TEMP", "TMP")
# A run keeps its records and its output in the temporary folder.
LITTLE_SPACE = 100 * 1024 * 1024
# Of a path, in characters.
MAX_TEXT = 300


@dataclass(frozen=True)
class Django:
    settings_module: str
    # Installs the plugin.
    installation: str


@dataclass(frozen=True)
class Surroundings:
    root: Path
    git: Git | None
    temporary: TemporaryFolder
    looks_like_a_project: bool
    # Modules and packages in `src`.
    in_src: frozenset[str]
    server: Server
    server_prefix: str = sys.prefix
    # A variable that names a temporary folder which cannot be used.
    ignored_variable: str | None = None
    # Installs the project itself into the Python that is used.
    installation: Sentence | None = None
    # Projects below the root, if it is a monorepo.
    members: MemberList | None = None
    # If it is a Django project.
    django: Django | None = None
    # The operator's limit for each process of a run, in bytes.
    max_memory: int | None = None


def surroundings(config: Config, python: Path | None = None, folder: Path | None = None) -> Surroundings:
    """`python` is the one that runs the tests, `folder` what was asked for; None: everything."""
    root, search_path = config.root, user_dirs.search_path(config.environment)
    home = root if folder is None else next(filter(is_package, files.upward(folder, root)), root)
    temporary = _temporary_folder()
    return Surroundings(
        root=root,
        git=_git(root),
        temporary=temporary,
        looks_like_a_project=is_project(home),
        in_src=_modules(home / "src") | {path.parent.name for path in (home / "src").glob("*/__init__.py")},
        server=Server(version=__version__, python=platform.python_version(), executable=sys.executable),
        ignored_variable=_ignored_variable(config, temporary.path),
        installation=None if python is None else advice.installation(root, python, home, search_path),
        members=find_members(config) if folder is None else None,
        django=None if python is None else _django(config, python, home, search_path),
        max_memory=config.max_memory,
    )


def is_project(root: Path) -> bool:
    named = any((root / name).exists() for name in _SIGNS)
    return named or bool(_modules(root)) or bool(used_managers(read_manifest(root)))


def relative(path: str, root: Path) -> str:
    """Relative to the root, if it is inside."""
    shown = Path(path).relative_to(root) if Path(path).is_relative_to(root) else path
    return cut_middle(str(shown), MAX_TEXT, separator=" ")


def notices(around: Surroundings, portrait: Portrait | None, tests: int) -> list[str]:
    """One sentence for each thing that may cause tests to fail; `tests` is how many there are."""
    sentences = []
    if not around.looks_like_a_project and not tests:
        signs = "no project file (pyproject.toml, setup.py, tests and the like) and no Python file"
        sentences.append(f"{around.root} has {signs}.")
    if portrait is not None and portrait.prefix == around.server_prefix:
        shared = f"The server runs in the project's own environment, {portrait.prefix}"
        harm = "packages of one may break the other. Install the server in an environment of its own"
        sentences.append(f"{shared}: {harm}.")
    sentences += _about_temporary(around.temporary, around.ignored_variable)
    if around.members is not None and around.members.more:
        sentences.append(f"{around.members.more} more members are not listed; name one in path.")
    if around.members is not None and not around.members.is_complete:
        sentences.append("Not every folder was searched for members of this monorepo.")
    return [*sentences, *memory_setting(around.max_memory)]


def _about_temporary(folder: TemporaryFolder, ignored: str | None) -> list[str]:
    if folder.path is None or not folder.writable:
        named = f" {folder.path}" if folder.path else ""
        return [f"The temporary folder{named} cannot be written to; no test can run."]
    sentences = []
    if ignored is not None:
        sentences.append(f"{ignored} names a folder that cannot be used; {folder.path} is used instead.")
    if folder.free_bytes is not None and folder.free_bytes < LITTLE_SPACE:
        sentences.append(f"{folder.path}, where runs keep their records, has only {folder.free_bytes >> 20} MB left.")
    return sentences


def _git(root: Path) -> Git | None:
    checkout = git_files.find(root)
    if checkout is None:
        return None
    main = None if checkout.main is None else str(checkout.main)
    return Git(top_level=relative(str(checkout.top), root), main_checkout=main)


def _django(config: Config, python: Path, home: Path, search_path: str) -> Django | None:
    named = _DJANGO_SETTINGS.search(files.text(home / "manage.py"))
    if named is None:
        return None
    chosen = Candidate(python, OPERATORS_CHOICE if config.python is not None else "")
    line = advice.addition(DJANGO_PLUGIN, chosen, config.root, home, search_path)
    return Django(named[1], line)


def _temporary_folder() -> TemporaryFolder:
    try:
        path = tempfile.gettempdir()
    except OSError:
        return TemporaryFolder(path=None, writable=False, free_bytes=None)
    try:
        free_bytes = shutil.disk_usage(path).free
    except OSError:
        free_bytes = None
    return TemporaryFolder(path=path, writable=_is_writable(path), free_bytes=free_bytes)


def _ignored_variable(config: Config, used: str | None) -> str | None:
    name = next((name for name in _TEMPORARY_VARIABLES if config.environment.get(name)), None)
    # As tempfile does it: symlinks stay.
    is_used = name is not None and used == os.path.abspath(config.environment[name])  # noqa: PTH100
    return None if is_used else name


def _is_writable(folder: str) -> bool:
    """Tried out: permissions do not show that a file system is full or read-only."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _modules(folder: Path) -> frozenset[str]:
    return frozenset(path.stem for path in folder.glob("*.py"))
