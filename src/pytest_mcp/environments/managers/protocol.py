"""What every environment manager tells about itself. One class per manager, one file per class.

A manager gets a project and answers four questions: does this project use you, which environments do you keep for it,
where does it declare pytest, and which line installs that. Nothing here or in the managers' files writes anything.
Which environment is used is decided in `interpreter`, which manager's line is shown in `advice`.
"""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

from pytest_mcp.environments import files, virtualenv
from pytest_mcp.environments.project import Manifest
from pytest_mcp.environments.requirements import Declaration
from pytest_mcp.environments.shell import shown

Variables: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """An environment that a manager keeps, or the reason why it has none."""

    manager: str
    python: Path | None
    source: str
    problem: str | None = None


Answers: TypeAlias = tuple[Answer, ...]


@dataclass(frozen=True)
class Project:
    """A project that needs an install line. The line is run in `root`."""

    root: Path
    # What the call pointed at, inside the root.
    folder: Path
    # The nearest folder upward that uses a manager, otherwise the root.
    home: Manifest
    # Pythons that work but lack the package, best first.
    lacking: Sequence[Path] = ()
    # What is added if it is not declared.
    package: str = "pytest"
    # Where programs are looked for, to see which managers are installed.
    search_path: str = ""

    def has_program(self, name: str) -> bool:
        """Also in an environment of the project."""
        folders = [self.search_path, *(str(python.parent) for python in self.lacking)]
        return shutil.which(name, path=os.pathsep.join(folders)) is not None

    def at(self, option: str, home: Path | None = None) -> list[str]:
        """The option that points a manager at its folder; nothing if the line is run there."""
        folder = home or self.home.folder
        return [] if folder == self.root else [option, shown(folder, self.root)]


class Manager(ABC):
    name: ClassVar[str]
    # A project uses the manager if it has one of these files, or this table in its pyproject.toml.
    files: ClassVar[tuple[str, ...]] = ()
    table: ClassVar[tuple[str, ...]] = ()
    # The build backend of the same authors. It is a sign only if there is no other: many projects only build with it.
    backend: ClassVar[str | None] = None
    # Of several managers, the ones with a lock are the ones really used.
    lock: ClassVar[str | None] = None
    needs_pyproject: ClassVar[bool] = False
    # Whether it has a command that adds a package to a project.
    can_add: ClassVar[bool] = True
    # Whether it keeps environments outside of the project.
    keeps_elsewhere: ClassVar[bool] = False
    # The environment variable that names its active environment.
    variable: ClassVar[str | None] = None

    def is_used(self, manifest: Manifest) -> bool:
        has_file = any(files.holds((manifest.folder / file).is_file) for file in self.files)
        return has_file or bool(self.table and manifest.table(*self.table))

    def builds(self, manifest: Manifest) -> bool:
        return self.backend is not None and manifest.table("build-system").get("build-backend") == self.backend

    def shared_home(self, _folder: Path) -> Path | None:
        """The folder whose environment the project in this folder shares, such as a workspace."""
        return None

    def has_member(self, _manifest: Manifest, _inside: Path) -> bool:
        """Whether the project declares that its workspace has a member in this folder, as seen from its own."""
        return False

    # Environments

    def python(self, prefix: Path) -> Path:
        return virtualenv.python(prefix)

    def is_environment(self, _prefix: Path) -> bool:
        """Whether this folder is an environment of the kind that only this manager makes."""
        return False

    def why_not_active(self, _prefix: Path, _variables: Variables) -> str | None:
        """Why the environment that `variable` names is not the project's."""
        return None

    def environments_in(self, _folder: Path) -> list[tuple[str, Path]]:
        """Environments that it keeps in a fixed place of a folder: name and prefix, best first."""
        return []

    async def environments(self, _manifest: Manifest, _variables: Variables, _root: Path) -> Answers:
        """Environments that it keeps elsewhere. Nothing is written, and no program in the root is started."""
        return ()

    def answer(self, python: Path, name: str = "") -> Answer:
        source = f"{self.name}'s environment {name}".rstrip()
        return Answer(self.name, python, source, None if files.holds(python.exists) else "does not exist")

    def no_answer(self, problem: str | None = None) -> Answers:
        return (Answer(self.name, None, f"{self.name}'s environment", problem or self.nothing_yet),)

    @property
    def nothing_yet(self) -> str:
        return f"{self.name} has made no environment for this project yet"

    # The line that installs pytest

    def can_install(self, project: Project) -> bool:
        return not self.needs_pyproject or (project.home.folder / "pyproject.toml").is_file()

    def is_locked(self, project: Project) -> bool:
        return self.lock is not None and (project.home.folder / self.lock).is_file()

    @abstractmethod
    def declared(self, project: Project) -> Declaration | None:
        """Where the project declares pytest for this manager."""

    @abstractmethod
    def install_line(self, project: Project, declared: Declaration | None) -> str:
        """Install what is declared, or add the project's package. The line deletes nothing."""
