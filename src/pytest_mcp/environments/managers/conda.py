"""conda: environments are named by CONDA_PREFIX or given by path, and described in environment.yml."""

import os
import re
from pathlib import Path

from pytest_mcp.environments import files, requirements, shell, virtualenv
from pytest_mcp.environments.managers.protocol import Manager, Project, Variables
from pytest_mcp.environments.requirements import Declaration, Names
from pytest_mcp.environments.shell import Step

_CHANNEL = re.compile(r"^[\w./-]*::")


class Conda(Manager):
    name = "conda"
    files = ("environment.yml", "environment.yaml")
    variable = "CONDA_PREFIX"

    def python(self, prefix: Path) -> Path:
        return python(prefix)

    def is_environment(self, prefix: Path) -> bool:
        return is_environment(prefix)

    def why_not_active(self, prefix: Path, variables: Variables) -> str | None:
        is_base = variables.get("CONDA_DEFAULT_ENV") == "base" or (prefix / "condabin").is_dir()
        return "is conda's base environment, not the project's" if is_base else None

    def can_install(self, project: Project) -> bool:
        """Not into an environment that works and is not conda's."""
        return not project.lacking or is_environment(virtualenv.of(project.lacking[0]))

    def declared(self, project: Project) -> Declaration | None:
        return requirements.best(Declaration((), listed(path), path.name) for path in self._described(project))

    def install_line(self, project: Project, declared: Declaration | None) -> str:
        """A new environment gets a path where it is found; one with a name would have to be activated."""
        file = project.home.folder / declared.name if declared else self._described(project)[0]
        described = ["--file", shell.shown(file, project.root)]
        new = project.root / virtualenv.FOLDERS[0]
        prefix = virtualenv.of(project.lacking[0]) if project.lacking else new
        at = ["--prefix", shell.shown(prefix, project.root)]
        steps: list[Step] = []
        if not project.lacking:
            steps = [*shell.aside(new, project.root), ["conda", "env", "create", *at, *described]]
        elif declared:
            steps = [["conda", "env", "update", *at, *described]]
        return shell.line(steps if declared else [*steps, add(project.package, prefix, project.root)])

    def _described(self, project: Project) -> list[Path]:
        return [path for name in self.files if (path := project.home.folder / name).is_file()]


def add(package: str, prefix: Path, root: Path) -> Step:
    return ["conda", "install", "--yes", "--prefix", shell.shown(prefix, root), package]


def python(prefix: Path) -> Path:
    return prefix / "python.exe" if os.name == "nt" else virtualenv.python(prefix)


def is_environment(prefix: Path) -> bool:
    return files.holds((prefix / "conda-meta").is_dir)


def listed(file: Path) -> Names:
    """Packages of conda and of pip: every item of a list, since nothing else there is named pytest."""
    items = [line.strip()[1:].strip(" \t'\"") for line in files.text(file).splitlines() if line.strip().startswith("-")]
    return requirements.names([_CHANNEL.sub("", item) for item in items])
