"""The shell line that brings pytest, or another package, into a project's environment, by the manager it uses.

uv, poetry, conda and pip install the group, extra or file that declares pytest; the others add it. A line is typed in
the root and deletes nothing. Which manager is chosen is decided in `remedies`.

Naming a group that is installed by default does no harm, so nothing has to be known about defaults or about groups
that include each other.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Literal

from pytest_mcp.python import files, uv, virtualenv
from pytest_mcp.python.files import PACKAGE_NAME, Manifest, package_names, read_manifest, table
from pytest_mcp.python.managers import CONDA, PLAIN, UV, Manager

# The first pip with `--group`. Installing it is a no-op where it is there.
_WITH_GROUPS = "pip>=25.1"
_REQUIREMENTS = ("*requirements*.txt", "requirements/*.txt")
# In each folder.
_MAX_FILES = 20
# Locks grow with a project, and are only searched.
_MAX_OF_A_LOCK = 8 * 1024 * 1024
# Named like plugins, but they do not depend on pytest.
_WITHOUT_PYTEST = frozenset({"pytest-runner", "pytest-mcp-server"})
_PYTEST = re.compile(r"pytest(-.*)?")
_CONDA_CHANNEL = re.compile(r"^[\w./-]*::")

Step = Sequence[str]
ListKind = Literal["main", "group", "extra", "file"]


@dataclass(frozen=True)
class Situation:
    """What is known of a project whose environment lacks a package."""

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

    def at(self, option: str, folder: Path) -> list[str]:
        """The option that points a manager at its folder; nothing if the line is typed there."""
        return [] if folder == self.root else [option, self.typed(folder)]

    def typed(self, path: Path) -> str:
        """The path as it is typed in the root."""
        if not path.is_relative_to(self.root):
            return str(path)
        inside = path.relative_to(self.root).as_posix()
        return f"./{inside}" if inside.startswith("-") else inside

    def aside(self, path: Path) -> list[Step]:
        """Rename what is at this path, if anything, to a free name."""
        others = (path.with_name(f"{path.name}-broken{number or ''}") for number in count())
        free = next(other for other in others if not os.path.lexists(other))
        return [["mv", self.typed(path), self.typed(free)]] if os.path.lexists(path) else []


@dataclass(frozen=True)
class Declaration:
    """A list of packages: the main one, or that of the group, extra or file with this name."""

    kind: ListKind
    folder: Path
    packages: frozenset[str]
    name: str = ""

    @property
    def likeness(self) -> tuple[bool, ...]:
        """How much it is a list for tests: with pytest itself, not only plugins, and named after tests."""
        return "pytest" in self.packages, "test" in self.name.lower(), "dev" in self.name.lower()


# What each manager can install, best first. What is declared for other managers alone is not read.
_KINDS: Mapping[str, Sequence[ListKind]] = {
    "uv": ("main", "group", "extra"),
    "poetry": ("main", "group", "extra"),
    "pdm": ("main", "group"),
    "pip": ("file", "extra", "main", "group"),
    "conda": ("file",),
}
# What adds a package. Running something brings an environment of hatch up to date; the one for tests always has pytest.
_ADDING = {
    "pdm": "pdm add -dG test {}",
    "hatch": "hatch test -- --version",
    "pipenv": "pipenv install --dev {}",
    "pixi": "pixi add {}",
}


def can_add(manager: Manager) -> bool:
    return "{}" in _ADDING.get(manager.name, "{}")


def declaration(manager: Manager, situation: Situation) -> Declaration | None:
    """Where the project declares pytest for this manager: for pip and in a workspace, in the nearest folder."""
    kinds = _KINDS.get(manager.name, ())
    last = {UV: uv.workspace(situation.folder, situation.root), PLAIN: situation.root}.get(manager)
    for home in [situation.home] if last is None else map(read_manifest, files.upward(situation.folder, last)):
        lists = [each for each in _declared(manager, home) if each.kind in kinds]
        # Plugins depend on pytest.
        bringing = [each for each in lists if any(map(_PYTEST.fullmatch, each.packages - _WITHOUT_PYTEST))]
        if bringing:
            return max(bringing, key=lambda each: (each.likeness[0], -kinds.index(each.kind), each.likeness))
    return None


def _named(kind: ListKind, home: Manifest, lists: Mapping[str, object]) -> Iterator[Declaration]:
    """Managers accept no names that would have to be quoted."""
    names = filter(PACKAGE_NAME.fullmatch, lists)
    return (Declaration(kind, home.folder, package_names(lists[name]), name) for name in names)


def _declared(manager: Manager, home: Manifest) -> Iterator[Declaration]:
    """What pyproject.toml declares for every manager, and what is declared for this one alone."""
    yield Declaration("main", home.folder, package_names(home.table("project").get("dependencies")))
    yield from _named("group", home, home.table("dependency-groups"))
    yield from _named("extra", home, home.table("project", "optional-dependencies"))
    if manager.name == "poetry":
        own = home.table(*manager.table)
        needs = table(own, "dependencies")
        required = [name for name, need in needs.items() if not (isinstance(need, Mapping) and need.get("optional"))]
        yield Declaration("main", home.folder, package_names(required))
        groups = {name: table(own, "group", name).get("dependencies") for name in table(own, "group")}
        yield from _named("group", home, {"dev": own.get("dev-dependencies"), **groups})
        yield from _named("extra", home, table(own, "extras"))
    elif manager in (CONDA, PLAIN):
        for path in islice(_lists(manager, home), _MAX_FILES):
            # Every item in a list for conda counts: nothing else there is named pytest. Files that a list for pip
            # includes are lists of their own.
            lines = [line.strip().removeprefix("-").strip(" \t'\"") for line in files.text(path).splitlines()]
            items = lines if manager is PLAIN else [_CONDA_CHANNEL.sub("", line) for line in lines]
            yield Declaration("file", home.folder, package_names(items), str(path.relative_to(home.folder)))


def _lists(manager: Manager, home: Manifest) -> Iterator[Path]:
    for pattern in _REQUIREMENTS if manager is PLAIN else manager.files:
        yield from (path for path in files.matching(home.folder, pattern) if path.name.isprintable())


def install_line(manager: Manager, situation: Situation, *, add: bool = False) -> str:
    """Installs what is declared; adds the situation's package if nothing is, or if that is asked for."""
    wanted = None if add else declaration(manager, situation)
    if manager.name in _STEPS:
        return shell_line(_STEPS[manager.name](situation, wanted))
    home = situation.home.folder
    environment = home / virtualenv.FOLDERS[0]
    room = [] if virtualenv.starts(environment) else situation.aside(environment)
    there = [change] if (change := situation.at("cd", home)) else []
    step = "pdm install" if wanted else _ADDING[manager.name].format(situation.package)
    return shell_line([*room, *there, step.split()])


def shell_line(steps: Iterable[Step]) -> str:
    return " && ".join(map(shlex.join, steps))


def _uv(situation: Situation, wanted: Declaration | None) -> list[Step]:
    shared = uv.workspace(situation.folder, situation.root)
    home = shared or situation.home.folder
    # If the workspace is above the root, the root gets an environment of its own.
    is_above = shared is None and uv.workspace(home) is not None
    environment = (situation.root if is_above else home) / virtualenv.FOLDERS[0]
    own = ["env", f"UV_PROJECT_ENVIRONMENT={environment}"] if is_above else []
    # uv replaces a broken environment, but refuses a folder that is not an environment.
    room = [] if virtualenv.is_environment(environment) else situation.aside(environment)
    # Without `--inexact`, uv removes packages that were installed by other means.
    keeping = ["--inexact"] if environment in map(virtualenv.prefix_of, situation.lacking) else []
    at = situation.at("--project", home)
    sync = [*own, "uv", "sync", *at, *(["--all-packages"] if shared else []), *keeping]
    if wanted is not None:
        return [*room, [*sync, *([] if wanted.kind == "main" else [f"--{wanted.kind}", wanted.name])]]
    if shared is None:
        return [*room, [*own, "uv", "add", *at, "--dev", situation.package]]
    into = ["--python", situation.typed(environment)]
    return [*room, [*sync, "--all-groups"], ["uv", "pip", "install", *into, situation.package]]


def _poetry(situation: Situation, wanted: Declaration | None) -> list[Step]:
    start = ["poetry", *situation.at("-C", situation.home.folder)]
    if wanted is None:
        return [[*start, "add", "--group", "dev", situation.package]]
    lock = files.text(situation.home.folder / "poetry.lock", _MAX_OF_A_LOCK)
    # poetry refuses to install from a lock that is older than what is declared.
    relock = [[*start, "lock"]] if lock and 'name = "pytest"' not in lock else []
    option = "--with" if wanted.kind == "group" else "--extras"
    return [*relock, [*start, "install", *([] if wanted.kind == "main" else [option, wanted.name])]]


def _conda(situation: Situation, wanted: Declaration | None) -> list[Step]:
    """A new environment gets a path where it is found; one with a name would have to be activated."""
    new = situation.root / virtualenv.FOLDERS[0]
    into = ["--prefix", situation.typed(virtualenv.prefix_of(situation.lacking[0]) if situation.lacking else new)]
    add: Step = ["conda", "install", "--yes", *into, situation.package]
    if situation.lacking:
        return [add]
    file = situation.typed(next(_lists(CONDA, situation.home)))
    return [*situation.aside(new), ["conda", "env", "create", *into, "--file", file], *([] if wanted else [add])]


def _pip(situation: Situation, wanted: Declaration | None) -> list[Step]:
    """Into the first environment that works, otherwise into a new one together with the project."""
    options = _pip_options(situation, wanted) if wanted else [situation.package]
    if situation.lacking:
        is_condas = virtualenv.is_condas(virtualenv.prefix_of(situation.lacking[0]))
        return _conda(situation, None) if is_condas and not wanted else into_first(situation, options)
    new = situation.root / virtualenv.FOLDERS[0]
    # A broken environment is kept: `venv` cannot repair it, and `venv --clear` would delete its contents.
    made = [*situation.aside(new), ["python3", "-m", "venv", new.name]]
    project = project_options(situation, wanted.folder if wanted else situation.root, options)
    return [*made, *_pip_install(situation.typed(virtualenv.python(new)), project)]


def into_first(situation: Situation, options: Sequence[str]) -> list[Step]:
    """Install these into the first environment that works."""
    prefix, python = virtualenv.prefix_of(situation.lacking[0]), situation.typed(situation.lacking[0])
    settings = virtualenv.settings(prefix)
    # An environment that sees the packages of others may find pip there.
    sees_others = settings.get("include-system-site-packages") == "true"
    lacks_pip = bool(settings) and not sees_others and not virtualenv.has(prefix, "pip")
    if lacks_pip and "uv" in settings and situation.has_program("uv"):
        return [["uv", "pip", "install", "--python", python, *options]]
    return [*([[python, "-m", "ensurepip"]] if lacks_pip else []), *_pip_install(python, options)]


def _pip_install(python: str, options: Sequence[str]) -> list[Step]:
    install = [python, "-m", "pip", "install"]
    return [*([[*install, _WITH_GROUPS]] if "--group" in options else []), [*install, *options]]


def _pip_options(situation: Situation, wanted: Declaration) -> list[str]:
    place = _place(situation, wanted.folder)
    if wanted.kind == "group":
        return ["--group", wanted.name if place == "." else f"{place}/pyproject.toml:{wanted.name}"]
    if wanted.kind == "file":
        return ["-r", str(Path(place, wanted.name))]
    return ["-e", f"{place}[{wanted.name}]" if wanted.name else place]


def _place(situation: Situation, folder: Path) -> str:
    """As pip is told it: with a dot, since a bare name would be a package of the index."""
    return "." if folder == situation.root else f"./{folder.relative_to(situation.root).as_posix()}"


def project_options(situation: Situation, folder: Path, options: Sequence[str] = ()) -> list[str]:
    """These, after the project in the folder if it can be built and its requirements.txt, unless they contain them."""
    place = _place(situation, folder)
    is_built = read_manifest(folder).table("build-system") or (folder / "setup.py").is_file()
    usual = str(Path(place, "requirements.txt"))
    built = ["-e", place] if is_built and "-e" not in options else []
    listed = ["-r", usual] if (folder / "requirements.txt").is_file() and usual not in options else []
    return [*built, *listed, *options]


_STEPS: Mapping[str, Callable[[Situation, Declaration | None], list[Step]]] = {
    "uv": _uv,
    "poetry": _poetry,
    "conda": _conda,
    "pip": _pip,
}
