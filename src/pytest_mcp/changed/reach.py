"""Which files a change can reach.

In come the root and what changed; out comes everything that imports a changed file, directly or through others,
nearest first. If that cannot be told, everything is reached and the reason says why. The imports are in `graph`,
changed files that are not Python in `relevance`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from pytest_mcp.api.reach import Reach
from pytest_mcp.changed import relevance
from pytest_mcp.changed.differences import Changes
from pytest_mcp.changed.imports import graph as graphs
from pytest_mcp.changed.imports.graph import Graph, Unreadable
from pytest_mcp.changed.imports.modules import GROUP
from pytest_mcp.text import label


def of_changes(changes: Changes, root: Path) -> Reach:
    changes = relevance.without_caches(changes)
    count = len(changes.files) + len(changes.outside)
    sources = sorted(path for path in changes.files if path.endswith(".py"))
    if not count:
        return Reach(changes.since, 0)
    try:
        graph = graphs.build(root, changes.files, partial(relevance.documents, changes))
        reason = relevance.why_everything(changes, graph)
    except Unreadable as error:
        return Reach(changes.since, count, tuple(sources), reason=str(error))
    files = list(dict.fromkeys(_nearest_first(sources, graph)))
    reason = reason or _plugin(files, graph)
    unreached = () if reason else tuple(sorted(graph.modules.files.difference(files)))
    hub = _hub(files, set(sources), graph)
    return Reach(changes.since, count, tuple(files), unreached, reason, always=_always(sources, graph), hub=hub)


def _nearest_first(changed: Iterable[str], graph: Graph) -> Iterator[str]:
    """Last come the files that can depend on any other, and those that import them."""
    seen: set[str] = set()
    for sources in (changed, sorted(graph.open) if changed else ()):
        yield from _outwards(sources, graph, seen)


def _outwards(sources: Iterable[str], graph: Graph, seen: set[str]) -> Iterator[str]:
    level = [path for path in sources if path not in seen]
    while level:
        yield from (path for path in level if not path.endswith(GROUP))
        seen.update(level)
        importers = {path for each in level for path in graph.importers.get(each, ())}
        level = sorted(importers - seen)


def _always(changed: Iterable[str], graph: Graph) -> tuple[str, ...]:
    """The files that are reached only because they can depend on any other."""
    near = set(_outwards(changed, graph, set())) if graph.open else set()
    return tuple(f"{label(path)} ({graph.open[path]})" for path in sorted(graph.open.keys() - near))


def _plugin(reached: Iterable[str], graph: Graph) -> str | None:
    found = next((path for path in reached if path in graph.everywhere), None)
    return None if found is None else f"the change can reach {label(found)}, which {graph.everywhere[found]}"


def _hub(reached: list[str], changed: set[str], graph: Graph) -> str | None:
    """The file through which most others are reached."""
    hub = max(reached, key=lambda path: len(graph.importers.get(path, ())), default=None)
    if hub is None:
        return None
    if hub in graph.open:
        return f"{label(hub)} {graph.open[hub]}"
    if hub.endswith("conftest.py"):
        return f"{label(hub)} is used by every test below it"
    if hub in changed:
        return f"most files import {label(hub)}"
    every = hub.endswith("__init__.py") and graph.imports_all(hub, graph.modules.below(hub.rpartition("/")[0]))
    return f"{label(hub)} imports {'every module' if every else 'what changed'}"
