"""The arguments that run the failures of a run again: exactly, or a selection that covers many of them. Pure."""

import posixpath
from collections.abc import Sequence
from typing import Any

from pytest_mcp.api.requests import MAX_NODE_IDS, ExecuteTests

Arguments = dict[str, Any]
# Covers every failure.
EVERYTHING: Arguments = {"path": "."}
# The parameters that select tests by something other than a path or node id.
_OTHER_SELECTORS = ("pattern", "markers", "keywords")


def of_failures(node_ids: Sequence[str], request: ExecuteTests, *, unaskable: Sequence[str] = ()) -> Arguments | None:
    if not node_ids:
        return None
    if not set(unaskable).isdisjoint(node_ids):
        return _same_selection(request)
    pattern = {} if request.pattern is None else {"pattern": request.pattern}
    return shorter({"node_ids": list(node_ids), **pattern}, MAX_NODE_IDS, files=MAX_NODE_IDS)


def shorter(rerun: Arguments | None, most: int, *, files: int = 0) -> Arguments | None:
    """With at most `most` ids; otherwise their files, if those are at most `files`; otherwise their common folder."""
    if rerun is None or len(rerun.get("node_ids", [])) <= most:
        return rerun
    holding = list(dict.fromkeys(node_id.partition("::")[0] for node_id in rerun["node_ids"]))
    others = {name: value for name, value in rerun.items() if name != "node_ids"}
    return {"node_ids": holding, **others} if 1 < len(holding) <= files else {"path": _covering(holding), **others}


def _same_selection(request: ExecuteTests) -> Arguments:
    """The same selection again, for failures whose node ids cannot be passed to a call. Empty if it was everything."""
    path = {} if request.path is None else {"path": request.path.relative}
    ids = {} if request.node_ids is None else {"node_ids": [target.node_id for target in request.node_ids]}
    filters = {name: getattr(request, name) for name in _OTHER_SELECTORS if getattr(request, name) is not None}
    return {**path, **ids, **filters}


def _covering(files: Sequence[str]) -> str:
    # A test can write any path into the report, but a call accepts only paths inside the root.
    if any(posixpath.isabs(file) or file.startswith("..") for file in files):
        return "."
    return posixpath.commonpath(files) or "."
