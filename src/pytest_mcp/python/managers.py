"""The environment managers: how a project shows that it uses one, and which environments each keeps for it.

Each is a row. poetry and pipenv are asked, in `asked_managers`; the files of pdm and hatch are read here. Nothing is
written. Which environment is used is decided in `interpreter`, which line installs pytest in `install_lines`.
"""

import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.python import asked_managers, files, user_dirs, uv, virtualenv
from pytest_mcp.python.asked_managers import Environments, Variables, nothing_yet
from pytest_mcp.python.files import Manifest, read_manifest, table, toml
from pytest_mcp.python.query import Unanswered

# Variables that name an environment which is active in the shell that started the server, best first. An active
# virtual environment comes before conda's, which is often active in every shell.
ACTIVE = ("UV_PROJECT_ENVIRONMENT", "VIRTUAL_ENV", "CONDA_PREFIX")
_PDM_CHOICE = ".pdm-python"
_PDM_PACKAGES = "__pypackages__"
_MAX_PATH = 4096
# `tool.hatch` alone does not show that hatch is used: it may be settings of hatchling.
_HATCH_TABLE = ("tool", "hatch", "envs")
# Where tests are likely to run: what `hatch run` uses, what `hatch test` uses, and what was usual before that.
_HATCH_NAMES = ("default", "hatch-test", "test")
# The environment that hatch builds with is kept beside the one that it builds for.
_HATCH_BUILDS = "-build"
_HATCH_FLAT = ".virtualenvs"


@dataclass(frozen=True)
class Manager:
    name: str
    # A project uses the manager if it has one of these files, this table in its pyproject.toml or this build backend.
    files: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    # The environments that it keeps elsewhere. Raises Unanswered. No program in the root, given last, is started.
    environments: Callable[[Manifest, Variables, Path], Awaitable[Environments]] | None = None
    needs_pyproject: bool = False
    backend: str | None = None
    # A sign only if there is no other: many projects only build with it.
    weak_backend: str | None = None

    def is_used(self, manifest: Manifest) -> bool:
        has_table = bool(self.table and manifest.table(*self.table))
        return has_table or builds(manifest, self.backend) or self._has_file(manifest, self.files)

    def has_locked(self, manifest: Manifest) -> bool:
        """If a project shows several managers, the ones with a lock are really used."""
        return self._has_file(manifest, [file for file in self.files if file.endswith(".lock")])

    def _has_file(self, manifest: Manifest, names: Iterable[str]) -> bool:
        return any(files.holds((manifest.folder / name).is_file) for name in names)


def builds(manifest: Manifest, backend: str | None) -> bool:
    return backend is not None and manifest.table("build-system").get("build-backend") == backend


async def _pdm(manifest: Manifest, _variables: Variables, _root: Path) -> Environments:
    """pdm names the Python that it chose in a file. It is not asked: `pdm info` can create an environment."""
    named = files.text(manifest.folder / _PDM_CHOICE, _MAX_PATH).strip()
    if not named:
        raise Unanswered("pdm has chosen no Python for this project yet")
    if not named.isprintable():
        raise Unanswered(f"{_PDM_CHOICE} does not contain a path")
    python = manifest.folder / named
    is_virtual = virtualenv.is_environment(virtualenv.prefix_of(python))
    if not is_virtual and (manifest.folder / _PDM_PACKAGES).is_dir():
        raise Unanswered(f"{python} cannot import from {_PDM_PACKAGES}, where pdm keeps this project's packages")
    return [("", python)]


async def _hatch(manifest: Manifest, variables: Variables, _root: Path) -> Environments:
    """hatch is not asked: `hatch env find` installs what the project lists, runs its collectors and writes settings."""
    try:
        environments = kept_by_hatch(manifest, variables)
    except (OSError, RuntimeError, ValueError) as error:
        raise Unanswered(f"the folder of hatch's environments cannot be determined: {error}") from error
    if not environments:
        raise nothing_yet("hatch")
    return [(name, virtualenv.python(prefix)) for name, prefix in environments]


def kept_by_hatch(manifest: Manifest, variables: Variables) -> list[tuple[str, Path]]:
    """The environments that exist: name and prefix, likeliest first, one name for each prefix."""
    options = table(toml(manifest.folder / "hatch.toml"), "envs") or manifest.table(*_HATCH_TABLE)
    names: dict[Path, str] = {}
    for wanted in _HATCH_NAMES:
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
    return (folder == name or folder.startswith(f"{name}.")) and not folder.endswith(_HATCH_BUILDS)


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
    if store == user_dirs.home(variables) / _HATCH_FLAT or manifest.folder in store.resolve().parents:
        return store
    root = str(manifest.folder.resolve())
    return store / _project(manifest) / user_dirs.mark(root.casefold() if sys.platform == "darwin" else root)


def _project(manifest: Manifest) -> str:
    name = manifest.table("project").get("name")
    return re.sub(r"[-_.]+", "-", name if isinstance(name, str) else manifest.folder.name).lower()


UV = Manager("uv", ("uv.lock", "uv.toml"), ("tool", "uv"), needs_pyproject=True, backend="uv_build")
CONDA = Manager("conda", ("environment.yml", "environment.yaml"))
# For projects that use no manager.
PLAIN = Manager("pip")
# In the order in which they are asked and in which their install lines are preferred.
MANAGERS = (
    UV,
    Manager("poetry", ("poetry.lock", "poetry.toml"), ("tool", "poetry"), asked_managers.poetry, needs_pyproject=True),
    Manager("pdm", ("pdm.lock", _PDM_CHOICE), ("tool", "pdm"), _pdm, needs_pyproject=True),
    Manager("hatch", ("hatch.toml",), _HATCH_TABLE, _hatch, weak_backend="hatchling.build"),
    Manager("pipenv", ("Pipfile", "Pipfile.lock"), (), asked_managers.pipenv),
    Manager("pixi", ("pixi.toml", "pixi.lock"), ("tool", "pixi")),
    PLAIN,
    CONDA,
)


def used_managers(manifest: Manifest, *, by_backend: bool = True) -> list[Manager]:
    by_signs = [manager for manager in MANAGERS if manager.is_used(manifest)]
    # A member of a workspace is installed by the workspace's manager, whatever builds it.
    shared = [UV] if manifest.pyproject and uv.workspace(manifest.folder) else []
    building = [manager for manager in MANAGERS if by_backend and builds(manifest, manager.weak_backend)]
    return by_signs or shared or building


def nearest_managed(start: Path, root: Path) -> Manifest:
    """The manifest of the first folder upward that uses a manager, otherwise the root's."""
    manifests = map(read_manifest, files.upward(start, root))
    return next(filter(used_managers, manifests), None) or read_manifest(root)


@dataclass(frozen=True)
class KeptEnvironment:
    """An environment that a manager keeps, or the reason why it has none."""

    manager: str
    source: str
    python: Path | None = None
    problem: str | None = None


async def kept_environments(manifest: Manifest, variables: Variables, root: Path) -> list[KeptEnvironment]:
    """What the project's managers keep for it."""
    answers = []
    for manager in used_managers(manifest):
        source = f"{manager.name}'s environment"
        try:
            kept = await manager.environments(manifest, variables, root) if manager.environments else []
        except Unanswered as reason:
            # That a manager keeps nothing is no news in a project that only builds with it.
            answers += [KeptEnvironment(manager.name, source, problem=str(reason))] if manager.is_used(manifest) else []
        else:
            answers += [KeptEnvironment(manager.name, f"{source} {name}".rstrip(), python) for name, python in kept]
    return answers


def environments_in(folder: Path) -> Environments:
    """Those that pixi keeps in a folder."""
    prefixes = files.folders(folder / ".pixi" / "envs")
    ordered = sorted(prefixes, key=lambda prefix: prefix.name != "default")
    return [(f"pixi's environment {prefix.name}", virtualenv.python(prefix)) for prefix in ordered]


def why_not_active(variable: str, prefix: Path, variables: Variables) -> str | None:
    """Why the environment that a variable names is not the project's."""
    if os.path.realpath(prefix) == os.path.realpath(sys.prefix):
        return "is the server's own environment, not the project's"
    is_base = variables.get("CONDA_DEFAULT_ENV") == "base" or (prefix / "condabin").is_dir()
    return "is conda's base environment, not the project's" if variable == "CONDA_PREFIX" and is_base else None
