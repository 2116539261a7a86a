"""What every environment manager tells about itself: whether a project uses it, and which environments it keeps for it.

Nothing in the managers' files writes anything. Which environment is used is decided in `interpreter`, with which line
a manager installs pytest in `install_lines`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

from pytest_mcp.python import files, virtualenv
from pytest_mcp.python.files import Manifest

Variables: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """An environment that a manager keeps, or the reason why it has none."""

    manager: str
    python: Path | None
    source: str
    problem: str | None = None


Answers: TypeAlias = tuple[Answer, ...]


class Manager:
    name: ClassVar[str]
    # A project uses the manager if it has one of these files, or this table in its pyproject.toml.
    files: ClassVar[tuple[str, ...]] = ()
    table: ClassVar[tuple[str, ...]] = ()
    # The build backend of the same authors. It is a sign only if there is no other: many projects only build with it.
    backend: ClassVar[str | None] = None
    # Of several managers, the ones with a lock are the ones really used.
    lock: ClassVar[str | None] = None
    needs_pyproject: ClassVar[bool] = False
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
