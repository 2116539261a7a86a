"""The members of a monorepo, and whether each could run its tests, as far as files show it.

Nothing is started, and the search is bounded in folders and in time. A member is a folder that a workspace declares,
that has an environment of its own, or that is a project below a root that is none. The root itself is one if it has
tests of its own that cannot run.
"""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from pytest_mcp.api import targets
from pytest_mcp.api.results import Member
from pytest_mcp.api.targets import Target
from pytest_mcp.config.model import Config
from pytest_mcp.python import files, interpreter, nearby, project_root, uv, virtualenv
from pytest_mcp.python.files import Manifest, read_manifest
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.python.managers import MANAGERS, nearest_managed

# How many are looked at.
MAX_MEMBERS = 20
# How the root itself is called.
ROOT = "."
# More than 2,000 folders take on a slow disk.
MAX_SECONDS = 1.0
_MAX_PROJECTS = 200
_PROJECT_FILES = ("pyproject.toml", *project_root.PACKAGE_FILES)
# Projects in such folders are material of tests, or examples, unless somebody made an environment for them.
_NOT_MEMBERS = frozenset({"tests", "test", "testing", "fixtures", "data", "testdata", "examples", "templates", "docs"})
# pytest's own `python_files`, and the one of Django. If a project sets others, every Python file may be a test.
_TESTS = ("test_*.py", "*_test.py", "tests.py")
_ANY_PYTHON = ("*.py",)
# Some of pytest's own `norecursedirs`.
_UNSEARCHED = frozenset({"build", "dist", "node_modules"})
# A root with more folders counts as one with tests of its own.
_MAX_OWN_FOLDERS = 2_000


@dataclass(frozen=True)
class MemberList:
    listed: tuple[Member, ...]
    # How many were not looked at.
    more: int
    # Whether every folder was searched.
    is_complete: bool


def find_members(config: Config, longest_seconds: float = MAX_SECONDS) -> MemberList | None:
    """None if the root is no monorepo."""
    # With the operator's Python all of them have the same.
    if config.python is not None:
        return None
    deadline = time.monotonic() + longest_seconds
    searched = list(islice(_until(deadline, config.root), nearby.MAX_FOLDERS))
    projects = list(islice(filter(_is_project, searched), _MAX_PROJECTS))
    folders = _members(projects, config.root)
    if not folders:
        return None
    is_whole = len(searched) < nearby.MAX_FOLDERS and len(projects) < _MAX_PROJECTS
    complete = is_whole and time.monotonic() < deadline
    listed = tuple(_member(folder, config) for folder in sorted(folders)[:MAX_MEMBERS])
    root = _member(config.root, config)
    is_one = root.problem is not None and _may_have_tests(config.root, folders)
    return MemberList((root, *listed) if is_one else listed, max(0, len(folders) - MAX_MEMBERS), complete)


def instead_of_root(config: Config) -> list[list[Target]]:
    """What a command without paths runs at a root without an environment of its own: its members, by environment.

    If the root has tests of its own, it is the first part.
    Empty if not all of them are known, if none of them can be ready, or if the root has an environment that is broken.
    """
    own = [each for each in interpreter.visible(config, config.root) if each.python.is_relative_to(config.root)]
    members = None if own else find_members(config)
    if members is None or members.more or not members.is_complete:
        return []
    if not any(each.problem is None or _kept_elsewhere(config.root / each.folder, config) for each in members.listed):
        return []
    try:
        named = [targets.parse_path(each.folder, config.root) for each in members.listed]
    except ValueError:  # a name that is too long to be shown whole
        return []
    root, others = ([target for target in named if (target.relative == ROOT) == is_root] for is_root in (True, False))
    return [*([root] if root else []), *by_environment(others, config)]


def by_environment(targets: Iterable[Target], config: Config) -> list[list[Target]]:
    """The targets, together where they have one environment, in the order in which they were named."""
    environment_of = cache(lambda folder: _environment(folder, config))
    parts: dict[Path, list[Target]] = {}
    for target in targets:
        parts.setdefault(environment_of(interpreter.pointed_at([target.path], config.root)), []).append(target)
    return list(parts.values())


def member_of(folder: Path, root: Path) -> Path:
    """The member that the folder is part of; the folder itself if there is none below the root."""
    return next((place for place in files.upward(folder, root) if place != root and _is_project(place)), folder)


def _environment(folder: Path, config: Config) -> Path:
    """The Python that a run of this folder tries first, or the folder whose manager is asked for one."""
    usable = [candidate.python for candidate in interpreter.visible(config, folder) if candidate.problem is None]
    if usable:
        return next(filter(_sees_pytest, usable), usable[0])
    return uv.workspace(folder) or nearest_managed(folder, config.root).folder


def _sees_pytest(python: Path) -> bool:
    """Also if it sees the packages of the Python that it was made from."""
    prefix = virtualenv.prefix_of(python)
    return virtualenv.has(prefix, "pytest") or virtualenv.settings(prefix).get("include-system-site-packages") == "true"


def _until(deadline: float, root: Path) -> Iterator[Path]:
    for folder in project_root.below(root, nearby.DEPTH):
        if time.monotonic() > deadline:
            return
        if not folder.is_symlink():
            yield folder


def _is_project(folder: Path) -> bool:
    return any(files.holds((folder / name).is_file) for name in _PROJECT_FILES) or virtualenv.is_in(folder)


def _members(projects: list[Path], root: Path) -> list[Path]:
    """One project below the root is no monorepo, unless a workspace declares it."""
    manifest = read_manifest(root)
    declared = [folder for folder in projects if uv.has_member(manifest, folder.relative_to(root))]
    own = [folder for folder in projects if virtualenv.is_in(folder)]
    beside: list[Path] = []
    if not _is_package(manifest):
        likely = [folder for folder in projects if _NOT_MEMBERS.isdisjoint(folder.relative_to(root).parts)]
        # Breadth first, so that a folder comes after those that contain it.
        for folder in (each for each in likely if _is_package(read_manifest(each))):
            if not any(folder.is_relative_to(other) for other in beside):
                beside.append(folder)
    members = list(dict.fromkeys([*declared, *own, *beside]))
    return members if declared or len(members) > 1 else []


def _is_package(manifest: Manifest) -> bool:
    """Also if only the table of a manager describes it."""
    tables = [manifest.table(*manager.table) for manager in MANAGERS if manager.table]
    return project_root.can_be_built(manifest) or any("name" in each for each in tables)


def _member(folder: Path, config: Config) -> Member:
    name = interpreter.short(folder.relative_to(config.root).as_posix())
    candidates = interpreter.visible(config, folder)
    usable = [candidate for candidate in candidates if candidate.problem is None]
    if not usable:
        return Member(folder=name, python=None, pytest=None, problem=_why_none(folder, config, candidates))
    chosen = next((each for each in usable if _sees_pytest(each.python)), usable[0])
    prefix = virtualenv.prefix_of(chosen.python)
    return Member(
        folder=name,
        python=virtualenv.python_version(prefix),
        pytest=virtualenv.version_of(prefix, "pytest"),
        problem=None if _sees_pytest(chosen.python) else f"{chosen.path_from(config.root)} has no pytest",
    )


def _why_none(folder: Path, config: Config, candidates: list[Candidate]) -> str:
    own = [candidate for candidate in candidates if candidate.python.is_relative_to(config.root)]
    if own:
        return interpreter.short(f"{own[0].path_from(config.root)} {own[0].problem}")
    manager = _kept_elsewhere(folder, config)
    return "no environment" if manager is None else f"not looked at: {manager} keeps its environment elsewhere"


def _kept_elsewhere(folder: Path, config: Config) -> str | None:
    """The manager that would have to be asked for its environment."""
    manifest = nearest_managed(folder, config.root)
    return next((each.name for each in MANAGERS if each.environments and each.is_used(manifest)), None)


# Tests of the root's own


def _may_have_tests(root: Path, members: Iterable[Path]) -> bool:
    """Whether there may be tests in none of its members, by the names of files. Only pytest itself would know."""
    patterns = (
        _ANY_PYTHON
        if any("python_files" in files.text(root / name) for name in ("setup.cfg", *project_root.SETTINGS))
        else _TESTS
    )
    left, seen, left_out = [root], set[Path](), {Path(os.path.realpath(member)) for member in members}
    while left:
        # Links are followed, as pytest does.
        folder = Path(os.path.realpath(left.pop()))
        if folder in seen or not left_out.isdisjoint((folder, *folder.parents)):
            continue
        seen.add(folder)
        if len(seen) > _MAX_OWN_FOLDERS or any(files.matching(folder, pattern) for pattern in patterns):
            return True
        inner = [each for each in files.folders(folder) if not each.name.startswith(".")]
        left += [each for each in inner if each.name not in _UNSEARCHED and not virtualenv.is_environment(each)]
    return False
