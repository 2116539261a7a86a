"""What recorded runs say of tests that have just failed: one sentence for each cause, or none.

In come the node ids of each group of failures, the shown one first; out come sentences, each about the first test of
its group. The run that has just ended is not recorded yet.
"""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from pytest_mcp.config.model import History
from pytest_mcp.history import project_name
from pytest_mcp.history.opening import reading
from pytest_mcp.history.questions import flaky
from pytest_mcp.history.questions.flaky import OTHER_FAULT, Result
from pytest_mcp.history.questions.runs import Runs, Scope, find, recent
from pytest_mcp.history.store import Unavailable

# As many groups as an answer shows whole, and the runs that are looked at: it takes milliseconds before an answer.
MOST_GROUPS = 5
MOST_RUNS = 500
# In seconds. Nobody waits longer for it.
LONGEST = 1


def look(history: History, root: Path, failures: Sequence[Sequence[str]]) -> list[str]:
    """Nothing if the history cannot be read: the notice that the run is not recorded says why."""
    try:
        with reading(history.address) as store:
            return remarks(Scope(store, project_name.of(root)), failures)
    except Unavailable:
        return []


def remarks(scope: Scope, failures: Sequence[Sequence[str]]) -> list[str]:
    runs = recent(scope, MOST_RUNS)
    if not runs.runs:
        return []
    found = [_remark(scope, runs, node_ids[0]) for node_ids in failures[:MOST_GROUPS]]
    return [sentence for sentence in found if sentence is not None]


def _remark(scope: Scope, runs: Runs, node_id: str) -> str | None:
    test = find(scope, node_id)
    if test is None:
        return None
    results = flaky.results_of(scope, test, runs)
    ran = [result for result in results if result.outcome != "S"]
    streak = list(takewhile(lambda result: result.failed, reversed(ran)))
    found = flaky.judge(node_id, results, runs)
    # If it has failed too often in a row for its rate, that is another fault.
    if found is not None and (found.failed / found.runs) ** len(streak) >= OTHER_FAULT:
        return f"{node_id}: flaky: failed {found.failed} of {found.runs} times, with both outcomes on unchanged code."
    return f"{node_id}: {_since(streak, len(ran))}." if streak else None


def _since(streak: Sequence[Result], recorded: int) -> str:
    first = streak[-1].run
    at = first.code or first.moment
    if recorded == 1:
        return f"failed in its only recorded run, at {at}"
    if len(streak) == recorded:
        return f"failed in all {recorded} recorded runs since {at}"
    return f"fails since {at}, {len(streak)} {'run' if len(streak) == 1 else 'runs'} ago"
