"""Environments that are there and have pytest, but where the search does not look.

In come the root, the folder that a call pointed at and what the search rejected; out comes the line that leads to
such an environment, best first. Nothing is started: pytest is there when its folder is.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from pytest_mcp.environments import files, project, virtualenv
from pytest_mcp.environments.interpreter import FOLDERS, Candidate

# How a line begins that is for whoever starts the server, and for no shell.
LEADING = "start pytest-mcp"
_OF_TOOLS = (".tox", ".nox")
# Services of a monorepo lie one or two folders deep, at most with a folder for their kind above them.
_DEPTH = 3
# What can be looked at in a fraction of a second; the largest monorepos stay partly unseen.
_MOST_FOLDERS = 2_000
# More than these would be a list to choose from, not a line to follow.
_PATHS_NAMED = 3


def lead(root: Path, folder: Path, rejected: Sequence[Candidate]) -> str | None:
    """The line that leads to an environment with pytest that a person has made, if one is there."""
    if own := _usable(renamed(root), rejected):
        return _link(root, own[0])
    if above := _usable(_above(root), rejected):
        return f"{LEADING} in {_quoted(above[0].parent)}, or give it {_option(above[0])}"
    if not _environments_of(folder) and (nested := _usable(_nested(folder), rejected)):
        return _paths(root, nested)
    return None


def of_tools(root: Path, rejected: Sequence[Candidate]) -> str | None:
    """The line that leads to one of tox or nox. They are made anew at will, so a manager's own comes first."""
    found = _usable(_of_tools(root), rejected)
    return f"{LEADING} with {_option(found[-1])}" if found else None


def _usable(found: Iterable[Path], rejected: Sequence[Candidate]) -> list[Path]:
    tried = {virtualenv.of(candidate.python) for candidate in rejected}
    return [prefix for prefix in found if prefix not in tried and virtualenv.has(prefix, "pytest")]


def renamed(root: Path) -> list[Path]:
    """Environments of the root under other names than those that are searched."""
    others = [folder for folder in files.folders(root) if folder.name not in FOLDERS and _is_typed_easily(folder.name)]
    return [folder for folder in others if _is_any(folder) and virtualenv.starts(folder)]


def _link(root: Path, prefix: Path) -> str:
    """A link makes it the project's environment for good; where there is no place for one, the operator can choose."""
    new = root / FOLDERS[0]
    if os.path.lexists(new):
        return f"{LEADING} with {_option(prefix)}"
    return shlex.join(["ln", "-s", prefix.name, new.name])


def _paths(root: Path, nested: Sequence[Path]) -> str:
    named = [json.dumps(prefix.parent.relative_to(root).as_posix()) for prefix in nested[:_PATHS_NAMED]]
    has = "which has an environment of its own" if len(nested) == 1 else "which have environments of their own"
    return f"call with path={' or '.join(named)}, {has}"


def _option(prefix: Path) -> str:
    """In full, since the server may have been started elsewhere."""
    return f"--python {_quoted(virtualenv.python(prefix))}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _above(root: Path) -> list[Path]:
    workspace = project.workspace(root)
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    homes = [workspace.folder if workspace else root, top]
    return [prefix for home in homes if home != root for prefix in _environments_of(home)]


def _nested(folder: Path) -> list[Path]:
    return [prefix for inner in islice(_below(folder), _MOST_FOLDERS) for prefix in _environments_of(inner)]


def _below(folder: Path) -> Iterable[Path]:
    """Folders in it, level by level, none that is hidden, an environment, or full of other people's packages."""
    level = [folder]
    for _ in range(_DEPTH):
        inner = (found for each in level for found in files.folders(each))
        level = []
        for found in inner:
            # A link may lead out of the root, or around in a circle.
            if found.name[0] in "._" or found.name == "node_modules" or found.is_symlink():
                continue
            if _is_typed_easily(found.name) and not _is_any(found):
                level.append(found)
                yield found


def _environments_of(folder: Path) -> list[Path]:
    return [prefix for name in FOLDERS if virtualenv.starts(prefix := folder / name)]


def _of_tools(root: Path) -> list[Path]:
    """Those named after a Python or after tests come last, and among them the newest Python."""
    found = [prefix for tool in _OF_TOOLS for prefix in files.folders(root / tool) if virtualenv.starts(prefix)]
    return sorted(found, key=lambda prefix: _aptness(prefix.name))


def _aptness(name: str) -> tuple[bool, list[int]]:
    return name.startswith("py") or "test" in name, [int(number) for number in re.findall(r"\d{1,9}", name)]


def _is_any(folder: Path) -> bool:
    return virtualenv.is_environment(folder) or virtualenv.is_conda(folder)


def _is_typed_easily(name: str) -> bool:
    """Without what a shell, or a reader of our sentence, could take for something else."""
    return re.fullmatch(r"[\w.@+][\w.@+ -]*", name) is not None
