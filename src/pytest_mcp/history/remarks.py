"""What recorded runs say of tests of a run that is not recorded yet: remarks for notices, results for a page."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_mcp.config.model import History
from pytest_mcp.history import flaky
from pytest_mcp.history.flaky import OTHER_FAULT
from pytest_mcp.history.runs import PastResult, Runs, Scope, find, reading, recent, results_of, streak_of
from pytest_mcp.history.store import HistoryUnavailable
from pytest_mcp.process import additions
from pytest_mcp.process.background import in_thread

# As many groups as an answer shows whole, and the runs that are looked at: it takes milliseconds before an answer.
MAX_GROUPS = 5
MAX_RUNS = 500
# In seconds. Nobody waits longer for it.
MAX_SECONDS = 1
# As many letters as fit on a phone, with that of the run itself.
MAX_RESULTS = 29


async def remarks_in_time(history: History, root: Path, failures: Sequence[Sequence[str]]) -> dict[str, str]:
    """The same as `remarks`, but none if that takes too long."""
    asked = in_thread(partial(_read, history, root, failures))
    return await additions.awaited("recorded runs", asked, instead={}, seconds=MAX_SECONDS)


def _read(history: History, root: Path, failures: Sequence[Sequence[str]]) -> dict[str, str]:
    """Nothing if the history cannot be read: the notice that the run is not recorded says why."""
    try:
        with reading(history, root) as scope:
            return remarks(scope, failures)
    except HistoryUnavailable:
        return {}


def remarks(scope: Scope, failures: Sequence[Sequence[str]]) -> dict[str, str]:
    """Of the first test of each group of failures, where there is something to say."""
    runs = recent(scope, MAX_RUNS)
    words = {node_ids[0]: _words(scope, runs, node_ids[0]) for node_ids in failures[:MAX_GROUPS]}
    return {node_id: said for node_id, said in words.items() if said is not None}


def _words(scope: Scope, runs: Runs, node_id: str) -> str | None:
    results = results_of(scope, find(scope, node_id), runs)
    ran = [result for result in results if result.outcome != "S"]
    flake, streak = flaky.judge(node_id, results, runs), streak_of(results)
    # If it has failed too often in a row for its rate, that is another fault.
    if flake is not None and (flake.failed / flake.runs) ** len(streak) >= OTHER_FAULT:
        return f"flaky: failed {flake.failed} of {flake.runs} times, with both outcomes on unchanged code"
    return _since(streak, len(ran)) if streak else None


def _since(streak: Sequence[PastResult], recorded: int) -> str:
    first = streak[-1].run
    at = first.code or first.moment
    if recorded == 1:
        return f"failed in its only recorded run, at {at}"
    if len(streak) == recorded:
        return f"failed in all {recorded} recorded runs since {at}"
    return f"fails since {at}, {len(streak)} {'run' if len(streak) == 1 else 'runs'} ago"


def last_results(
    history: History, root: Path, node_ids: Sequence[str]
) -> dict[str, list[tuple[str, float | None]]] | None:
    """Letters and seconds of each recorded test, the oldest first; None if the history cannot be read."""
    try:
        with reading(history, root) as scope:
            runs = recent(scope, MAX_RUNS)
            results = {name: results_of(scope, find(scope, name), runs, MAX_RESULTS) for name in node_ids}
    except HistoryUnavailable:
        return None
    return {name: [(each.outcome, each.seconds) for each in known] for name, known in results.items() if known}
