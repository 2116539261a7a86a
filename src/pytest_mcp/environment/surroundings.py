"""What surrounds a project: its git checkout, the temporary folder, the server itself; and notices about it.

Only files are looked at. Notices about the run itself are in `report/notices.py`.
"""

import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp import __version__
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.results import Git, Server, TemporaryFolder
from pytest_mcp.config.model import Config
from pytest_mcp.process.confinement import SandboxLimits, confinement
from pytest_mcp.python import files, git_files, remedies, user_dirs
from pytest_mcp.python.files import read_manifest
from pytest_mcp.python.managers import used_managers
from pytest_mcp.python.members import MemberList, find_members
from pytest_mcp.python.project_root import PACKAGE_FILES, SETTINGS, is_package
from pytest_mcp.report.notices import memory_setting
from pytest_mcp.run.events import Portrait
from pytest_mcp.text import cut_middle

# A folder with one of these, a Python file or the files of a manager is a project.
_SIGNS = (*PACKAGE_FILES, *SETTINGS, "requirements.txt", "tests", "test", "src")
# A run keeps its records and its output in the temporary folder.
LITTLE_SPACE = 100 * 1024 * 1024
# The longest path in an answer, in characters.
MAX_TEXT = 300


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
    # Installs the project itself into the Python that is used.
    installation: Sentence | None = None
    # Projects below the root, if it is a monorepo.
    members: MemberList | None = None
    # The operator's limit for each process of a run, in bytes.
    max_memory: int | None = None
    sandbox: SandboxLimits | None = None


def surroundings(config: Config, python: Path | None = None, folder: Path | None = None) -> Surroundings:
    """`python` is the one that runs the tests, `folder` what was asked for; None: everything."""
    root, search_path = config.root, user_dirs.search_path(config.environment)
    home = root if folder is None else next(filter(is_package, files.upward(folder, root)), root)
    return Surroundings(
        root=root,
        git=_git(root),
        temporary=_temporary_folder(),
        looks_like_a_project=is_project(home),
        in_src=_modules(home / "src") | {path.parent.name for path in (home / "src").glob("*/__init__.py")},
        server=Server(version=__version__, python=platform.python_version(), executable=sys.executable),
        installation=None if python is None else remedies.installation(root, python, home, search_path),
        members=find_members(config) if folder is None else None,
        max_memory=config.max_memory,
        sandbox=confinement(root),
    )


def is_project(root: Path) -> bool:
    named = any((root / name).exists() for name in _SIGNS)
    return named or bool(_modules(root)) or bool(used_managers(read_manifest(root)))


def relative(path: str, root: Path) -> str:
    """Relative to the root, if it is inside."""
    inside = Path(path).relative_to(root) if Path(path).is_relative_to(root) else path
    return cut_middle(str(inside), MAX_TEXT, separator=" ")


def notices(around: Surroundings, portrait: Portrait | None, tests: int) -> list[str]:
    """One sentence for each thing that may cause tests to fail; `tests` is how many there are."""
    folder, members, sentences = around.temporary, around.members, []
    if not around.looks_like_a_project and not tests:
        signs = "no project file (pyproject.toml, setup.py, tests and the like) and no Python file"
        sentences.append(f"{around.root} has {signs}.")
    if portrait is not None and portrait.prefix == around.server_prefix:
        shared = f"The server runs in the project's own environment, {portrait.prefix}"
        harm = "packages of one may break the other. Install the server in an environment of its own"
        sentences.append(f"{shared}: {harm}.")
    if not folder.writable:
        named = f" {folder.path}" if folder.path else ""
        sentences.append(f"The temporary folder{named} cannot be written to; no test can run.")
    elif folder.free_bytes is not None and folder.free_bytes < LITTLE_SPACE:
        sentences.append(f"{folder.path}, where runs keep their records, has only {folder.free_bytes >> 20} MB left.")
    if members is not None and members.more:
        sentences.append(f"{members.more} more members are not listed; name one in path.")
    if members is not None and not members.is_complete:
        sentences.append("Not every folder was searched for members of this monorepo.")
    return [*sentences, *memory_setting(around.max_memory)]


def _git(root: Path) -> Git | None:
    checkout = git_files.find(root)
    if checkout is None:
        return None
    main = None if checkout.main is None else str(checkout.main)
    return Git(top_level=relative(str(checkout.top), root), main_checkout=main)


def _temporary_folder() -> TemporaryFolder:
    path = None
    try:
        path = tempfile.gettempdir()
        # Tried out: permissions do not show that a file system is full or read-only.
        with tempfile.TemporaryFile(dir=path):
            return TemporaryFolder(path=path, writable=True, free_bytes=shutil.disk_usage(path).free)
    except OSError:
        return TemporaryFolder(path=path, writable=False, free_bytes=None)


def _modules(folder: Path) -> frozenset[str]:
    return frozenset(path.stem for path in folder.glob("*.py"))
