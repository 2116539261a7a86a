"""Environments with pytest in places that `interpreter` does not search, and the advice that makes one usable.

Nothing is started: pytest counts as installed if its folder is there.
"""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path

from pytest_mcp.api.advice import Advice, Sentence, in_shell
from pytest_mcp.python import files, project_root, uv, virtualenv
from pytest_mcp.python.virtualenv import FOLDERS

# How deep services of a monorepo are nested.
DEPTH = 3
# Takes a fraction of a second. In larger monorepos some folders are not searched.
MAX_FOLDERS = 2_000
# Names without characters that a shell, or a reader of our sentence, could misread.
_PLAIN = re.compile(r"[\w.@+][\w.@+ -]*")


def lead(root: Path, folder: Path, tried: Collection[Path], *, with_members: bool = True) -> Sentence | None:
    """To an environment that a person has made: in the root by another name, above the root, or below the folder."""
    renamed = [each for each in files.folders(root) if virtualenv.is_environment(each) and virtualenv.starts(each)]
    if own := _with_pytest(renamed, tried):
        # A symlink makes it the project's environment, unless its place is taken.
        if os.path.lexists(root / FOLDERS[0]):
            return _choose(virtualenv.python(own[0]))
        return in_shell(shlex.join(["ln", "-s", own[0].name, FOLDERS[0]]))
    top = next((place for place in (root, *root.parents) if (place / ".git").exists()), root)
    homes = [home for home in (uv.workspace(root), top) if home not in (None, root)]
    if above := _with_pytest((prefix for home in homes if home for prefix in _environments_of(home)), tried):
        return _choose(virtualenv.python(above[0]), f"in {shlex.quote(str(above[0].parent))}, or give it")
    inner = islice(project_root.below(folder, DEPTH), MAX_FOLDERS)
    below = _with_pytest((prefix for each in inner for prefix in _environments_of(each)), tried)
    if with_members and below and not _environments_of(folder):
        names = tuple(dict.fromkeys(prefix.parent.relative_to(root).as_posix() for prefix in below))
        has = "which has an environment of its own" if len(names) == 1 else "which have environments of their own"
        call = f"call with path={' or '.join(map(json.dumps, names[:3]))}, {has}"
        return Sentence(Advice("folders", call, names))
    return None


def on_path(search_path: str) -> Sentence | None:
    """To the Python that a shell starts, if it has pytest and is not the server's own."""
    python = Path(shutil.which("python3", path=search_path) or "")
    prefix = virtualenv.prefix_of(python)
    is_ours = os.path.realpath(prefix) == os.path.realpath(sys.prefix)
    # A virtual environment does not see what its base has. What pip installs with Debian's Python is in /usr/local.
    base = prefix if virtualenv.is_environment(prefix) else virtualenv.prefix_of(Path(os.path.realpath(python)))
    has_pytest = any(virtualenv.has(place, "pytest") for place in (prefix, base, base / "local"))
    return _choose(python) if python.is_absolute() and not is_ours and has_pytest else None


def _with_pytest(prefixes: Iterable[Path], tried: Collection[Path]) -> list[Path]:
    others = [prefix for prefix in prefixes if prefix not in tried and virtualenv.has(prefix, "pytest")]
    return [prefix for prefix in others if all(map(_PLAIN.fullmatch, (prefix.name, prefix.parent.name)))]


def _choose(python: Path, how: str = "with") -> Sentence:
    """By its absolute path: the server may have been started elsewhere."""
    return Sentence(Advice("python", f"start pytest-mcp {how} --python {shlex.quote(str(python))}", (str(python),)))


def _environments_of(folder: Path) -> list[Path]:
    return [prefix for name in FOLDERS if virtualenv.starts(prefix := folder / name)]
