"""Projects and environments as files on disk, whose Python is never started, and settings to search them with."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_mcp.config.model import Config, Options, configure
from pytest_mcp.python import remedies
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.python.managers import MANAGERS
from tests.support.projects.managed import Home
from tests.support.projects.project_files import write_files
from tests.support.workbench import Workbench

# The unit tests of environments write many small projects.
lay = write_files


def environment(prefix: Path, *packages: str, settings: str = "version = 3.11.7\n") -> Path:
    """One with these folders in its site-packages."""
    lay(prefix, {"pyvenv.cfg": settings, "bin/python": "#!/bin/sh\n"})
    (prefix / "bin/python").chmod(0o755)
    for package in ("", *packages):
        (prefix / "lib/python3.11/site-packages" / package).mkdir(parents=True, exist_ok=True)
    return prefix


def lacking(prefix: Path, source: str = ".venv in the project root") -> Candidate:
    """What the search says of an environment that works and has no pytest."""
    return Candidate(prefix / "bin/python", source, "pytest cannot be imported", lacks_pytest=True)


def broken(prefix: Path, source: str = ".venv in the project root") -> Candidate:
    return Candidate(prefix / "bin/python", source, "does not exist (a symlink to a Python that is gone)")


def fix_line(root: Path, rejected: Sequence[Candidate], *, folder: Path | None = None) -> str:
    return remedies.remedy(root, rejected, folder=folder, search_path=every_manager())


@cache
def _programs() -> "TemporaryDirectory[str]":
    folder = TemporaryDirectory()
    for manager in MANAGERS:
        (Path(folder.name) / manager.name).touch(mode=0o755)
    return folder


def every_manager() -> str:
    """A PATH on which every manager is installed."""
    return _programs().name


def configured(root: Path, *, python: Path | None = None, environment: dict[str, str] | None = None) -> Config:
    options = Options(
        root=str(root), python=None if python is None else str(python), timeout=60, max_timeout=60, max_runs=2
    )
    return configure(options, environment or {})


def make_environment(folder: Path) -> Path:
    """One without packages; its Python."""
    return environment(folder) / "bin" / "python"


def unhelped(bench: Workbench, home: Home, **variables: str) -> Config:
    """The settings of an operator who has said nothing."""
    return configured(bench.root, environment={**home.environment, **variables})
