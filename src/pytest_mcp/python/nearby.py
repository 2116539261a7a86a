"""Environments with pytest in places that `interpreter` does not search, and the advice that makes one usable.

Nothing is started: pytest counts as installed if its folder is there.
"""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

from pytest_mcp.api.advice import Advice, Sentence, in_shell
from pytest_mcp.python import files, user_dirs, virtualenv
from pytest_mcp.python.managers import MANAGERS, is_environment
from pytest_mcp.python.virtualenv import FOLDERS

# How deep services of a monorepo are nested.
_DEPTH = 3
# Takes a fraction of a second. In larger monorepos some folders are not searched.
MAX_FOLDERS = 2_000
_PATHS_NAMED = 3


def lead(root: Path, folder: Path, tried: Collection[Path]) -> Sentence | None:
    """To an environment that a person has made."""
    if own := _with_pytest(renamed(root, tried)):
        # A symlink makes it the project's environment, unless its place is taken.
        if os.path.lexists(root / FOLDERS[0]):
            return _choose(virtualenv.python(own[0]))
        return in_shell(shlex.join(["ln", "-s", own[0].name, FOLDERS[0]]))
    if above := _with_pytest(_above(root), tried):
        return _choose(virtualenv.python(above[0]), f"in {shlex.quote(str(above[0].parent))}, or give it")
    nested = [prefix for inner in islice(below(folder), MAX_FOLDERS) for prefix in _environments_of(inner)]
    if not _environments_of(folder) and (with_pytest := _with_pytest(nested, tried)):
        names = tuple(dict.fromkeys(prefix.parent.relative_to(root).as_posix() for prefix in with_pytest))
        has = "which has an environment of its own" if len(names) == 1 else "which have environments of their own"
        call = f"call with path={' or '.join(map(json.dumps, names[:_PATHS_NAMED]))}, {has}"
        return Sentence(Advice("folders", call, names))
    return None


def on_path(search_path: str) -> Sentence | None:
    """To the Python that a shell starts, if it has pytest and is not the server's own."""
    python = Path(shutil.which("python3", path=search_path) or "")
    is_ours = os.path.realpath(virtualenv.prefix_of(python)) == os.path.realpath(sys.prefix)
    return _choose(python) if python.is_absolute() and not is_ours and _sees_pytest(python) else None


def renamed(root: Path, tried: Collection[Path]) -> list[Path]:
    """Environments in the root with names that are not searched."""
    others = [folder for folder in files.folders(root) if folder.name not in FOLDERS and folder not in tried]
    return [each for each in others if _is_plain(each.name) and is_environment(each) and virtualenv.starts(each)]


def below(folder: Path) -> Iterator[Path]:
    """Breadth first, without hidden folders, environments and installed packages."""
    level = [folder]
    for _ in range(_DEPTH):
        inner = (each for outer in level for each in files.folders(outer))
        level = []
        for each in inner:
            # A symlink may lead out of the root, or form a cycle.
            if each.name[0] in "._" or each.name == "node_modules" or each.is_symlink():
                continue
            if _is_plain(each.name) and not is_environment(each):
                level.append(each)
                yield each


def _sees_pytest(python: Path) -> bool:
    prefix, version = virtualenv.prefix_of(python), re.search(r"\d+\.\d+$", os.path.realpath(python))
    if virtualenv.is_environment(prefix) or version is None:
        return virtualenv.has(prefix, "pytest")
    # Debian's packages, those of pip on Debian, and those of `pip install --user`.
    base, user = virtualenv.prefix_of(Path(os.path.realpath(python))), user_dirs.home(os.environ) / ".local"
    names = (f"python{version[0]}/site-packages", f"python{version[0]}/dist-packages", "python3/dist-packages")
    places = [each / "lib" / name / "pytest" for each in (prefix, base, prefix / "local", user) for name in names]
    return any(files.holds(place.is_dir) for place in places)


def _with_pytest(prefixes: Iterable[Path], tried: Collection[Path] = ()) -> list[Path]:
    return [prefix for prefix in prefixes if prefix not in tried and virtualenv.has(prefix, "pytest")]


def _choose(python: Path, how: str = "with") -> Sentence:
    """By its absolute path: the server may have been started elsewhere."""
    return Sentence(Advice("python", f"start pytest-mcp {how} --python {shlex.quote(str(python))}", (str(python),)))


def _above(root: Path) -> list[Path]:
    shared = [home for manager in MANAGERS if (home := manager.shared_home(root))]
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return [prefix for home in (*shared, top) if home != root for prefix in _environments_of(home)]


def _environments_of(folder: Path) -> list[Path]:
    return [prefix for name in FOLDERS if virtualenv.starts(prefix := folder / name)]


def _is_plain(name: str) -> bool:
    """Without characters that a shell, or a reader of our sentence, could misread."""
    return re.fullmatch(r"[\w.@+][\w.@+ -]*", name) is not None
