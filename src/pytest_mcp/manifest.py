"""What a project says about itself: its pyproject.toml and the managers whose files lie beside it.

In comes a folder; out comes a frozen `Manifest`. A file that cannot be read or parsed says nothing here: the
tool that owns it will complain in its own words. Which environment follows is decided in `interpreter` and
`managers`, which command helps in `remedies`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
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


def toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def table(values: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = values.get(name)
        if not isinstance(inner, Mapping):
            return {}
        values = inner
    return values
