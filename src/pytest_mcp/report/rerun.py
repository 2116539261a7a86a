"""The arguments that run the failures of a run again: exactly, or the smallest selection that covers them."""

import posixpath
from collections.abc import Iterable, Sequence
from typing import Any

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.targets import can_be_asked

Arguments = dict[str, Any]
# How many tests, or functions without their parameters, are named before files stand for them; then folders.
MAX_TESTS = 5
MAX_FILES = 20

# The parameters that name places, and the others that choose the tests of a call.
PLACES = ("path", "node_ids")
_FILTERS = ("pattern", "markers", "keywords")
# Files of a folder that pytest imports for the tests in it. No call can name them.
_FOLDER_FILES = ("conftest.py", "__init__.py")


def rerun_arguments(
    node_ids: Sequence[str], request: ExecuteTests, *, broken: Sequence[str] = (), unaskable: Sequence[str] = ()
) -> Arguments | None:
    """For the ids of failed tests, and for the files that could not be collected (`broken`)."""
    if not node_ids and not broken:
        return None
    selection = same_selection(request)
    folders = _distinct(posixpath.dirname(file) or "." for file in broken if _is_of_folder(file))
    is_partial = bool(folders) and bool(selection)
    if is_partial or "." in folders or not all(map(can_be_asked, broken)) or not set(unaskable).isdisjoint(node_ids):
        return selection
    return covering([*node_ids, *folders, *(file for file in broken if not _is_of_folder(file))], request.pattern)


def _is_of_folder(file: str) -> bool:
    return posixpath.basename(file) in _FOLDER_FILES


def covering(names: Sequence[str], pattern: str | None) -> Arguments:
    """The smallest selection with these tests, files and folders."""
    return {**_smallest(names), **({} if pattern is None else {"pattern": pattern})}


def _smallest(node_ids: Sequence[str]) -> Arguments:
    functions = _distinct(node_id.partition("[")[0] if "::" in node_id else node_id for node_id in node_ids)
    files = _distinct(node_id.partition("::")[0] for node_id in node_ids)
    for names, most in ((_distinct(node_ids), MAX_TESTS), (functions, MAX_TESTS), (files, MAX_FILES)):
        if len(names) <= most:
            return {"node_ids": names} if names != files or len(files) > 1 else {"path": files[0]}
    folders = _distinct(posixpath.dirname(file) or "." for file in files)
    folders = [folder for folder in folders if not any(_holds(other, folder) for other in folders)]
    return {"node_ids": folders} if 1 < len(folders) <= MAX_FILES else {"path": _covering(files)}


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _holds(folder: str, other: str) -> bool:
    return folder != other and (folder == "." or other.startswith(f"{folder}/"))


def names(arguments: Arguments) -> list[str]:
    """The places that they name."""
    ids = arguments.get("node_ids")
    return [name for name in (arguments.get("path"), *(ids if isinstance(ids, list) else [])) if isinstance(name, str)]


def same_selection(request: ExecuteTests) -> Arguments:
    """The parameters that chose the tests: none if that was everything. They lead to failures that no call can name."""
    path = {} if request.path is None else {"path": request.path.relative}
    ids = {} if request.node_ids is None else {"node_ids": [target.node_id for target in request.node_ids]}
    filters = {name: getattr(request, name) for name in _FILTERS if getattr(request, name) is not None}
    return {**path, **ids, **filters}


def _covering(files: Sequence[str]) -> str:
    # Whatever a test may have written into its report: only paths inside the root can be asked for.
    if any(posixpath.isabs(file) or file.startswith("..") for file in files):
        return "."
    return posixpath.commonpath(files) or "."
