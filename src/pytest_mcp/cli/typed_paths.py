"""Paths and node ids as a person types them, and as the tools take them.

In come arguments whose paths count from the working directory; out come the same arguments with paths that count from
the project's root. An id that does not exist in the working directory is taken as one that counts from the root, as
in our reports. Whether a path may be used is decided in `api/targets.py`.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_mcp.cli import tool_flags
from pytest_mcp.cli.tool_flags import Arguments

# The parameters that name files.
_PATHS = ("path", "node_id")
_LISTS = ("node_ids",)


def from_root(arguments: Arguments, root: Path) -> Arguments:
    return _mapped(arguments, lambda word: _from_root(word, root))


def again(arguments: Arguments | None, settings: Sequence[str], root: Path) -> str | None:
    """The command that runs these paths of the root, as it has to be typed in the working directory."""
    if arguments is None:
        return None
    return tool_flags.command("run", _mapped(arguments, lambda word: typed(word, root)), settings)


def typed(node_id: str, root: Path) -> str:
    """The id itself, unless something else in the working directory has that name."""
    if _from_root(node_id, root) == node_id:
        return node_id
    path, separator, selector = node_id.partition("::")
    return f"{os.path.relpath(root / path)}{separator}{selector}"


def _mapped(arguments: Arguments, change: Callable[[str], str]) -> Arguments:
    single = {name: change(arguments[name]) for name in _PATHS if name in arguments}
    several = {name: [change(word) for word in arguments[name]] for name in _LISTS if name in arguments}
    return {**arguments, **single, **several}


def _from_root(word: str, root: Path) -> str:
    path, separator, selector = word.partition("::")
    here = Path(os.path.abspath(path))  # noqa: PTH100 - symlinks keep their own names, as in ids
    if not path or not here.is_relative_to(root):
        return word
    counts_from_root = not os.path.lexists(here) and os.path.lexists(root / path)
    return word if counts_from_root else f"{here.relative_to(root).as_posix()}{separator}{selector}"
