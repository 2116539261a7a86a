"""Which targets that a call named did not run, and what left them out.

Pure: a request and a ledger in, targets out. A target is a node id, a file or a folder. It has run if at least one of
its tests ran, or if the module that it names skipped itself. The child reports what left a target out; the notices
about it are in `notices/selection.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_mcp.api.requests import Request
from pytest_mcp.api.targets import Target
from pytest_mcp.run.ledger import Ledger

# The pytest option of each filter of a request. It replaces the project's option of the same name.
FILTERS = {"markers": "-m ", "keywords": "-k "}


@dataclass(frozen=True)
class Missed:
    """A target of which no test ran: how many tests were found, and what left them out (empty if none was found)."""

    node_id: str
    found: int
    by: tuple[str, ...]


def asked_filters(request: Request) -> list[str]:
    return [name for name in FILTERS if getattr(request, name) is not None]


def missed(request: Request, ledger: Ledger) -> list[Missed]:
    """The targets that did not run, except those that only the call's own filters left out."""
    own = tuple(FILTERS[name] for name in asked_filters(request))
    found = [Missed(target.node_id, 0, ("unknown",)) for target in unexplained(request, ledger)]
    for target in unrun(request, ledger):
        left_out = ledger.left_out.get(target.node_id)
        if left_out is None:
            continue
        by_others = tuple(by for by in left_out.by if not by.startswith(own))
        if by_others or not left_out.by:
            found.append(Missed(target.node_id, left_out.found, by_others))
    return found


def unexplained(request: Request, ledger: Ledger) -> list[Target]:
    """The targets that did not run in a complete session that never compared targets with collected tests (xdist)."""
    if ledger.ended is None or ledger.compared or ledger.collection_failures or ledger.not_run:
        return []
    return unrun(request, ledger)


def unrun(request: Request, ledger: Ledger) -> list[Target]:
    left = dict.fromkeys(target.node_id for _, target in request.targets)
    for node_id in (*ledger.tests, *(module.id for module in ledger.skipped_modules)):
        if not left:
            return []
        for name in _names(node_id):
            left.pop(name, None)
    skipped = {module.id for module in ledger.skipped_modules}
    by_name = {target.node_id: target for _, target in request.targets}
    return [by_name[name] for name in left if by_name[name].relative not in skipped]


def _names(node_id: str) -> Iterator[str]:
    """Every target that selects this test: folders, file, classes, the test with and without its parameters."""
    path, _, names = node_id.partition("::")
    yield from (".", path, node_id)
    yield from (path[: match.start()] for match in re.finditer("/", path))
    plain = names.partition("[")[0]
    # pytest-xdist appends @ and the test's group to its id.
    ends = (*(match.start() for match in re.finditer("::", plain)), len(plain), plain.find("@"), names.rfind("@"))
    yield from (f"{path}::{names[:end]}" for end in ends if end >= 0)
