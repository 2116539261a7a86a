"""A home of its own for real managers, and environments made by real tools. Nothing here uses a network."""

import os
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_mcp.python.files import read_manifest
from pytest_mcp.python.managers import KeptEnvironment, kept_environments
from scripts.environments import ENVIRONMENTS

TOOLS = ("poetry", "pdm", "hatch", "pipenv", "virtualenv", "uv")
Tool = Literal["venv", "virtualenv", "uv"]

# The Python that environments are made of: not the one of this suite's own environment.
BASE_PYTHON = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
# Nobody listens there, so that whoever wants a registry fails at once.
_NOWHERE = "http://127.0.0.1:9"
_OFFLINE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE) | dict.fromkeys(
    ("PIP_NO_INDEX", "UV_OFFLINE", "PDM_IGNORE_ACTIVE_VENV", "VIRTUALENV_NO_PERIODIC_UPDATE"), "1"
)


@dataclass(frozen=True)
class Home:
    """A user's home folder, with a `bin` of programs that is all of the PATH but the system's own."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def environment(self) -> dict[str, str]:
        """What a shell of this user would hand down."""
        return {"HOME": str(self.folder), "PATH": f"{self.bin}:/usr/bin:/bin", "LANG": "C.UTF-8"}

    def run(self, *command: str | Path, cwd: Path, **variables: str) -> str:
        """What a user would have typed; what it printed."""
        return subprocess.run(
            command,
            cwd=cwd,
            env={**self.environment, **_OFFLINE, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def make(self, prefix: Path, tool: Tool = "venv") -> Path:
        """A real environment, without packages; its Python."""
        if tool == "venv":
            # In this process, which is much faster than a new one.
            venv.EnvBuilder(symlinks=True).create(prefix)
        else:
            self.run(*_MAKING[tool], prefix, cwd=self.folder)
        return prefix / "bin" / "python"

    def program(self, name: str, script: str, folder: Path | None = None) -> Path:
        """A program of the user's, as a script for sh."""
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path


_MANAGERS = ENVIRONMENTS["managers"].python.parent
_MAKING: Mapping[Tool, tuple[str | Path, ...]] = {
    "virtualenv": (_MANAGERS / "virtualenv", "--quiet", "--no-download", "--no-seed", "--python", BASE_PYTHON),
    "uv": (_MANAGERS / "uv", "venv", "--quiet", "--no-config", "--python", BASE_PYTHON),
}


def empty_home(folder: Path) -> Home:
    """One with a Python and no manager."""
    home = Home(folder)
    home.bin.mkdir(parents=True)
    for name in ("python", "python3"):
        (home.bin / name).symlink_to(BASE_PYTHON)
    return home


def home_with_managers(folder: Path) -> Home:
    home = empty_home(folder)
    for name in TOOLS:
        (home.bin / name).symlink_to(_MANAGERS / name)
    return home


async def ask(project: Path, home: Home, **variables: str) -> list[KeptEnvironment]:
    return await kept_environments(read_manifest(project), {**home.environment, **variables}, project)


async def ask_in_vain(project: Path, home: Home, **variables: str) -> str:
    """Why there is no Python."""
    (answer,) = await ask(project, home, **variables)
    assert answer.problem is not None
    return answer.problem


def asked(home: Home) -> int:
    """How many questions have been noted."""
    notes = home.folder / "asked"
    return len(notes.read_text(encoding="utf-8").splitlines()) if notes.exists() else 0


def touched(path: Path) -> None:
    """Another time for a file that is there, or a file that was not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, ns=(1, 1))


def tree(*folders: Path) -> dict[str, tuple[object, ...]]:
    """Everything below these folders, with all that writing would change."""
    return {str(path): _facts(path) for folder in folders for path in (folder, *_below(folder))}


def _below(folder: Path) -> Iterable[Path]:
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def _facts(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    return found.st_mode, found.st_mtime_ns, found.st_size, found.st_ino
