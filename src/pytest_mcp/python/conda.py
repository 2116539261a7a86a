"""conda: environments are named by CONDA_PREFIX or given by path, and described in environment.yml."""

import os
import re
from pathlib import Path

from pytest_mcp.python import files, requirements, virtualenv
from pytest_mcp.python.manager import Manager, Variables
from pytest_mcp.python.requirements import Names

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


def python(prefix: Path) -> Path:
    return prefix / "python.exe" if os.name == "nt" else virtualenv.python(prefix)


def is_environment(prefix: Path) -> bool:
    return files.holds((prefix / "conda-meta").is_dir)


def listed(file: Path) -> Names:
    """Packages of conda and of pip: every item of a list, since nothing else there is named pytest."""
    items = [line.strip()[1:].strip(" \t'\"") for line in files.text(file).splitlines() if line.strip().startswith("-")]
    return requirements.names([_CHANNEL.sub("", item) for item in items])
