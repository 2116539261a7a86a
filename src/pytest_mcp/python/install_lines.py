"""The line that brings pytest, or another package, into a project's environment, by the manager that the project uses.

uv, poetry, conda and pip install the group, extra or file that declares it. The others are rows of a table. A line is
typed in the root and deletes nothing. Which manager is chosen is decided in `advice`.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from pytest_mcp.python import conda, files, requirements, shell, uv, virtualenv
from pytest_mcp.python.manager import Manager
from pytest_mcp.python.manifest import Manifest, read_manifest, table, toml
from pytest_mcp.python.requirements import Declaration, best
from pytest_mcp.python.shell import Step

# The first pip with `--group`. Installing it is a no-op where it is there.
_WITH_GROUPS = "pip>=25.1"
_REQUIREMENTS = ("*requirements*.txt", "requirements/*.txt")
# In each folder.
_MOST_FILES = 20
# Locks grow with a project, and are only searched.
_MOST_OF_A_LOCK = 8 * 1024 * 1024


@dataclass(frozen=True)
class Project:
    root: Path
    # What the call pointed at, inside the root.
    folder: Path
    # The nearest folder upward that uses a manager, otherwise the root.
    home: Manifest
    # Pythons that work but lack the package, best first.
    lacking: Sequence[Path] = ()
    # What is added if it is not declared.
    package: str = "pytest"
    # Where programs are looked for, to see which managers are installed.
    search_path: str = ""

    def has_program(self, name: str) -> bool:
        """Also in an environment of the project."""
        folders = [self.search_path, *(str(python.parent) for python in self.lacking)]
        return shutil.which(name, path=os.pathsep.join(folders)) is not None

    def at(self, option: str, home: Path | None = None) -> list[str]:
        """The option that points a manager at its folder; nothing if the line is typed there."""
        folder = home or self.home.folder
        return [] if folder == self.root else [option, shell.shown(folder, self.root)]

    @property
    def new(self) -> Path:
        """Where an environment is created."""
        return self.root / virtualenv.FOLDERS[0]


@dataclass(frozen=True)
class _Row:
    """The commands of a manager: one installs what is declared, the other is followed by a package to add."""

    install: tuple[str, ...]
    add: tuple[str, ...]
    # Which lists of pyproject.toml it always installs.
    main: bool = True
    groups: bool = False
    # Whether it fails if there is a broken environment in the project.
    needs_room: bool = False
    # Whether a package can follow.
    can_add: bool = True


_ROWS = {
    "pdm": _Row(("pdm", "install"), ("pdm", "add", "-dG", "test"), groups=True),
    # Running something brings an environment up to date. The one for tests always has pytest.
    "hatch": _Row(
        ("hatch", "run", "python", "-m", "pytest", "--version"), ("hatch", "test", "--", "--version"), can_add=False
    ),
    "pipenv": _Row(("pipenv", "install", "--dev"), ("pipenv", "install", "--dev"), main=False, needs_room=True),
    "pixi": _Row(("pixi", "install"), ("pixi", "add")),
}
# In their own files, or of the environment that they use by default: what lists packages.
_LISTS = ("dependencies", "extra-dependencies", "pypi-dependencies", "packages", "dev-packages")
_DEFAULTS = ((), ("default",), ("envs", "default"))


def can_install(manager: Manager, project: Project) -> bool:
    if manager.name == "conda":
        # Not into an environment that works and is not conda's.
        return not project.lacking or conda.is_environment(virtualenv.of(project.lacking[0]))
    return not manager.needs_pyproject or (project.home.folder / "pyproject.toml").is_file()


def can_add(manager: Manager) -> bool:
    return manager.name not in _ROWS or _ROWS[manager.name].can_add


def declared(manager: Manager, project: Project) -> Declaration | None:
    """Where the project declares pytest for this manager."""
    return _DECLARED[manager.name](project) if manager.name in _DECLARED else _listed(manager, project)


def line(manager: Manager, project: Project, wanted: Declaration | None) -> str:
    """Installs what is declared, or adds the project's package."""
    if manager.name in _LINES:
        return _LINES[manager.name](project, wanted)
    row, environment = _ROWS[manager.name], project.home.folder / virtualenv.FOLDERS[0]
    is_broken = row.needs_room and not virtualenv.starts(environment)
    there = [step] if (step := project.at("cd")) else []
    words = row.install if wanted else (*row.add, *([project.package] if row.can_add else []))
    return shell.line([*(shell.aside(environment, project.root) if is_broken else []), *there, words])


def _listed(manager: Manager, project: Project) -> Declaration | None:
    home, row = project.home, _ROWS[manager.name]
    main, *others = requirements.standard(home, group="", extra="extra")
    groups = [each for each in others if not each.options]
    files_of_it = [*(toml(home.folder / file) for file in manager.files), home.table(*manager.table)]
    own = [table(each, *names) for each in files_of_it for names in _DEFAULTS]
    lists = [Declaration((), requirements.names(each.get(key))) for each in own for key in _LISTS]
    return best([*([main] if row.main else []), *(groups if row.groups else []), *lists])


# uv


def _declared_for_uv(project: Project) -> Declaration | None:
    """In a workspace, the nearest folder that declares it."""
    shared = _workspace_inside(project)
    homes = map(read_manifest, files.upward(project.folder, shared.folder)) if shared else [project.home]
    return next(filter(None, map(_in_uv, homes)), None)


def _in_uv(home: Manifest) -> Declaration | None:
    legacy = Declaration(("--group", "dev"), requirements.names(home.table("tool", "uv").get("dev-dependencies")))
    return best([*requirements.standard(home, group="--group", extra="--extra"), legacy])


def _uv(project: Project, wanted: Declaration | None) -> str:
    """If the workspace is above the root, the root gets an environment of its own."""
    shared = _workspace_inside(project)
    is_above = shared is None and uv.workspace(project.folder) is not None
    home = (shared or project.home).folder
    environment = (project.root if is_above else home) / virtualenv.FOLDERS[0]
    # uv replaces a broken environment, but refuses a folder that is not an environment.
    steps = [] if virtualenv.is_environment(environment) else shell.aside(environment, project.root)
    # Without `--inexact`, uv removes packages that were installed by other means.
    keeping = ["--inexact"] if environment in map(virtualenv.of, project.lacking) else []
    sync = ["uv", "sync", *project.at("--project", home), *(["--all-packages"] if shared else []), *keeping]
    if wanted is not None:
        steps = [*steps, [*sync, *wanted.options]]
    elif shared is not None:
        into = ["--python", shell.shown(environment, project.root)]
        steps = [*steps, [*sync, "--all-groups"], ["uv", "pip", "install", *into, project.package]]
    else:
        steps = [*steps, ["uv", "add", *project.at("--project"), "--dev", project.package]]
    return shell.line(steps, variables=f'{uv.Uv.variable}="$PWD"/{environment.name}' if is_above else "")


def _workspace_inside(project: Project) -> Manifest | None:
    """Files above the root are ignored."""
    found = uv.workspace(project.folder)
    return found if found is not None and found.folder.is_relative_to(project.root) else None


# poetry


def _declared_for_poetry(project: Project) -> Declaration | None:
    own = project.home.table("tool", "poetry")
    required = {name: value for name, value in table(own, "dependencies").items() if not _is_optional(value)}
    groups = {name: table(own, "group", name).get("dependencies") for name in table(own, "group")}
    return best(
        [
            *requirements.standard(project.home, group="--with", extra="--extras"),
            Declaration((), requirements.names(required)),
            *requirements.of_tables("--with", groups),
            Declaration(("--with", "dev"), requirements.names(own.get("dev-dependencies"))),
            *requirements.of_tables("--extras", table(own, "extras")),
        ]
    )


def _is_optional(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("optional") is True


def _poetry(project: Project, wanted: Declaration | None) -> str:
    start = ["poetry", *project.at("-C")]
    if wanted is None:
        return shell.line([[*start, "add", "--group", "dev", project.package]])
    lock = files.text(project.home.folder / "poetry.lock", _MOST_OF_A_LOCK)
    # poetry refuses to install from a lock that is older than what is declared.
    relock = [[*start, "lock"]] if lock and 'name = "pytest"' not in lock else []
    return shell.line([*relock, [*start, "install", *wanted.options]])


# conda


def _declared_for_conda(project: Project) -> Declaration | None:
    return best(Declaration((), conda.listed(path), path.name) for path in _described(project))


def _conda(project: Project, wanted: Declaration | None) -> str:
    """A new environment gets a path where it is found; one with a name would have to be activated."""
    file = project.home.folder / wanted.name if wanted else _described(project)[0]
    prefix = virtualenv.of(project.lacking[0]) if project.lacking else project.new
    of_file = ["--prefix", shell.shown(prefix, project.root), "--file", shell.shown(file, project.root)]
    steps: list[Step] = [] if project.lacking else shell.aside(project.new, project.root)
    if wanted or not project.lacking:
        steps = [*steps, ["conda", "env", "update" if project.lacking else "create", *of_file]]
    return shell.line(steps if wanted else [*steps, _conda_install(project, prefix)])


def _described(project: Project) -> list[Path]:
    return [path for name in conda.Conda.files if (path := project.home.folder / name).is_file()]


def _conda_install(project: Project, prefix: Path) -> Step:
    return ["conda", "install", "--yes", "--prefix", shell.shown(prefix, project.root), project.package]


# pip


def finds_something(project: Project) -> bool:
    """Whether the project can be built, has a requirements.txt, or declares pytest where pip reads it."""
    return _declared_for_pip(project) is not None or bool(_of_project(project, None))


def of_project(project: Project) -> str | None:
    """Install the project itself and its requirements into the first environment; None if it has neither."""
    options = _of_project(project, Declaration((), frozenset(), folder=project.folder))
    return shell.line(_steps_into(project, Declaration(tuple(options), frozenset()))) if options else None


def _declared_for_pip(project: Project) -> Declaration | None:
    """In the nearest folder: in a file, an extra or a group, in this order."""
    homes = files.upward(project.folder, project.root)
    return next(filter(None, (_in_folder(folder, project.root) for folder in homes)), None)


def _in_folder(folder: Path, root: Path) -> Declaration | None:
    place = _place(folder, root)
    found = [file for pattern in _REQUIREMENTS for file in sorted(islice(folder.glob(pattern), _MOST_FILES))]
    listed = [
        # Files that it includes are listed on their own.
        Declaration(("-r", str(Path(place, file.relative_to(folder)))), of_file(file), file.name)
        for file in found[:_MOST_FILES]
        if file.name.isprintable()
    ]
    main, *others = requirements.standard(read_manifest(folder), group="--group", extra="-e")
    packaged = [replace(main, options=("-e", place))]
    packaged += [replace(each, options=("-e", f"{place}[{each.name}]")) for each in others if each.options[0] == "-e"]
    start = "" if folder == root else f"{place}/pyproject.toml:"
    grouped = [
        replace(each, options=("--group", f"{start}{each.name}")) for each in others if "--group" in each.options
    ]
    kinds = [each for each in map(best, (listed, packaged, grouped)) if each is not None]
    chosen = max(kinds, key=lambda each: each.weight, default=None)
    return chosen and replace(chosen, folder=folder)


def of_file(file: Path) -> requirements.Names:
    return requirements.names(files.text(file).splitlines())


def _pip(project: Project, wanted: Declaration | None) -> str:
    """Into the first environment that works, otherwise into a new one together with the project."""
    if project.lacking:
        return shell.line(_steps_into(project, wanted))
    options = [*_of_project(project, wanted), *_options(project, wanted)]
    # A broken environment is kept: `venv` cannot repair it, and `venv --clear` would delete its contents.
    made = [*shell.aside(project.new, project.root), ["python3", "-m", "venv", project.new.name]]
    return shell.line([*made, *_pip_steps(shell.shown(virtualenv.python(project.new), project.root), options)])


def _steps_into(project: Project, wanted: Declaration | None) -> list[Step]:
    python, options = project.lacking[0], _options(project, wanted)
    prefix, shown = virtualenv.of(python), shell.shown(python, project.root)
    if wanted is None and conda.is_environment(prefix):
        return [_conda_install(project, prefix)]
    if lacks_pip(prefix) and "uv" in virtualenv.settings(prefix) and project.has_program("uv"):
        return [["uv", "pip", "install", "--python", shown, *options]]
    return [*([[shown, "-m", "ensurepip"]] if lacks_pip(prefix) else []), *_pip_steps(shown, options)]


def lacks_pip(prefix: Path) -> bool:
    """False if unknown: an environment that sees the packages of others may find pip there."""
    said = virtualenv.settings(prefix)
    sees_others = said.get("include-system-site-packages") == "true"
    return bool(said) and not sees_others and not virtualenv.has(prefix, "pip")


def _options(project: Project, wanted: Declaration | None) -> tuple[str, ...]:
    return wanted.options if wanted else (project.package,)


def _pip_steps(python: str, options: Sequence[str]) -> list[Step]:
    install = [python, "-m", "pip", "install"]
    return [*([[*install, _WITH_GROUPS]] if "--group" in options else []), [*install, *options]]


def _place(folder: Path, root: Path) -> str:
    """As pip is told it: with a dot, since a bare name would be a package of the index."""
    return "." if folder == root else f"./{folder.relative_to(root).as_posix()}"


def _of_project(project: Project, wanted: Declaration | None) -> list[str]:
    """The project itself, if it can be built, and its requirements.txt, unless `wanted` contains them."""
    folder = (wanted and wanted.folder) or project.root
    place, options = _place(folder, project.root), wanted.options if wanted else ()
    is_built = read_manifest(folder).table("build-system") or (folder / "setup.py").is_file()
    usual = str(Path(place, "requirements.txt"))
    built = ["-e", place] if is_built and "-e" not in options else []
    listed = ["-r", usual] if (folder / "requirements.txt").is_file() and usual not in options else []
    return [*built, *listed]


_DECLARED: Mapping[str, Callable[[Project], Declaration | None]] = {
    "uv": _declared_for_uv,
    "poetry": _declared_for_poetry,
    "conda": _declared_for_conda,
    "pip": _declared_for_pip,
}
_LINES: Mapping[str, Callable[[Project, Declaration | None], str]] = {
    "uv": _uv,
    "poetry": _poetry,
    "conda": _conda,
    "pip": _pip,
}
