"""What recorded runs say of tests that have just failed: one remark for each cause, or none.

In come the node ids of each group of failures, the shown one first; out come remarks, each about the first test of
its group. The run that has just ended is not recorded yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.config.model import History
from pytest_mcp.history import project_name
from pytest_mcp.history.opening import reading
from pytest_mcp.history.questions import flaky
from pytest_mcp.history.questions.flaky import OTHER_FAULT
from pytest_mcp.history.runs import PastResult, Runs, Scope, find, recent, results_of, streak_of
from pytest_mcp.history.store import Unavailable

# As many groups as an answer shows whole, and the runs that are looked at: it takes milliseconds before an answer.
MOST_GROUPS = 5
MOST_RUNS = 500
# In seconds. Nobody waits longer for it.
LONGEST = 1


@dataclass(frozen=True)
class Remark:
    node_id: str
    words: str

    @property
    def sentence(self) -> str:
        return f"{self.node_id}: {self.words}."


def look(history: History, root: Path, failures: Sequence[Sequence[str]]) -> list[Remark]:
    """Nothing if the history cannot be read: the notice that the run is not recorded says why."""
    try:
        with reading(history.address) as store:
            return remarks(Scope(store, project_name.of(root)), failures)
    except Unavailable:
        return []


def remarks(scope: Scope, failures: Sequence[Sequence[str]]) -> list[Remark]:
    runs = recent(scope, MOST_RUNS)
    if not runs.runs:
        return []
    found = {node_ids[0]: _words(scope, runs, node_ids[0]) for node_ids in failures[:MOST_GROUPS]}
    return [Remark(node_id, words) for node_id, words in found.items() if words is not None]


def _words(scope: Scope, runs: Runs, node_id: str) -> str | None:
    test = find(scope, node_id)
    if test is None:
        return None
    results = results_of(scope, test, runs)
    ran = [result for result in results if result.outcome != "S"]
    found, streak = flaky.judge(node_id, results, runs), streak_of(results)
    # If it has failed too often in a row for its rate, that is another fault.
    if found is not None and (found.failed / found.runs) ** len(streak) >= OTHER_FAULT:
        return f"flaky: failed {found.failed} of {found.runs} times, with both outcomes on unchanged code"
    return _since(streak, len(ran)) if streak else None


def _since(streak: Sequence[PastResult], recorded: int) -> str:
    first = streak[-1].run
    at = first.code or first.moment
    if recorded == 1:
        return f"failed in its only recorded run, at {at}"
    if len(streak) == recorded:
        return f"failed in all {recorded} recorded runs since {at}"
    return f"fails since {at}, {len(streak)} {'run' if len(streak) == 1 else 'runs'} ago"
