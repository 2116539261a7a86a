"""Which Python is the project's own.

In come the config and the folder that a call points at; out come candidates in order, each with where it was
found and, if it cannot even be started, why. Whether one has pytest is known only when it runs: the launcher
is the probe. Never the PATH, and never a manager's `run`: both may pick a pytest of another environment.
"""

import os
import re
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_mcp import text
from pytest_mcp.config.model import Config
from pytest_mcp.environments import files, git, project, virtualenv
from pytest_mcp.environments.managers import registry as managers
from pytest_mcp.execution.background import in_thread

OPERATORS_CHOICE = "--python"
# More than anybody has; each may cost the start of a process.
MOST = 10
# A path and a reason; more of it would not help.
LONGEST_WORDS = 500
_IS_PYTHON = re.compile("python|pypy|graalpy", re.IGNORECASE)
FOLDERS = (".venv", "venv")
_CONDA = Path("python.exe") if os.name == "nt" else virtualenv.python(Path())
_PIXI = Path(".pixi", "envs")
# Environments that are active in the shell that started the server: variable → where its Python lies.
ACTIVE = {
    "UV_PROJECT_ENVIRONMENT": virtualenv.python(Path()),
    "VIRTUAL_ENV": virtualenv.python(Path()),
    "CONDA_PREFIX": _CONDA,
}


@dataclass(frozen=True)
class Candidate:
    python: Path
    source: str
    problem: str | None = None
    lacks_pytest: bool = False

    def rejected(self, problem: str, *, lacks_pytest: bool = False) -> "Candidate":
        return replace(self, problem=problem, lacks_pytest=lacks_pytest)

    def described(self) -> dict[str, Any]:
        """In single lines of bounded length: names of folders are in there, which anybody may have chosen."""
        problem = None if self.problem is None else short(self.problem)
        return {"python": short(str(self.python)), "source": short(self.source), "problem": problem}

    @property
    def line(self) -> str:
        return "tried {python} ({source}): {problem}".format(**self.described())


def short(words: str) -> str:
    return text.safe_line(text.cut_middle(words, LONGEST_WORDS, separator=" "))


async def candidates(config: Config, folder: Path) -> AsyncIterator[Candidate]:
    """One after the other, since the later ones cost a question to a manager."""
    for candidate in await in_thread(lambda: visible(config, folder)):
        yield candidate
    if config.python is None:
        nearest = await in_thread(lambda: project.nearest(folder, config.root))
        for answer in await managers.environments(nearest, config.environment, config.root):
            if answer.python is None:
                yield Candidate(Path(answer.manager), answer.source, answer.problem)
            else:
                yield _inspected(answer.python, answer.source)
        for candidate in _of_main_checkout(config.root, folder):
            yield candidate


def visible(config: Config, folder: Path) -> list[Candidate]:
    """Those that a look at files and variables finds: the operator's choice alone, or all of them."""
    if config.python is not None:
        return [_inspected(config.python, OPERATORS_CHOICE)]
    found: dict[str, Candidate] = {}
    for candidate in (*_of_folders(config.root, folder), *_active(config, folder), *_of_pixi(config.root, folder)):
        # An environment that is found in two ways is one.
        found.setdefault(os.path.realpath(candidate.python.parent), candidate)
    return list(found.values())[:MOST]


def pointed_at(places: Sequence[Path], root: Path) -> Path:
    """The folder whose environment serves all these places, which lie inside the root."""
    if not places:
        return root
    common = Path(os.path.commonpath(places))
    return common if common.is_dir() else common.parent


def state(python: Path) -> list[tuple[str, int, int] | None]:
    """What the environment of this Python is at this moment: it may be replaced, or filled, while one starts."""
    settings = (python.parent / virtualenv.SETTINGS, virtualenv.of(python) / virtualenv.SETTINGS)
    return [_stamp(path) for path in (python, *settings, *virtualenv.packages(virtualenv.of(python)))]


def _stamp(path: Path) -> tuple[str, int, int] | None:
    try:
        real = path.resolve(strict=True)
        found = real.stat()
    except (OSError, RuntimeError):
        return None
    return str(real), found.st_mtime_ns, found.st_ino


def _upward(folder: Path, last: Path) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        yield place
        if place == last:
            return


def _of_folders(root: Path, folder: Path, *, whose: str = "the project root") -> Iterator[Candidate]:
    """The nearest one rules: in a repository of several projects each has its own."""
    for place in _upward(folder, root):
        where = whose if place == root else str(place.relative_to(root))
        for name in FOLDERS:
            if os.path.lexists(place / name):
                yield _inspected(virtualenv.python(place / name), f"{name} in {where}")


def _active(config: Config, folder: Path) -> Iterator[Candidate]:
    for variable, executable in ACTIVE.items():
        if value := config.environment.get(variable):
            prefix = _uv_project(folder, config.root) / value
            candidate = _inspected(prefix / executable, variable)
            problem = _why_nobodys(prefix, variable, config)
            yield candidate if problem is None else candidate.rejected(problem)


def _uv_project(folder: Path, root: Path) -> Path:
    """From where uv counts a relative path: its workspace, or else its project. The other variables are absolute."""
    found = project.workspace_inside(folder, root) or project.nearest(folder, root)
    return found.folder


def _why_nobodys(prefix: Path, variable: str, config: Config) -> str | None:
    if os.path.realpath(prefix) == os.path.realpath(sys.prefix):
        return "is the server's own environment, not the project's"
    if variable == "CONDA_PREFIX" and (
        config.environment.get("CONDA_DEFAULT_ENV") == "base" or (prefix / "condabin").is_dir()
    ):
        return "is conda's base environment, not the project's"
    return None


def _of_pixi(root: Path, folder: Path) -> Iterator[Candidate]:
    for place in _upward(folder, root):
        environments = sorted(files.folders(place / _PIXI), key=lambda path: (path.name != "default", path.name))
        for environment in environments:
            yield _inspected(environment / _CONDA, f"pixi's environment {environment.name}")


def _of_main_checkout(root: Path, folder: Path) -> Iterator[Candidate]:
    """A linked worktree seldom has an environment of its own; the checkout that it came from has."""
    found = git.find(root)
    if found is not None and found.main is not None:
        mirrored = found.main / root.relative_to(found.top)
        yield from _of_folders(mirrored, mirrored / folder.relative_to(root), whose="the main checkout")


def _inspected(python: Path, source: str) -> Candidate:
    candidate = Candidate(python, source)
    if files.holds(python.is_dir):
        return candidate.rejected("is a folder, not an interpreter")
    if not files.holds(python.exists):
        dangling = " (a link to a Python that is gone)" if files.holds(python.is_symlink) else ""
        return candidate.rejected(f"does not exist{dangling}")
    if not os.access(python, os.X_OK):
        return candidate.rejected("is not executable")
    # What a repository calls its Python would be started with a file of ours as its argument.
    if source != OPERATORS_CHOICE and not _IS_PYTHON.search(Path(os.path.realpath(python)).name):
        return candidate.rejected(f"leads to {os.path.realpath(python)}, which is no Python")
    return candidate
