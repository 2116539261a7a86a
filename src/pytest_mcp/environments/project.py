"""What a project says about itself: its pyproject.toml and the managers whose files lie beside it.

In comes a folder; out comes a frozen `Manifest`. A file that cannot be read or parsed says nothing here: the
tool that owns it will complain in its own words. Which environment follows is decided in `interpreter` and
`managers/`, which command helps in `advice`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import accumulate, islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pytest_mcp.environments import files

Manager = Literal["uv", "poetry", "pdm", "hatch", "pipenv", "pixi", "conda"]

# manager → the files that only it writes or reads, and the table of pyproject.toml that is its own.
# Hatch's own table is no sign: most of those who have it only build with hatchling.
_SIGNS: Mapping[Manager, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "uv": (("uv.lock", "uv.toml"), ("tool", "uv")),
    "poetry": (("poetry.lock", "poetry.toml"), ("tool", "poetry")),
    "pdm": (("pdm.lock", ".pdm-python"), ("tool", "pdm")),
    "hatch": (("hatch.toml",), ("tool", "hatch", "envs")),
    "pipenv": (("Pipfile", "Pipfile.lock"), ()),
    "pixi": (("pixi.toml", "pixi.lock"), ("tool", "pixi")),
    "conda": (("environment.yml", "environment.yaml"), ()),
}

# A person's pyproject.toml is far smaller, and Python's parser takes half a second for this much.
MOST_BYTES = 256 * 1024
# All members of a workspace together.
MOST_BYTES_OF_MEMBERS = 1024 * 1024
# Python's parser takes the square of their number for the parts of a key, and no table of a person's lies so deep.
# It is looked for at the beginnings of words only, and never goes back: a long word is read once.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")
# Workspaces name a handful, one or two folders deep.
_MOST_PATTERNS = 50
_DEEPEST_PATTERN = 5
# Only to learn where a workspace declares something; the first members tell it as well as all would.
_MEMBERS_READ = 200


@dataclass(frozen=True)
class Manifest:
    folder: Path
    pyproject: Mapping[str, Any]
    managers: tuple[Manager, ...]

    def table(self, *names: str) -> Mapping[str, Any]:
        """A table of pyproject.toml, empty when it is not there."""
        return table(self.pyproject, *names)


def read(folder: Path) -> Manifest:
    pyproject = toml(folder / "pyproject.toml")
    managers = tuple(
        manager
        for manager, (names, keys) in _SIGNS.items()
        if any(files.holds((folder / file).is_file) for file in names) or (keys and table(pyproject, *keys))
    )
    return Manifest(folder, pyproject, managers)


def nearest(start: Path, root: Path) -> Manifest:
    """The manifest that rules in this folder: of the first one upward with a manager, otherwise the root's."""
    for folder in (start, *start.parents):
        found = read(folder)
        if found.managers or folder == root:
            return found
    return read(root)


def workspace(start: Path) -> Manifest | None:
    """The uv workspace of the project that a folder is in: its own, or the next one above that counts it."""
    upward = [folder for folder in (start, *start.parents) if files.holds((folder / "pyproject.toml").is_file)]
    for folder in upward:
        if found := table(toml(folder / "pyproject.toml"), "tool", "uv", "workspace"):
            inside = upward[0].relative_to(folder)
            counted = upward[0] == folder or _matches(inside, found.get("members"))
            return read(folder) if counted and not _matches(inside, found.get("exclude")) else None
    return None


def workspace_inside(start: Path, root: Path) -> Manifest | None:
    """The same, unless it begins above the root: what lies there decides nothing here."""
    found = workspace(start)
    return found if found is not None and found.folder.is_relative_to(root) else None


def members(workspace: Manifest) -> list[Manifest]:
    patterns = strings(workspace.table("tool", "uv", "workspace").get("members"))
    found = [folder for pattern in patterns[:_MOST_PATTERNS] for folder in _matching(workspace.folder, pattern)]
    sizes = accumulate(files.size(folder / "pyproject.toml") for folder in found[:_MEMBERS_READ])
    return [read(folder) for folder, size in zip(found, sizes, strict=False) if size <= MOST_BYTES_OF_MEMBERS]


def _matches(path: Path, patterns: object) -> bool:
    """A star stands for one folder, two stars for any number of them."""
    for pattern in map(PurePosixPath, strings(patterns)):
        pairs = zip(path.parts, pattern.parts, strict=False)
        if len(path.parts) == len(pattern.parts) and all(fnmatchcase(part, wanted) for part, wanted in pairs):
            return True
        if "**" in pattern.parts and fnmatchcase(str(path), str(pattern)):
            return True
    return False


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Part by part, through folders that are really there: links could lead around in circles, or out."""
    parts = PurePosixPath(pattern).parts
    if len(parts) > _DEEPEST_PATTERN or any(part in ("..", "**", "/") for part in parts) or not parts:
        return []
    level = [folder]
    for part in parts:
        inner = (each for place in level for each in files.folders(place) if not each.is_symlink())
        level = list(islice((each for each in inner if fnmatchcase(each.name, part)), files.MOST_ENTRIES))
    return [place for place in level if files.holds((place / "pyproject.toml").is_file)]


def toml(path: Path) -> Mapping[str, Any]:
    said = files.text(path, MOST_BYTES)
    if _LONG_KEY.search(said):
        return {}
    try:
        return tomllib.loads(said)
    except (ValueError, RecursionError):
        return {}


def table(values: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = values.get(name)
        if not isinstance(inner, Mapping):
            return {}
        values = inner
    return values


def strings(values: object) -> list[str]:
    """The strings of what should be a list of them."""
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
