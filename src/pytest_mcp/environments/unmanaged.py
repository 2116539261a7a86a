"""The line for an environment that no manager keeps: how it comes to be, and what pip is told.

In come the root, the folder that a call pointed at and what the search rejected; out comes a line to be run in the
root. What a project declares for pip is in `install_options`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.environments import install_options, nearby, project, shell, virtualenv
from pytest_mcp.environments.interpreter import FOLDERS, Candidate
from pytest_mcp.environments.project import Manifest
from pytest_mcp.environments.shell import Step

# The first pip that knows the groups of a pyproject.toml.
_KNOWS_GROUPS = (25, 1)
_NOWHERE = ("pytest",)


@dataclass(frozen=True)
class _Declared:
    """What pip is told to have pytest, and the folder that says so, as pip is told that."""

    options: tuple[str, ...]
    home: Manifest
    place: str


def line(root: Path, folder: Path, rejected: Sequence[Candidate]) -> str:
    """Into the first environment that lacks only pytest; else into one that is made, with all that is declared."""
    lacking = next((candidate for candidate in rejected if candidate.lacks_pytest), None)
    if lacking is not None:
        return into(lacking.python, root, folder)
    new = root / FOLDERS[0]
    python = shell.shown(virtualenv.python(new), root)
    declared = _declared(root, folder)
    tried = {virtualenv.of(candidate.python) for candidate in rejected}
    at_hand = next((prefix for prefix in nearby.renamed(root) if prefix not in tried), None)
    if at_hand is not None:
        make = ["ln", "-s", at_hand.name, new.name]
        install = _installation(python, at_hand, declared.options)
    else:
        make = ["python3", "-m", "venv", new.name]
        install = _installation(python, None, (*_of_the_project(declared), *declared.options))
    # What is broken there is kept: neither `venv` nor its --upgrade mends it, and --clear would empty it.
    return shell.line([*shell.aside(new, root), make, *install])


def into(python: Path, root: Path, folder: Path) -> str:
    """Into the environment of this very Python."""
    prefix = virtualenv.of(python)
    options = _declared(root, folder).options
    if virtualenv.is_conda(prefix) and options == _NOWHERE:
        return shell.line([["conda", "install", "--yes", "--prefix", shell.shown(prefix, root), "pytest"]])
    return shell.line(_installation(shell.shown(python, root), prefix, options))


def _declared(root: Path, folder: Path) -> _Declared:
    """By the folder itself, or by the next one above, up to the root."""
    for home in (folder, *folder.parents):
        found = project.read(home)
        place = "." if home == root else f"./{home.relative_to(root).as_posix()}"
        if way := install_options.pip(found, place):
            return _Declared(way.options, found, place)
        if home == root:
            break
    return _Declared(_NOWHERE, found, place)


def _of_the_project(declared: _Declared) -> list[str]:
    """What a new environment needs besides: the project, if it is one to be built, and the usual list."""
    home = declared.home.folder
    is_built = declared.home.table("build-system") or (home / "setup.py").is_file()
    usual = str(Path(declared.place, "requirements.txt"))
    built = ["-e", declared.place] if is_built and "-e" not in declared.options else []
    listed = ["-r", usual] if (home / "requirements.txt").is_file() and usual not in declared.options else []
    return [*built, *listed]


def _installation(python: str, prefix: Path | None, options: Sequence[str]) -> list[Step]:
    """The steps for an environment as it lies there; None for one that `venv` has just made."""
    lacks_pip = prefix is not None and virtualenv.lacks_pip(prefix)
    if prefix is not None and lacks_pip and virtualenv.is_made_by_uv(prefix):
        return [["uv", "pip", "install", "--python", python, *options]]
    version = virtualenv.version_of_pip(prefix) if prefix else None
    old = "--group" in options and (version is None or version < _KNOWS_GROUPS)
    return [
        *([[python, "-m", "ensurepip"]] if lacks_pip else []),
        *([[python, "-m", "pip", "install", "pip>={}.{}".format(*_KNOWS_GROUPS)]] if old else []),
        [python, "-m", "pip", "install", *options],
    ]
