"""The environment managers: how a project shows that it uses one, and which environments each keeps for it.

Each is a row. poetry and pipenv are asked, in `asked_managers`; files of hatch are read in `hatch`. Nothing is written.
Which environment is used is decided in `interpreter`, with which line a manager installs pytest in `install_lines`.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.python import asked_managers, files, hatch, uv, virtualenv
from pytest_mcp.python.asked_managers import Environments, Variables
from pytest_mcp.python.files import Manifest, read_manifest
from pytest_mcp.python.query import Unanswered

# Variables that name an environment which is active in the shell that started the server, best first. An active
# virtual environment comes before conda's, which is often active in every shell.
ACTIVE = ("UV_PROJECT_ENVIRONMENT", "VIRTUAL_ENV", "CONDA_PREFIX")
_PDM_CHOICE = ".pdm-python"
_PDM_PACKAGES = "__pypackages__"
_MAX_PATH = 4096


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


UV = Manager("uv", ("uv.lock", "uv.toml"), ("tool", "uv"), needs_pyproject=True, backend="uv_build")
CONDA = Manager("conda", ("environment.yml", "environment.yaml"))
# For projects that use no manager.
PLAIN = Manager("pip")
# In the order in which they are asked and in which their install lines are preferred.
MANAGERS = (
    UV,
    Manager("poetry", ("poetry.lock", "poetry.toml"), ("tool", "poetry"), asked_managers.poetry, needs_pyproject=True),
    Manager("pdm", ("pdm.lock", _PDM_CHOICE), ("tool", "pdm"), _pdm, needs_pyproject=True),
    Manager("hatch", ("hatch.toml",), hatch.TABLE, hatch.hatch, weak_backend="hatchling.build"),
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
    is_base = variables.get("CONDA_DEFAULT_ENV") == "base" or (prefix / "condabin").is_dir()
    return "is conda's base environment, not the project's" if variable == "CONDA_PREFIX" and is_base else None
