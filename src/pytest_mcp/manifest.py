"""What a project says about itself: its pyproject.toml and the managers whose files lie beside it.

In comes a folder; out comes a frozen `Manifest`. A file that cannot be read or parsed says nothing here: the
tool that owns it will complain in its own words. Which environment follows is decided in `interpreter` and
`managers`, which command helps in `remedies`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal

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

# Lists and locks are far smaller; this bounds what is read of a file that only has the name of one.
_MOST_CHARACTERS = 20_000_000
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
        for manager, (files, names) in _SIGNS.items()
        if any((folder / file).is_file() for file in files) or (names and table(pyproject, *names))
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
    upward = [folder for folder in (start, *start.parents) if (folder / "pyproject.toml").is_file()]
    for folder in upward:
        if found := table(toml(folder / "pyproject.toml"), "tool", "uv", "workspace"):
            inside = upward[0].relative_to(folder)
            counted = upward[0] == folder or _matches(inside, found.get("members"))
            return read(folder) if counted and not _matches(inside, found.get("exclude")) else None
    return None


def members(workspace: Manifest) -> list[Manifest]:
    patterns = strings(workspace.table("tool", "uv", "workspace").get("members"))
    folders = (folder for pattern in patterns for folder in _matching(workspace.folder, pattern))
    return [read(folder) for folder in islice(folders, _MEMBERS_READ)]


def _matches(path: Path, patterns: object) -> bool:
    """A star stands for one folder, two stars for any number of them."""
    for pattern in map(PurePosixPath, strings(patterns)):
        pairs = zip(path.parts, pattern.parts, strict=False)
        if len(path.parts) == len(pattern.parts) and all(fnmatchcase(part, wanted) for part, wanted in pairs):
            return True
        if "**" in pattern.parts and fnmatchcase(str(path), str(pattern)):
            return True
    return False


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    wanted = PurePosixPath(pattern)
    # Two stars would walk through all that lies in the project, environments included; the rest pathlib does not take.
    if "**" in pattern or wanted.is_absolute() or not wanted.parts:
        return
    try:
        yield from sorted(found for found in folder.glob(str(wanted)) if (found / "pyproject.toml").is_file())
    except (OSError, ValueError):
        return


def toml(path: Path) -> Mapping[str, Any]:
    try:
        # A pipe of that name would be waited for.
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}


def text(path: Path) -> str:
    """Of a file that is not TOML."""
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_MOST_CHARACTERS)
    except OSError:
        return ""


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
