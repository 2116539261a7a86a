"""Which Python is the project's own.

In comes the config; out come candidates in order, each with where it was found and, if it cannot
even be started, why. Whether one has pytest is known only when it runs: the launcher is the probe.
"""

import os
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_mcp.config import Config

OPERATORS_CHOICE = "--python"
_FOLDERS = (".venv", "venv")
_SETTINGS = "pyvenv.cfg"
_EXECUTABLE = Path("Scripts", "python.exe") if os.name == "nt" else Path("bin", "python")


@dataclass(frozen=True)
class Candidate:
    python: Path
    source: str
    problem: str | None = None
    lacks_pytest: bool = False

    def rejected(self, problem: str, *, lacks_pytest: bool = False) -> "Candidate":
        return replace(self, problem=problem, lacks_pytest=lacks_pytest)

    def described(self) -> dict[str, Any]:
        return {"python": str(self.python), "source": self.source, "problem": self.problem}


def candidates(config: Config) -> list[Candidate]:
    """The operator's choice alone, or the environments of the root and then the active one."""
    if config.python is not None:
        return [_inspected(config.python, OPERATORS_CHOICE)]
    found = [
        _inspected(config.root / folder / _EXECUTABLE, f"{folder} in the project root")
        for folder in _FOLDERS
        if (config.root / folder).exists()
    ]
    active = config.environment.get("VIRTUAL_ENV")
    if active:
        found.append(_active(Path(active)))
    return found


def fix(rejected: list[Candidate], root: Path) -> str:
    """The one line that gives the project a usable environment. It destroys nothing."""
    for candidate in rejected:
        if candidate.lacks_pytest:
            return f"{shlex.quote(str(candidate.python))} -m pip install pytest"
    if any(candidate.source == OPERATORS_CHOICE for candidate in rejected):
        return f"correct {OPERATORS_CHOICE}, or leave it out to have the project's own environment found"
    new = root / _FOLDERS[0]
    make, install = shlex.quote(str(new)), shlex.quote(str(new / _EXECUTABLE))
    return f"python3 -m venv {make} && {install} -m pip install pytest"


def state(python: Path) -> list[tuple[str, int, int] | None]:
    """What the environment of this Python is at this moment: it may be replaced, or filled, while one starts."""
    prefix = python.parent.parent
    packages = [*prefix.glob("lib/python*/site-packages"), prefix / "Lib" / "site-packages"]
    return [_stamp(path) for path in (python, python.parent / _SETTINGS, prefix / _SETTINGS, *packages)]


def _stamp(path: Path) -> tuple[str, int, int] | None:
    try:
        real = path.resolve(strict=True)
        found = real.stat()
    except (OSError, RuntimeError):
        return None
    return str(real), found.st_mtime_ns, found.st_ino


def _inspected(python: Path, source: str) -> Candidate:
    candidate = Candidate(python, source)
    if python.is_dir():
        return candidate.rejected("is a folder, not an interpreter")
    if not python.exists():
        dangling = " (a link to a Python that is gone)" if python.is_symlink() else ""
        return candidate.rejected(f"does not exist{dangling}")
    if not os.access(python, os.X_OK):
        return candidate.rejected("is not executable")
    return candidate


def _active(prefix: Path) -> Candidate:
    candidate = _inspected(prefix / _EXECUTABLE, "VIRTUAL_ENV")
    if prefix.resolve() == Path(sys.prefix).resolve():
        return candidate.rejected("is the server's own environment, not the project's")
    return candidate
