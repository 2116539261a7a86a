"""Which of the targets that a call named did not run, and what kept them out.

Pure. A target is a node id, a file or a folder. It has run if at least one of its tests did, or if the module
that it names skipped itself. What keeps a target out is the child's to tell; the sentences are in `selection`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_mcp.api.requests import Request
from pytest_mcp.api.targets import Target
from pytest_mcp.events.ledger import Ledger

# Which option each filter of a request replaces, so that one of the same name is not the project's.
FILTERS = {"markers": "-m ", "keywords": "-k "}


@dataclass(frozen=True)
class Missed:
    """A target without a test that ran: how many were found, and what left them out; nothing did if none was found."""

    node_id: str
    found: int
    by: tuple[str, ...]


def asked_filters(request: Request) -> list[str]:
    return [name for name in FILTERS if getattr(request, name) is not None]


def missed(request: Request, ledger: Ledger) -> list[Missed]:
    """The targets that did not run although the call's own filters alone would not have left them out."""
    own = tuple(FILTERS[name] for name in asked_filters(request))
    found = [Missed(target.node_id, 0, ("unknown",)) for target in unexplained(request, ledger)]
    for target in unrun(request, ledger):
        told = ledger.left_out.get(target.node_id)
        if told is None:
            continue
        foreign = tuple(by for by in told.by if not by.startswith(own))
        if foreign or not told.by:
            found.append(Missed(target.node_id, told.found, foreign))
    return found


def unexplained(request: Request, ledger: Ledger) -> list[Target]:
    """The targets that did not run in a session that ran everything it had, and compared nothing."""
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
    """Everything that this test can be named by: folders, file, classes, itself without parameters."""
    path, _, names = node_id.partition("::")
    yield from (".", path, node_id)
    yield from (path[: match.start()] for match in re.finditer("/", path))
    plain = names.partition("[")[0]
    # pytest-xdist adds the test's group to its id, behind an @.
    ends = (*(match.start() for match in re.finditer("::", plain)), len(plain), plain.find("@"), names.rfind("@"))
    yield from (f"{path}::{names[:end]}" for end in ends if end >= 0)
