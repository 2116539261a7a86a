"""The last recorded results of some tests, for a page about a run that is not recorded yet.

In come node ids; out come the outcomes and durations of each test, the oldest first. Which tests these are is decided
in `page/sections.py`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_mcp.config.model import History
from pytest_mcp.history import project_name
from pytest_mcp.history.opening import reading
from pytest_mcp.history.rows import Letter
from pytest_mcp.history.runs import Runs, Scope, find, recent
from pytest_mcp.history.store import Unavailable

# As many letters as fit on a phone, with that of the run itself.
MOST_RESULTS = 29
# The runs that are looked at.
MOST_RUNS = 500
_RESULTS = (
    "SELECT run_id, outcome, duration FROM results WHERE test_id = ? AND run_id >= ? ORDER BY run_id DESC LIMIT ?"
)


class LastResult(NamedTuple):
    outcome: Letter
    seconds: float | None


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
    return {node_id: _results(scope, test, runs) for node_id, test in found.items() if test is not None}


def _results(scope: Scope, test: int, runs: Runs) -> list[LastResult]:
    rows = scope.store.select(_RESULTS, (test, runs.first_id, MOST_RESULTS))
    return [LastResult(outcome, seconds) for run, outcome, seconds in reversed(rows) if run in runs.by_id]
