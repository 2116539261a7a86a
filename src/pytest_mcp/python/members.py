"""The members of a monorepo, and whether each could run its tests, as far as files show it.

In comes the config; out come the members, or None if the root is no monorepo. Nothing is started, and the search is
bounded in folders and in time. A member is a folder that a workspace declares, that has an environment of its own, or
that is a project below a root that is none. The root itself is one if it has tests of its own that cannot run.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pytest_mcp.api import targets
from pytest_mcp.api.targets import Target
from pytest_mcp.config.model import Config
from pytest_mcp.python import (
    by_environment,
    files,
    interpreter,
    lookup,
    nearby,
    own_tests,
    project_root,
    virtualenv,
)
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.python.managers import MANAGERS
from pytest_mcp.python.manifest import Manifest, read_manifest

# How many are looked at.
MOST = 20
# How the root itself is called.
ROOT = "."
# More than 2,000 folders take on a slow disk.
LONGEST_SECONDS = 1.0
_MOST_PROJECTS = 200
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
# Projects in such folders are material of tests, or examples, unless somebody made an environment for them.
_NOT_MEMBERS = frozenset({"tests", "test", "testing", "fixtures", "data", "testdata", "examples", "templates", "docs"})


@dataclass(frozen=True)
class Member:
    """`python` and `pytest` are versions, None if unknown; `problem` is None if it seems to be ready."""

    folder: str
    python: str | None
    pytest: str | None
    problem: str | None


@dataclass(frozen=True)
class Members:
    listed: tuple[Member, ...]
    # How many were not looked at.
    more: int
    # Whether every folder was searched.
    is_complete: bool


def find(config: Config) -> Members | None:
    # With the operator's Python all of them have the same.
    if config.python is not None:
        return None
    deadline = time.monotonic() + LONGEST_SECONDS
    searched = list(islice(_until(deadline, config.root), nearby.MOST_FOLDERS))
    projects = list(islice(filter(_is_project, searched), _MOST_PROJECTS))
    found = _members(projects, config.root)
    if not found:
        return None
    is_whole = len(searched) < nearby.MOST_FOLDERS and len(projects) < _MOST_PROJECTS
    complete = is_whole and time.monotonic() < deadline
    listed = tuple(_member(folder, config) for folder in sorted(found)[:MOST])
    return Members((*_root(config, found), *listed), max(0, len(found) - MOST), complete)


def _root(config: Config, members: list[Path]) -> list[Member]:
    root = _member(config.root, config)
    return [root] if root.problem is not None and own_tests.may_exist(config.root, members) else []


def instead_of_root(config: Config) -> list[list[Target]]:
    """What a command without paths runs at a root without an environment of its own: its members, by environment.

    If the root has tests of its own, it is the first part.
    Empty if not all of them are known, if none of them can be ready, or if the root has an environment that is broken.
    """
    own = [each for each in interpreter.visible(config, config.root) if each.python.is_relative_to(config.root)]
    found = None if own else find(config)
    if found is None or found.more or not found.is_complete:
        return []
    if not any(each.problem is None or _kept_elsewhere(config.root / each.folder, config) for each in found.listed):
        return []
    try:
        named = [targets.parse_path(each.folder, config.root) for each in found.listed]
    except ValueError:  # a name that is too long to be shown whole
        return []
    root, others = ([target for target in named if (target.relative == ROOT) == is_root] for is_root in (True, False))
    return [*([root] if root else []), *by_environment.split(others, config)]


def home(folder: Path, root: Path) -> Path:
    """The member that the folder is part of; the folder itself if there is none below the root."""
    return next((place for place in files.upward(folder, root) if place != root and _is_project(place)), folder)


def _until(deadline: float, root: Path) -> Iterator[Path]:
    for folder in nearby.below(root):
        if time.monotonic() > deadline:
            return
        yield folder


def _is_project(folder: Path) -> bool:
    return any(files.holds((folder / name).is_file) for name in _PROJECT_FILES) or _has_environment(folder)


def _has_environment(folder: Path) -> bool:
    return any(virtualenv.is_environment(folder / name) for name in virtualenv.FOLDERS)


def _members(projects: list[Path], root: Path) -> list[Path]:
    """One project below the root is no monorepo, unless a workspace declares it."""
    manifest = read_manifest(root)
    declared = [folder for folder in projects if _is_declared(folder, manifest)]
    likely = [folder for folder in projects if _NOT_MEMBERS.isdisjoint(folder.relative_to(root).parts)]
    own = [folder for folder in projects if _has_environment(folder)]
    beside = (
        [] if _is_package(manifest) else _outermost(folder for folder in likely if _is_package(read_manifest(folder)))
    )
    found = list(dict.fromkeys([*declared, *own, *beside]))
    return found if declared or len(found) > 1 else []


def _is_declared(folder: Path, manifest: Manifest) -> bool:
    inside = folder.relative_to(manifest.folder)
    return any(manager.has_member(manifest, inside) for manager in MANAGERS)


def _is_package(manifest: Manifest) -> bool:
    """Also if only the table of a manager describes it."""
    tables = [manifest.table(*manager.table) for manager in MANAGERS if manager.table]
    return project_root.builds(manifest) or any("name" in table for table in tables)


def _outermost(folders: Iterator[Path]) -> list[Path]:
    """Breadth first, so that a folder comes after those that contain it."""
    found: list[Path] = []
    for folder in folders:
        if not any(folder.is_relative_to(other) for other in found):
            found.append(folder)
    return found


def _member(folder: Path, config: Config) -> Member:
    name = interpreter.short(folder.relative_to(config.root).as_posix())
    found = interpreter.visible(config, folder)
    usable = [candidate for candidate in found if candidate.problem is None]
    chosen = next((each for each in usable if by_environment.sees_pytest(each.python)), None) or next(
        iter(usable), None
    )
    if chosen is None:
        return Member(name, None, None, _why_none(folder, config, found))
    prefix = virtualenv.of(chosen.python)
    pytest = virtualenv.version_of(prefix, "pytest")
    problem = None if by_environment.sees_pytest(chosen.python) else f"{chosen.shown(config.root)} has no pytest"
    return Member(name, virtualenv.python_version(prefix), pytest, problem)


def _why_none(folder: Path, config: Config, found: list[Candidate]) -> str:
    own = [candidate for candidate in found if candidate.python.is_relative_to(config.root)]
    if own:
        return interpreter.short(f"{own[0].shown(config.root)} {own[0].problem}")
    manager = _kept_elsewhere(folder, config)
    return "no environment" if manager is None else f"not looked at: {manager} keeps its environment elsewhere"


def _kept_elsewhere(folder: Path, config: Config) -> str | None:
    """The manager that would have to be asked for its environment."""
    manifest = lookup.nearest(folder, config.root)
    return next((each.name for each in MANAGERS if each.keeps_elsewhere and each.is_used(manifest)), None)
