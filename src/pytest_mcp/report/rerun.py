"""The arguments that run the failures of a run again: exactly, or what covers them where they are many. Pure."""

import posixpath
from collections.abc import Sequence
from typing import Any

from pytest_mcp.api.requests import MAX_NODE_IDS, ExecuteTests

Arguments = dict[str, Any]
# What covers whatever has failed.
EVERYTHING: Arguments = {"path": "."}


# The parameters that choose the tests of a call, less those that name places.
_FILTERS = ("pattern", "markers", "keywords")


def of_failures(node_ids: Sequence[str], request: ExecuteTests, *, unaskable: Sequence[str] = ()) -> Arguments | None:
    if not node_ids:
        return None
    if not set(unaskable).isdisjoint(node_ids):
        return _same_selection(request)
    pattern = {} if request.pattern is None else {"pattern": request.pattern}
    return shorter({"node_ids": list(node_ids), **pattern}, MAX_NODE_IDS, files=MAX_NODE_IDS)


def shorter(rerun: Arguments | None, most: int, *, files: int = 0) -> Arguments | None:
    """With at most so many ids; beyond them their files if they are few, or the folder that holds them all."""
    if rerun is None or len(rerun.get("node_ids", [])) <= most:
        return rerun
    holding = list(dict.fromkeys(node_id.partition("::")[0] for node_id in rerun["node_ids"]))
    others = {name: value for name, value in rerun.items() if name != "node_ids"}
    return {"node_ids": holding, **others} if 1 < len(holding) <= files else {"path": _covering(holding), **others}


def _same_selection(request: ExecuteTests) -> Arguments:
    """What led to failures that no call can name leads to them again; nothing at all if that was everything."""
    path = {} if request.path is None else {"path": request.path.relative}
    ids = {} if request.node_ids is None else {"node_ids": [target.node_id for target in request.node_ids]}
    filters = {name: getattr(request, name) for name in _FILTERS if getattr(request, name) is not None}
    return {**path, **ids, **filters}


def _covering(files: Sequence[str]) -> str:
    # Whatever a test may have written into its report: only paths inside the root can be asked for.
    if any(posixpath.isabs(file) or file.startswith("..") for file in files):
        return "."
    return posixpath.commonpath(files) or "."
