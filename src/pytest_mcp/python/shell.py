"""Shell lines made of steps, which are lists of words.

In come words and paths; out comes text that can be pasted into a shell in the root. Which steps are needed is decided
in the managers' files.
"""

import os
import shlex
from collections.abc import Iterable, Sequence
from itertools import chain, count
from pathlib import Path

Step = Sequence[str]


def line(steps: Iterable[Step], *, variables: str = "") -> str:
    """`variables` are set for the last step."""
    *first, last = [*map(shlex.join, steps)] or [""]
    return " && ".join([*first, f"{variables} {last}".lstrip()])


def shown(path: Path, root: Path) -> str:
    """The path as it is typed in the root."""
    if not path.is_relative_to(root):
        return str(path)
    inside = path.relative_to(root).as_posix()
    return f"./{inside}" if inside.startswith("-") else inside


def aside(path: Path, root: Path) -> list[Step]:
    """Rename what is at this path, if anything, to a free name."""
    if not os.path.lexists(path):
        return []
    endings = chain(["-broken"], (f"-broken-{number}" for number in count(2)))
    others = (path.with_name(path.name + ending) for ending in endings)
    return [["mv", shown(path, root), shown(next(other for other in others if not os.path.lexists(other)), root)]]
