"""hatch: keeps environments in a folder of the user that settings, variables and the project decide.

hatch is not asked: `hatch env find` installs what `tool.hatch.env.requires` lists, runs collectors that are part of
the project, and writes a settings file if there is none. So its files are read instead.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_mcp.python import files, user_dirs, virtualenv
from pytest_mcp.python.asked_managers import Environments, Variables, nothing_yet
from pytest_mcp.python.files import Manifest, table, toml
from pytest_mcp.python.query import Unanswered

# `tool.hatch` alone does not show that hatch is used: it may be settings of hatchling.
TABLE = ("tool", "hatch", "envs")
# Where tests are likely to run: what `hatch run` uses, what `hatch test` uses, and what was usual before that.
_NAMES = ("default", "hatch-test", "test")
# The environment that hatch builds with is kept beside the one that it builds for.
_FOR_BUILDS = "-build"
_FLAT = ".virtualenvs"


async def hatch(manifest: Manifest, variables: Variables, _root: Path) -> Environments:
    try:
        environments = kept(manifest, variables)
    except (OSError, RuntimeError, ValueError) as error:
        raise Unanswered(f"the folder of hatch's environments cannot be determined: {error}") from error
    if not environments:
        raise nothing_yet("hatch")
    return [(name, virtualenv.python(prefix)) for name, prefix in environments]


def kept(manifest: Manifest, variables: Variables) -> list[tuple[str, Path]]:
    """The environments that exist: name and prefix, likeliest first, one name for each prefix."""
    options = table(toml(manifest.folder / "hatch.toml"), "envs") or manifest.table(*TABLE)
    names: dict[Path, str] = {}
    for wanted in _NAMES:
        for name, prefix in _named(wanted, options, manifest, variables):
            names.setdefault(prefix, name)
    return [(name, prefix) for prefix, name in names.items()]


def _named(
    name: str, options: Mapping[str, Any], manifest: Manifest, variables: Variables
) -> Iterator[tuple[str, Path]]:
    """The environment of this name, or those of its matrix, newest Python first."""
    project = _project(manifest)
    path = variables.get("HATCH_ENV_TYPE_VIRTUAL_PATH") or _path(options, name)
    if path:
        prefixes = [(manifest.folder / path).resolve()]
    else:
        folders = files.folders(_store(manifest, variables))
        prefixes = [each for each in folders if _is_named(each.name, name, project)]
    for prefix in virtualenv.newest_first(filter(virtualenv.is_environment, prefixes)):
        yield name if path or prefix.name == project else prefix.name, prefix


def _is_named(folder: str, name: str, project: str) -> bool:
    if name == "default":
        return folder == project
    return (folder == name or folder.startswith(f"{name}.")) and not folder.endswith(_FOR_BUILDS)


def _path(options: Mapping[str, Any], name: str) -> str | None:
    """The path of an environment or of its template. hatch's own environments have no template."""
    own = table(options, name)
    is_alone = own.get("detached") or name.startswith("hatch-")
    templates = [] if is_alone else [table(options, str(own.get("template"))), table(options, "default")]
    paths = [each.get("path") for each in (own, *templates)]
    return next((path for path in paths if isinstance(path, str)), None)


def _store(manifest: Manifest, variables: Variables) -> Path:
    """The folder with this project's environments."""
    chosen = variables.get("HATCH_CONFIG")
    settings = toml(Path(chosen) if chosen else user_dirs.folder("config", variables) / "hatch" / "config.toml")
    folders = table(settings, "dirs")
    if isinstance(named := table(folders, "env").get("virtual"), str):
        store = manifest.folder / user_dirs.expanded(named, variables)
    else:
        data = variables.get("HATCH_DATA_DIR") or folders.get("data") or user_dirs.folder("data", variables) / "hatch"
        store = user_dirs.expanded(str(data), variables) / "env" / "virtual"
    if store == user_dirs.home(variables) / _FLAT or manifest.folder in store.resolve().parents:
        return store
    root = str(manifest.folder.resolve())
    return store / _project(manifest) / user_dirs.mark(root.casefold() if sys.platform == "darwin" else root)


def _project(manifest: Manifest) -> str:
    name = manifest.table("project").get("name")
    return re.sub(r"[-_.]+", "-", name if isinstance(name, str) else manifest.folder.name).lower()
