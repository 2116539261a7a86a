"""hatch: keeps environments in a folder of the user that settings, variables and the project decide.

hatch is not asked: `hatch env find` installs what `tool.hatch.env.requires` lists, runs collectors that are part of
the project, and writes a settings file if there is none. So its files are read instead.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_mcp.python import files, user_dirs, uv, virtualenv
from pytest_mcp.python.files import Manifest, table, toml
from pytest_mcp.python.manager import Answers, Manager, Variables

# Where tests are likely to run: what `hatch run` uses, what `hatch test` uses, and what was usual before that.
_NAMES = ("default", "hatch-test", "test")
# The environment that hatch builds with is kept beside the one that it builds for.
_FOR_BUILDS = "-build"
_VARIABLES = re.compile(r"py(py)?\d")
_USUAL_TYPE = "virtual"
_FLAT = ".virtualenvs"
_CASE_MATTERS = sys.platform not in ("darwin", "win32")


class Hatch(Manager):
    name = "hatch"
    keeps_elsewhere = True
    files = ("hatch.toml",)
    # `tool.hatch` alone does not count: it may be settings of hatchling.
    table = ("tool", "hatch", "envs")
    backend = "hatchling.build"

    async def environments(self, manifest: Manifest, variables: Variables, _root: Path) -> Answers:
        try:
            environments = kept(manifest, variables)
        except (OSError, RuntimeError, ValueError) as error:
            return self.no_answer(f"the folder of hatch's environments cannot be determined: {error}")
        return tuple(self.answer(self.python(prefix), name) for name, prefix in environments) or (
            self.no_answer() if self.is_used(manifest) else ()
        )

    def has_member(self, manifest: Manifest, inside: Path) -> bool:
        """Each environment has its own members: a pattern, or a table with one."""
        for name in (options := _options(manifest)):
            workspace = table(options, name, "workspace")
            listed = workspace.get("members")
            members = listed if isinstance(listed, list) else []
            patterns = [each.get("path") if isinstance(each, Mapping) else each for each in members]
            if uv.matches(inside, patterns) and not uv.matches(inside, workspace.get("exclude")):
                return True
        return False


def _options(manifest: Manifest) -> Mapping[str, Any]:
    return table(toml(manifest.folder / "hatch.toml"), "envs") or manifest.table(*Hatch.table)


def kept(manifest: Manifest, variables: Variables) -> list[tuple[str, Path]]:
    """The environments that exist: name and prefix, likeliest first."""
    options = _options(manifest)
    names: dict[Path, str] = {}
    for name, prefix in chain.from_iterable(_named(name, options, manifest, variables) for name in _NAMES):
        # Several may share a path.
        names.setdefault(prefix, name)
    return [(name, prefix) for prefix, name in names.items()]


def _named(
    name: str, options: Mapping[str, Any], manifest: Manifest, variables: Variables
) -> Iterable[tuple[str, Path]]:
    """The environment of this name, or those of its matrix, newest Python first."""
    kind = _option(options, name, "type") or _USUAL_TYPE
    path = variables.get(f"HATCH_ENV_TYPE_{kind.upper().replace('-', '_')}_PATH") or _option(options, name, "path")
    if path:
        here = [Path(path) if Path(path).is_absolute() else (manifest.folder / path).resolve()]
    else:
        store = _store(kind, manifest, variables)
        here = [folder for folder in files.folders(store) if _is_named(folder.name, name, options, manifest)]
    for prefix in virtualenv.newest_first(filter(virtualenv.is_environment, here)):
        yield name if path or prefix.name == _project(manifest) else prefix.name, prefix


def _is_named(folder: str, name: str, options: Mapping[str, Any], manifest: Manifest) -> bool:
    if name == "default" and folder == _project(manifest):
        return True
    if folder.endswith(_FOR_BUILDS):
        return False
    if name == "default":
        # Environments of its matrix are named after their variables only, Python's first.
        return "matrix" in table(options, name) and bool(_VARIABLES.match(folder))
    return folder == name or folder.startswith(f"{name}.")


def _option(options: Mapping[str, Any], name: str, option: str) -> str | None:
    """The option of an environment or of its template. hatch's own environments have no template."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        own = table(options, name)
        if isinstance(value := own.get(option), str):
            return value
        usual = name if name.startswith("hatch-") else "default"
        name = name if own.get("detached") else str(own.get("template", usual))
    return None


def _store(kind: str, manifest: Manifest, variables: Variables) -> Path:
    """The folder with this project's environments of this kind."""
    chosen = variables.get("HATCH_CONFIG")
    settings = toml(Path(chosen) if chosen else user_dirs.folder("config", variables) / "hatch" / "config.toml")
    folders = table(settings, "dirs")
    if isinstance(named := table(folders, "env").get(kind), str):
        store = manifest.folder / user_dirs.expanded(named, variables)
    else:
        data = variables.get("HATCH_DATA_DIR") or folders.get("data") or user_dirs.folder("data", variables) / "hatch"
        store = user_dirs.expanded(str(data), variables) / "env" / kind
    if store == user_dirs.home(variables) / _FLAT or manifest.folder in store.resolve().parents:
        return store
    root = str(manifest.folder.resolve())
    return store / _project(manifest) / user_dirs.mark(root if _CASE_MATTERS else root.casefold())


def _project(manifest: Manifest) -> str:
    name = manifest.table("project").get("name")
    return re.sub(r"[-_.]+", "-", name if isinstance(name, str) else manifest.folder.name).lower()
