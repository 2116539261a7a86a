"""The shell line that brings pytest, or another package, into a project's environment, by the manager it uses.

uv, poetry, conda and pip install the group, extra or file that declares pytest; the others are rows of a table. A line
is typed in the root and deletes nothing. Which manager is chosen is decided in `advice`.

Naming a group that is installed by default does no harm, so nothing has to be known about defaults or about groups
that include each other.
"""

import os
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Literal

from pytest_mcp.python import files, virtualenv
from pytest_mcp.python.files import PACKAGE_NAME, Manifest, package_names, read_manifest, table, toml
from pytest_mcp.python.manager import Manager
from pytest_mcp.python.managers import CONDA, PLAIN

# The first pip with `--group`. Installing it is a no-op where it is there.
_WITH_GROUPS = "pip>=25.1"
_REQUIREMENTS = ("*requirements*.txt", "requirements/*.txt")
# In each folder.
_MAX_FILES = 20
# Locks grow with a project, and are only searched.
_MAX_OF_A_LOCK = 8 * 1024 * 1024
# Named like plugins, but they do not depend on pytest.
_WITHOUT_PYTEST = frozenset({"pytest-runner", "pytest-mcp-server"})

Step = Sequence[str]
Kind = Literal["main", "group", "extra", "file"]


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
        if not os.path.lexists(path):
            return []
        endings = chain(["-broken"], (f"-broken-{number}" for number in count(2)))
        others = (path.with_name(path.name + ending) for ending in endings)
        return [["mv", self.typed(path), self.typed(next(each for each in others if not os.path.lexists(each)))]]

    def workspace(self, manager: Manager) -> Path | None:
        """Files above the root are ignored."""
        home = manager.shared_home(self.folder)
        return home if home is not None and home.is_relative_to(self.root) else None


@dataclass(frozen=True)
class Declaration:
    """A list of packages: the main one, or that of the group, extra or file with this name."""

    kind: Kind
    folder: Path
    packages: frozenset[str]
    name: str = ""

    @property
    def weight(self) -> int:
        """2 for pytest itself, 1 for a plugin, which depends on it, else 0."""
        if "pytest" in self.packages:
            return 2
        return int(any(name.startswith("pytest-") for name in self.packages - _WITHOUT_PYTEST))

    @property
    def likeness(self) -> int:
        """How much its name is that of a list for tests."""
        return 2 * ("test" in self.name.lower()) + ("dev" in self.name.lower())


# What each manager can install, and what it prefers: the highest number.
_RANKS: Mapping[str, Mapping[Kind, int]] = {
    "uv": {"main": 1, "group": 0, "extra": 0},
    "poetry": {"main": 1, "group": 0, "extra": 0},
    "pip": {"file": 2, "main": 1, "extra": 1, "group": 0},
    "pdm": {"main": 0, "group": 0},
    "hatch": {"main": 0, "file": 0},
    "pixi": {"main": 0, "file": 0},
    "pipenv": {"file": 0},
    "conda": {"file": 0},
}
# manager → what installs the list that it always installs, what adds a package, and where it is listed besides the
# standard: in its table of pyproject.toml, or in a file of its own.
_ROWS = {
    "pdm": ("pdm install", "pdm add -dG test {}", ()),
    # Running something brings an environment up to date. The one for tests always has pytest.
    "hatch": (
        "hatch run python -m pytest --version",
        "hatch test -- --version",
        ("dependencies", "extra-dependencies"),
    ),
    "pipenv": ("pipenv install --dev", "pipenv install --dev {}", ("packages", "dev-packages")),
    "pixi": ("pixi install", "pixi add {}", ("dependencies", "pypi-dependencies")),
}


def can_install(manager: Manager, situation: Situation) -> bool:
    if manager is CONDA:
        # Not into an environment that works and is not conda's.
        return not situation.lacking or CONDA.is_environment(virtualenv.prefix_of(situation.lacking[0]))
    return not manager.needs_pyproject or (situation.home.folder / "pyproject.toml").is_file()


def can_add(manager: Manager) -> bool:
    return manager.name not in _ROWS or "{}" in _ROWS[manager.name][1]


def declaration(manager: Manager, situation: Situation) -> Declaration | None:
    """Where the project declares pytest for this manager: for pip and in a workspace, in the nearest folder."""
    ranks = _RANKS[manager.name]
    last = situation.root if manager is PLAIN else situation.workspace(manager)
    for home in [situation.home] if last is None else map(read_manifest, files.upward(situation.folder, last)):
        lists = [each for each in (*_standard(home), *_own(manager, home)) if each.kind in ranks and each.weight]
        if lists:
            return max(lists, key=lambda each: (each.weight, ranks[each.kind], each.likeness))
    return None


def _standard(home: Manifest) -> Iterator[Declaration]:
    """What pyproject.toml declares for every manager."""
    yield Declaration("main", home.folder, package_names(home.table("project").get("dependencies")))
    yield from _named("group", home, home.table("dependency-groups"))
    yield from _named("extra", home, home.table("project", "optional-dependencies"))


def _named(kind: Kind, home: Manifest, lists: Mapping[str, object]) -> Iterator[Declaration]:
    """Managers accept no names that would have to be quoted."""
    names = filter(PACKAGE_NAME.fullmatch, lists)
    return (Declaration(kind, home.folder, package_names(lists[name]), name) for name in names)


def _own(manager: Manager, home: Manifest) -> Iterator[Declaration]:
    """What is declared for this manager alone."""
    if manager.name == "poetry":
        yield from _of_poetry(home)
    elif manager.name in _ROWS:
        tables = [home.table(*manager.table), *(toml(home.folder / file) for file in manager.files)]
        for each in chain.from_iterable((one, table(one, "default"), table(one, "envs", "default")) for one in tables):
            for key in _ROWS[manager.name][2]:
                yield Declaration("file", home.folder, package_names(each.get(key)))
    elif manager is CONDA:
        for path in _described(home):
            yield Declaration("file", home.folder, CONDA.listed(path), path.name)
    elif manager is PLAIN:
        paths = [path for pattern in _REQUIREMENTS for path in sorted(islice(home.folder.glob(pattern), _MAX_FILES))]
        for path in filter(lambda path: path.name.isprintable(), paths[:_MAX_FILES]):
            # Files that it includes are listed on their own.
            yield Declaration("file", home.folder, required_packages(path), str(path.relative_to(home.folder)))


def _of_poetry(home: Manifest) -> Iterator[Declaration]:
    own = home.table("tool", "poetry")
    needs = table(own, "dependencies")
    optional = {name for name, need in needs.items() if isinstance(need, Mapping) and need.get("optional") is True}
    yield Declaration("main", home.folder, package_names([name for name in needs if name not in optional]))
    groups = {name: table(own, "group", name).get("dependencies") for name in table(own, "group")}
    yield from _named("group", home, groups)
    yield from _named("group", home, {"dev": own.get("dev-dependencies")})
    yield from _named("extra", home, table(own, "extras"))


def _described(home: Manifest) -> list[Path]:
    return [path for name in CONDA.files if (path := home.folder / name).is_file()]


def required_packages(file: Path) -> frozenset[str]:
    return package_names(files.text(file).splitlines())


def install_line(manager: Manager, situation: Situation, wanted: Declaration | None) -> str:
    """Installs what is declared, or adds the situation's package."""
    if manager.name in _STEPS:
        return shell_line(_STEPS[manager.name](manager, situation, wanted))
    install, add, _ = _ROWS[manager.name]
    home = situation.home.folder
    environment = home / virtualenv.FOLDERS[0]
    room = [] if virtualenv.starts(environment) else situation.aside(environment)
    there = [step] if (step := situation.at("cd", home)) else []
    return shell_line([*room, *there, install.split() if wanted else add.format(situation.package).split()])


def shell_line(steps: Iterable[Step]) -> str:
    return " && ".join(map(shlex.join, steps))


def _uv(manager: Manager, situation: Situation, wanted: Declaration | None) -> list[Step]:
    shared = situation.workspace(manager)
    home = shared or situation.home.folder
    # If the workspace is above the root, the root gets an environment of its own.
    is_above = shared is None and manager.shared_home(home) is not None
    environment = (situation.root if is_above else home) / virtualenv.FOLDERS[0]
    own = ["env", f"{manager.variable}={environment}"] if is_above else []
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


def _poetry(_: Manager, situation: Situation, wanted: Declaration | None) -> list[Step]:
    start = ["poetry", *situation.at("-C", situation.home.folder)]
    if wanted is None:
        return [[*start, "add", "--group", "dev", situation.package]]
    lock = files.text(situation.home.folder / "poetry.lock", _MAX_OF_A_LOCK)
    # poetry refuses to install from a lock that is older than what is declared.
    relock = [[*start, "lock"]] if lock and 'name = "pytest"' not in lock else []
    option = "--with" if wanted.kind == "group" else "--extras"
    return [*relock, [*start, "install", *([] if wanted.kind == "main" else [option, wanted.name])]]


def _conda(_: Manager, situation: Situation, wanted: Declaration | None) -> list[Step]:
    """A new environment gets a path where it is found; one with a name would have to be activated."""
    new = situation.root / virtualenv.FOLDERS[0]
    into = ["--prefix", situation.typed(virtualenv.prefix_of(situation.lacking[0]) if situation.lacking else new)]
    add: list[Step] = [] if wanted else [["conda", "install", "--yes", *into, situation.package]]
    if add and situation.lacking:
        return add
    file = wanted.folder / wanted.name if wanted else _described(situation.home)[0]
    from_file = [*into, "--file", situation.typed(file)]
    if situation.lacking:
        return [["conda", "env", "update", *from_file]]
    return [*situation.aside(new), ["conda", "env", "create", *from_file], *add]


def _pip(_: Manager, situation: Situation, wanted: Declaration | None) -> list[Step]:
    """Into the first environment that works, otherwise into a new one together with the project."""
    options = _pip_options(situation, wanted) if wanted else [situation.package]
    if situation.lacking:
        is_condas = CONDA.is_environment(virtualenv.prefix_of(situation.lacking[0]))
        return _conda(CONDA, situation, None) if is_condas and not wanted else _into(situation, options)
    new = situation.root / virtualenv.FOLDERS[0]
    # A broken environment is kept: `venv` cannot repair it, and `venv --clear` would delete its contents.
    made = [*situation.aside(new), ["python3", "-m", "venv", new.name]]
    folder = wanted.folder if wanted else situation.root
    return [*made, *_pip_install(situation.typed(virtualenv.python(new)), _project_options(situation, folder, options))]


def _into(situation: Situation, options: Sequence[str]) -> list[Step]:
    prefix, python = virtualenv.prefix_of(situation.lacking[0]), situation.typed(situation.lacking[0])
    if lacks_pip(prefix) and "uv" in virtualenv.settings(prefix) and situation.has_program("uv"):
        return [["uv", "pip", "install", "--python", python, *options]]
    return [*([[python, "-m", "ensurepip"]] if lacks_pip(prefix) else []), *_pip_install(python, options)]


def _pip_install(python: str, options: Sequence[str]) -> list[Step]:
    install = [python, "-m", "pip", "install"]
    return [*([[*install, _WITH_GROUPS]] if "--group" in options else []), [*install, *options]]


def lacks_pip(prefix: Path) -> bool:
    """False if unknown: an environment that sees the packages of others may find pip there."""
    settings = virtualenv.settings(prefix)
    sees_others = settings.get("include-system-site-packages") == "true"
    return bool(settings) and not sees_others and not virtualenv.has(prefix, "pip")


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


def _project_options(situation: Situation, folder: Path, options: Sequence[str] = ()) -> list[str]:
    """These, after the project in the folder if it can be built and its requirements.txt, unless they contain them."""
    place = _place(situation, folder)
    is_built = read_manifest(folder).table("build-system") or (folder / "setup.py").is_file()
    usual = str(Path(place, "requirements.txt"))
    built = ["-e", place] if is_built and "-e" not in options else []
    listed = ["-r", usual] if (folder / "requirements.txt").is_file() and usual not in options else []
    return [*built, *listed, *options]


def pip_can_read(situation: Situation) -> bool:
    """Whether the project can be built, has a requirements.txt, or declares pytest where pip reads it."""
    return declaration(PLAIN, situation) is not None or bool(_project_options(situation, situation.root))


def project_line(situation: Situation) -> str | None:
    """Install the project itself and its requirements into the first environment; None if it has neither."""
    options = _project_options(situation, situation.folder)
    return shell_line(_into(situation, options)) if options else None


_STEPS: Mapping[str, Callable[[Manager, Situation, Declaration | None], list[Step]]] = {
    "uv": _uv,
    "poetry": _poetry,
    "conda": _conda,
    "pip": _pip,
}
