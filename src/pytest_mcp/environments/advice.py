"""The one line that gives a project a usable Python with pytest, fitting how the project is kept.

In come the root, the folder that a call pointed at and what the search rejected; out comes a line to be run in the
root. It destroys nothing, and what it makes is where the search will look. Files are read for it and nothing is
started. Where pytest is declared is in `install_options`, which environments there are besides in `nearby`.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.environments import files, install_options, nearby, shell, unmanaged, virtualenv
from pytest_mcp.environments import project as manifest
from pytest_mcp.environments.install_options import Way
from pytest_mcp.environments.interpreter import FOLDERS, OPERATORS_CHOICE, Candidate
from pytest_mcp.environments.project import Manager, Manifest
from pytest_mcp.environments.shell import Step, shown

_CORRECT = f"correct {OPERATORS_CHOICE}, or leave it out to have the project's own environment found"
_NAME_IT = f"start pytest-mcp with {OPERATORS_CHOICE}, naming the project's Python"
_LONGEST_LINE = 2_000
_LOCKS: Mapping[Manager, str] = {
    "uv": "uv.lock",
    "poetry": "poetry.lock",
    "pdm": "pdm.lock",
    "pipenv": "Pipfile.lock",
    "pixi": "pixi.lock",
}
# Locks grow with a project, and are only searched.
_MOST_OF_A_LOCK = 8 * 1024 * 1024
# Without it they do nothing, whatever other files of theirs lie there.
_NEED_PYPROJECT = ("uv", "poetry", "pdm")
# What `hatch test` makes, for one Python. To ask for it by its name is to ask for one for every Python there is.
_HATCHS_OWN = "hatch-test"


@dataclass(frozen=True)
class _Project:
    root: Path
    folder: Path
    kept: Manifest
    rejected: Sequence[Candidate]

    def at(self, option: str, home: Manifest | None = None) -> list[str]:
        """The option that points a manager at its folder, unless that is where the line is run."""
        folder = (home or self.kept).folder
        return [] if folder == self.root else [option, shown(folder, self.root)]

    def lacking(self, prefix: Path | None = None) -> Candidate | None:
        """The environment that works, but has no pytest: the first, or the one in this folder."""
        found = [candidate for candidate in self.rejected if candidate.lacks_pytest]
        return next((each for each in found if prefix in (None, virtualenv.of(each.python))), None)


def remedy(root: Path, rejected: Sequence[Candidate], *, folder: Path | None = None) -> str:
    inside = folder if folder is not None and folder.is_relative_to(root) else root
    chosen = next((candidate for candidate in rejected if candidate.source == OPERATORS_CHOICE), None)
    if chosen is not None:
        return unmanaged.into(chosen.python, root, inside) if chosen.lacks_pytest else _CORRECT
    project = _Project(root, inside, manifest.nearest(inside, root), rejected)
    led = nearby.lead(root, inside, rejected) or _managed(project) or nearby.of_tools(root, rejected)
    line = led or unmanaged.line(root, inside, rejected)
    # An agent may paste it. What names of files have made long, or break into lines, is nothing to paste.
    return line if line.isprintable() and len(line) <= _LONGEST_LINE else _NAME_IT


def _managed(project: _Project) -> str | None:
    """Of the managers, the first that declares pytest; otherwise the first, which can add it."""
    managers = _managers(project)
    for manager in managers:
        if way := install_options.best(_ways(manager, project)):
            return _LINES[manager](project, way)
    return _LINES[managers[0]](project, None) if managers else None


def _managers(project: _Project) -> list[Manager]:
    """Those with a lock, if any has one: it was really used."""
    folder = project.kept.folder
    able = [
        manager
        for manager in project.kept.managers
        if manager not in _NEED_PYPROJECT or (folder / "pyproject.toml").is_file()
    ]
    lacking = project.lacking()
    if lacking is not None and not virtualenv.is_conda(virtualenv.of(lacking.python)):
        # A list for conda does not make this one conda's.
        able = [manager for manager in able if manager != "conda"]
    if not able and manifest.workspace(folder):
        return ["uv"]
    return [manager for manager in able if manager in _LOCKS and (folder / _LOCKS[manager]).is_file()] or able


def _ways(manager: Manager, project: _Project) -> list[Way]:
    """In a uv workspace, what lies nearest to the folder first, then what any member declares."""
    workspace = _workspace(project) if manager == "uv" else None
    if workspace is None:
        return install_options.WAYS[manager](project.kept)
    upward = [each for each in (project.folder, *project.folder.parents) if each.is_relative_to(workspace.folder)]
    declaring = [*map(manifest.read, upward), *manifest.members(workspace)]
    return [way for each in declaring for way in install_options.uv(each, workspace)]


def _workspace(project: _Project) -> Manifest | None:
    return manifest.workspace_inside(project.folder, project.root)


def _uv(project: _Project, way: Way | None) -> str:
    """Members of a workspace share its environment. If that would lie above the root, the root gets one of its own."""
    workspace = _workspace(project)
    is_above = workspace is None and manifest.workspace(project.folder) is not None
    home = workspace or project.kept
    environment = (project.root if is_above else home.folder) / FOLDERS[0]
    # It replaces an environment that is broken, but no folder that is none.
    room = [] if virtualenv.is_environment(environment) else shell.aside(environment, project.root)
    if way is None:
        words = ["add", *project.at("--project"), "--dev", "pytest"]
    else:
        members = [] if workspace is None else ["--all-packages"]
        # Otherwise it would remove what was installed there besides.
        keeping = ["--inexact"] if project.lacking(environment) else []
        words = ["sync", *project.at("--project", home), *members, *keeping, *way.options]
    variables = f'UV_PROJECT_ENVIRONMENT="$PWD"/{FOLDERS[0]} ' if is_above else ""
    return " && ".join([*map(shlex.join, room), variables + shlex.join(["uv", *words])])


def _poetry(project: _Project, way: Way | None) -> str:
    start = ["poetry", *project.at("-C")]
    if way is None:
        return shell.line([[*start, "add", "--group", "dev", "pytest"]])
    lock = files.text(project.kept.folder / _LOCKS["poetry"], _MOST_OF_A_LOCK)
    # It refuses to install by a lock that is older than what is declared.
    again = [[*start, "lock"]] if lock and 'name = "pytest"' not in lock else []
    return shell.line([*again, [*start, "install", *way.options]])


def _pdm(project: _Project, way: Way | None) -> str:
    at = project.at("-p")
    if way is None:
        return shell.line([["pdm", "add", *at, "-dG", "test", "pytest"]])
    lock = manifest.toml(project.kept.folder / _LOCKS["pdm"])
    locked = manifest.strings(manifest.table(lock, "metadata").get("groups"))
    # It installs no group that it was not told of when it locked.
    again = [["pdm", "lock", *at, "-G", ":all"]] if lock and way.name and way.name not in locked else []
    return shell.line([*again, ["pdm", "install", *at, *way.options]])


def _hatch(project: _Project, way: Way | None) -> str:
    """`hatch env create` leaves an environment that exists as it is; to run something there brings it up to date."""
    there = [step] if (step := project.at("cd")) else []
    if way is None or way.name == _HATCHS_OWN:
        return shell.line([*there, ["hatch", "test", "--", "--version"]])
    python = f"{way.name}:python" if way.name else "python"
    return shell.line([*there, ["hatch", "run", python, "-m", "pytest", "--version"]])


def _pipenv(project: _Project, way: Way | None) -> str:
    file = shlex.quote(shown(project.kept.folder / "Pipfile", project.root))
    variables = f"PIPENV_PIPFILE={file} " if project.kept.folder != project.root else ""
    words = ["pipenv", "install", "--dev", "pytest"]
    if way is not None:
        locked = _section(project.kept.folder / _LOCKS["pipenv"], "develop" if way.options else "default")
        words = ["pipenv", "sync" if "pytest" in locked else "install", *way.options]
    environment = project.kept.folder / FOLDERS[0]
    room = [] if virtualenv.starts(environment) else shell.aside(environment, project.root)
    # It fails where a broken environment is, and makes the new one elsewhere unless it is told.
    variables += "PIPENV_VENV_IN_PROJECT=1 " if room else ""
    return " && ".join([*map(shlex.join, room), variables + shlex.join(words)])


def _section(lock: Path, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads(files.text(lock, _MOST_OF_A_LOCK))
    except (ValueError, RecursionError):
        return {}
    return manifest.table(found, name) if isinstance(found, Mapping) else {}


def _pixi(project: _Project, way: Way | None) -> str:
    file = "pyproject.toml" if project.kept.table("tool", "pixi") else "pixi.toml"
    there = shown(project.kept.folder / file, project.root)
    at = ["--manifest-path", there] if project.kept.folder != project.root else []
    return shell.line([["pixi", "add", *at, "pytest"] if way is None else ["pixi", "install", *at, *way.options]])


def _conda(project: _Project, way: Way | None) -> str:
    """A new one lies where the search looks, since one that only has a name would have to be activated first."""
    file = next(each.options[0] for each in (way, *install_options.conda(project.kept)) if each is not None)
    listed = ["--file", shown(project.kept.folder / file, project.root)]
    lacking = project.lacking()
    prefix = virtualenv.of(lacking.python) if lacking else project.root / FOLDERS[0]
    there = ["--prefix", shown(prefix, project.root)]
    steps: list[Step] = [["conda", "env", "update", *there, *listed]] if way else []
    if lacking is None:
        steps = [*shell.aside(prefix, project.root), ["conda", "env", "create", *there, *listed]]
    added = [] if way else [["conda", "install", "--yes", *there, "pytest"]]
    return shell.line([*steps, *added])


_LINES: Mapping[Manager, Callable[[_Project, Way | None], str]] = {
    "uv": _uv,
    "poetry": _poetry,
    "pdm": _pdm,
    "hatch": _hatch,
    "pipenv": _pipenv,
    "pixi": _pixi,
    "conda": _conda,
}
