"""Environments with pytest in places that `interpreter` does not search.

In come the root, the folder that a call pointed at and the environments that were tried; out comes the advice that
makes the best one usable. Nothing is started: pytest counts as installed if its folder is there.
"""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path

from pytest_mcp.api.advice import Advice, Sentence, in_shell
from pytest_mcp.python import files, lookup, user_dirs, virtualenv
from pytest_mcp.python.managers import MANAGERS
from pytest_mcp.python.virtualenv import FOLDERS

# They create environments for test runs.
_OF_TOOLS = (".tox", ".nox")
# How deep services of a monorepo are nested.
_DEPTH = 3
# Takes a fraction of a second. In larger monorepos some folders are not searched.
MOST_FOLDERS = 2_000
_PATHS_NAMED = 3


def lead(root: Path, folder: Path, tried: Collection[Path]) -> Sentence | None:
    """To an environment that a person has made."""
    if own := _with_pytest(renamed(root, tried)):
        return _link(root, own[0])
    if above := _with_pytest(_above(root), tried):
        return _choose(virtualenv.python(above[0]), f"in {shlex.quote(str(above[0].parent))}, or give it")
    if not _environments_of(folder) and (nested := _with_pytest(_nested(folder), tried)):
        names = tuple(dict.fromkeys(prefix.parent.relative_to(root).as_posix() for prefix in nested))
        return Sentence(Advice("folders", _paths(names), names))
    return None


def of_tools(root: Path, tried: Collection[Path]) -> Sentence | None:
    """To one of tox or nox. They are recreated at will, so a manager's environment is preferred."""
    found = _with_pytest(_of_tools(root), tried)
    return _choose(virtualenv.python(found[-1])) if found else None


def on_path(search_path: str) -> Sentence | None:
    """To the Python that a shell starts, if it has pytest and is not the server's own."""
    python = Path(shutil.which("python3", path=search_path) or "")
    is_ours = os.path.realpath(virtualenv.of(python)) == os.path.realpath(sys.prefix)
    if not python.is_absolute() or is_ours or not _sees_pytest(python):
        return None
    return _choose(python)


def _sees_pytest(python: Path) -> bool:
    prefix, version = virtualenv.of(python), re.search(r"\d+\.\d+$", os.path.realpath(python))
    if virtualenv.is_environment(prefix) or version is None:
        return virtualenv.has(prefix, "pytest")
    # Debian's packages, those of pip on Debian, and those of `pip install --user`.
    prefixes = (
        prefix,
        virtualenv.of(Path(os.path.realpath(python))),
        prefix / "local",
        user_dirs.home(os.environ) / ".local",
    )
    names = (f"python{version[0]}/site-packages", f"python{version[0]}/dist-packages", "python3/dist-packages")
    places = [each / "lib" / name / "pytest" for each in prefixes for name in names]
    return any(files.holds(place.is_dir) for place in places)


def _with_pytest(found: Iterable[Path], tried: Collection[Path] = ()) -> list[Path]:
    return [prefix for prefix in found if prefix not in tried and virtualenv.has(prefix, "pytest")]


def renamed(root: Path, tried: Collection[Path]) -> list[Path]:
    """Environments in the root with names that are not searched."""
    others = [folder for folder in files.folders(root) if folder.name not in FOLDERS and folder not in tried]
    return [each for each in others if _is_plain(each.name) and lookup.is_environment(each) and virtualenv.starts(each)]


def _link(root: Path, prefix: Path) -> Sentence:
    """A symlink makes it the project's environment, unless its place is taken."""
    new = root / FOLDERS[0]
    if os.path.lexists(new):
        return _choose(virtualenv.python(prefix))
    return in_shell(shlex.join(["ln", "-s", prefix.name, new.name]))


def _choose(python: Path, how: str = "with") -> Sentence:
    """By its absolute path: the server may have been started elsewhere."""
    return Sentence(Advice("python", f"start pytest-mcp {how} --python {shlex.quote(str(python))}", (str(python),)))


def _paths(names: Sequence[str]) -> str:
    named = [json.dumps(name) for name in names[:_PATHS_NAMED]]
    has = "which has an environment of its own" if len(names) == 1 else "which have environments of their own"
    return f"call with path={' or '.join(named)}, {has}"


def _above(root: Path) -> list[Path]:
    shared = [home for manager in MANAGERS if (home := manager.shared_home(root))]
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    homes = [*shared, top]
    return [prefix for home in homes if home != root for prefix in _environments_of(home)]


def _nested(folder: Path) -> list[Path]:
    return [prefix for inner in islice(below(folder), MOST_FOLDERS) for prefix in _environments_of(inner)]


def below(folder: Path) -> Iterable[Path]:
    """Breadth first, without hidden folders, environments and installed packages."""
    level = [folder]
    for _ in range(_DEPTH):
        inner = (found for each in level for found in files.folders(each))
        level = []
        for found in inner:
            # A symlink may lead out of the root, or form a cycle.
            if found.name[0] in "._" or found.name == "node_modules" or found.is_symlink():
                continue
            if _is_plain(found.name) and not lookup.is_environment(found):
                level.append(found)
                yield found


def _environments_of(folder: Path) -> list[Path]:
    return [prefix for name in FOLDERS if virtualenv.starts(prefix := folder / name)]


def _of_tools(root: Path) -> list[Path]:
    """Sorted: those named after a Python or after tests last, and among them the newest Python last."""
    found = [prefix for tool in _OF_TOOLS for prefix in files.folders(root / tool) if virtualenv.starts(prefix)]
    return sorted(found, key=lambda prefix: _aptness(prefix.name))


def _aptness(name: str) -> tuple[bool, list[int]]:
    return name.startswith("py") or "test" in name, [int(number) for number in re.findall(r"\d{1,9}", name)]


def _is_plain(name: str) -> bool:
    """Without characters that a shell, or a reader of our sentence, could misread."""
    return re.fullmatch(r"[\w.@+][\w.@+ -]*", name) is not None
