"""The last recorded results of some tests, for a page about a run that is not recorded yet.

In come node ids; out come the outcomes and durations of each test, the oldest first. Which tests these are is decided
in `page/sections.py`.
"""

from collections.abc import Sequence
from pathlib import Path

from pytest_mcp.config.model import History
from pytest_mcp.history import project_name
from pytest_mcp.history.opening import reading
from pytest_mcp.history.runs import Scope, find, recent, results_of
from pytest_mcp.history.store import Unavailable

# As many letters as fit on a phone, with that of the run itself.
MOST_RESULTS = 29
# The runs that are looked at.
MOST_RUNS = 500

# A letter and seconds.
LastResult = tuple[str, float | None]


def look(history: History, root: Path, node_ids: Sequence[str]) -> dict[str, list[LastResult]] | None:
    """None if the history cannot be read: a notice says that the run is not recorded, and why."""
    try:
        with reading(history.address) as store:
            return ask(Scope(store, project_name.of(root)), node_ids)
    except Unavailable:
        return None


def ask(scope: Scope, node_ids: Sequence[str]) -> dict[str, list[LastResult]]:
    """Without the tests that are not recorded."""
    runs = recent(scope, MOST_RUNS)
    found = {node_id: find(scope, node_id) for node_id in node_ids} if runs.runs else {}
    results = {name: results_of(scope, test, runs, MOST_RESULTS) for name, test in found.items() if test is not None}
    return {name: [(each.outcome, each.seconds) for each in known] for name, known in results.items()}
