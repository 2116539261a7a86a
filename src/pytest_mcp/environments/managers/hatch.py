"""Where hatch keeps the environments of a project, told from files alone.

In come the manifest and the environment; out come those that exist, by name, the likeliest first. Hatch itself is
not asked: `hatch env find` installs what `tool.hatch.env.requires` names, runs collectors that lie in the
project, and writes a file of settings where there is none.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_mcp.environments import user_dirs, virtualenv
from pytest_mcp.environments.project import Manifest, table, toml

# Where tests are likely to run: what `hatch run` takes, what `hatch test` takes, and what was usual before that.
_NAMES = ("default", "hatch-test", "test")
# What hatch builds with lies beside the environment that it builds for.
_FOR_BUILDS = "-build"
_VARIABLES = re.compile(r"py(py)?\d")
_USUAL_TYPE = "virtual"
_FLAT = ".virtualenvs"
_CASE_MATTERS = sys.platform not in ("darwin", "win32")


@dataclass(frozen=True)
class Kept:
    name: str
    prefix: Path


def environments(manifest: Manifest, environment: Mapping[str, str]) -> list[Kept]:
    own_file = toml(manifest.folder / "hatch.toml")
    options = table(own_file, "envs") or manifest.table("tool", "hatch", "envs")
    found: dict[Path, Kept] = {}
    for kept in chain.from_iterable(_named(name, options, manifest, environment) for name in _NAMES):
        # Several may share a path.
        found.setdefault(kept.prefix, kept)
    return [*found.values()]


def _named(name: str, options: Mapping[str, Any], manifest: Manifest, environment: Mapping[str, str]) -> Iterable[Kept]:
    """The environment of this name, or those of its matrix that exist, with the newest Python first."""
    kind = _option(options, name, "type") or _USUAL_TYPE
    path = environment.get(f"HATCH_ENV_TYPE_{kind.upper().replace('-', '_')}_PATH") or _option(options, name, "path")
    if path:
        here = [Path(path) if Path(path).is_absolute() else (manifest.folder / path).resolve()]
    else:
        store = _store(kind, manifest, environment)
        here = [folder for folder in _folders_in(store) if _is_named(folder.name, name, options, manifest)]
    for prefix in virtualenv.newest_first(filter(virtualenv.is_environment, here)):
        yield Kept(name if path or prefix.name == _project(manifest) else prefix.name, prefix)


def _is_named(folder: str, name: str, options: Mapping[str, Any], manifest: Manifest) -> bool:
    if name == "default" and folder == _project(manifest):
        return True
    if folder.endswith(_FOR_BUILDS):
        return False
    if name == "default":
        # Those of its matrix have no name but their variables, and Python's comes first.
        return "matrix" in table(options, name) and bool(_VARIABLES.match(folder))
    return folder == name or folder.startswith(f"{name}.")


def _option(options: Mapping[str, Any], name: str, option: str) -> str | None:
    """What an environment says, or the one that it is made after; hatch's own are made after none."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        own = table(options, name)
        if isinstance(value := own.get(option), str):
            return value
        usual = name if name.startswith("hatch-") else "default"
        name = name if own.get("detached") else str(own.get("template", usual))
    return None


def _store(kind: str, manifest: Manifest, environment: Mapping[str, str]) -> Path:
    """The folder with the environments of this project and this kind."""
    chosen = environment.get("HATCH_CONFIG")
    settings = toml(Path(chosen) if chosen else user_dirs.folder("config", environment) / "hatch" / "config.toml")
    folders = table(settings, "dirs")
    if isinstance(named := table(folders, "env").get(kind), str):
        store = manifest.folder / user_dirs.expanded(named, environment)
    else:
        data = (
            environment.get("HATCH_DATA_DIR") or folders.get("data") or user_dirs.folder("data", environment) / "hatch"
        )
        store = user_dirs.expanded(str(data), environment) / "env" / kind
    if store == user_dirs.home(environment) / _FLAT or manifest.folder in store.resolve().parents:
        return store
    root = str(manifest.folder.resolve())
    return store / _project(manifest) / user_dirs.mark(root if _CASE_MATTERS else root.casefold())


def _project(manifest: Manifest) -> str:
    name = manifest.table("project").get("name")
    return re.sub(r"[-_.]+", "-", name if isinstance(name, str) else manifest.folder.name).lower()


def _folders_in(store: Path) -> list[Path]:
    try:
        return [entry for entry in store.iterdir() if entry.is_dir()]
    except OSError:
        return []
