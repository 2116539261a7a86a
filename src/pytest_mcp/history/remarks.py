"""What recorded runs say of tests of a run that is not recorded yet: remarks for notices, results for a page."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_mcp.config.model import History
from pytest_mcp.history import flaky
from pytest_mcp.history.runs import Runs, failures_in_a_row, reading
from pytest_mcp.history.store import HistoryUnavailable
from pytest_mcp.process import additions
from pytest_mcp.process.background import in_thread

# How many groups of failures have a remark, and the runs that are looked at: it takes milliseconds before an answer.
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
        with reading(history, root, most=MAX_RUNS) as runs:
            return remarks(runs, failures)
    except HistoryUnavailable:
        return {}


def remarks(runs: Runs, failures: Sequence[Sequence[str]]) -> dict[str, str]:
    """For the first test of each group of failures, where there is something to say."""
    words = {node_ids[0]: _words(runs, node_ids[0]) for node_ids in failures[:MAX_GROUPS]}
    return {node_id: said for node_id, said in words.items() if said is not None}


def _words(runs: Runs, node_id: str) -> str | None:
    results = runs.results_of(runs.test_id(node_id))
    flake, streak = flaky.judge(node_id, results, runs), failures_in_a_row(results)
    if flake is not None and flaky.is_chance(len(streak), flake.failed / flake.runs):
        return f"flaky: failed {flake.failed} of {flake.runs} times, with both outcomes on unchanged code"
    if not streak:
        return None
    at = streak[-1].run.code or streak[-1].run.moment
    if all(each.outcome != "P" for each in results):
        only = f"failed in its only recorded run, at {at}"
        return only if len(streak) == 1 else f"failed in all {len(streak)} recorded runs since {at}"
    return f"fails since {at}, {len(streak)} {'run' if len(streak) == 1 else 'runs'} ago"


def last_results(
    history: History, root: Path, node_ids: Sequence[str]
) -> dict[str, list[tuple[str, float | None]]] | None:
    """Letters and seconds of each recorded test, the oldest first; None if the history cannot be read."""
    try:
        with reading(history, root, most=MAX_RUNS) as runs:
            results = {name: runs.results_of(runs.test_id(name), MAX_RESULTS) for name in node_ids}
    except HistoryUnavailable:
        return None
    return {name: [(each.outcome, each.seconds) for each in known] for name, known in results.items() if known}
