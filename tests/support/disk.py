"""Projects and environments as far as they can be seen on disk; no Python of these is ever started."""

from collections.abc import Sequence
from pathlib import Path

from pytest_mcp.environments import advice
from pytest_mcp.environments.interpreter import Candidate


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


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
    return advice.remedy(root, rejected, folder=folder).line
