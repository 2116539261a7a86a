"""Notices on `changed`: how many tests a change can reach, or why all of them.

Pure. In comes the run with what its change can reach; out come sentences. Such an answer never reads like one about
the whole suite.
"""

from pytest_mcp.api.reach import Reach
from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.report import targets_not_run
from pytest_mcp.run.run import Run
from pytest_mcp.text import few, in_line, label

_BY_WORKERS = "pytest-xdist's workers chose the tests themselves"


def nothing(reach: Reach) -> str:
    return f"changed since {in_line(reach.since)}: no file, so no test was selected."


def of_run(run: Run[Request]) -> list[str]:
    if run.reach is None or run.ledger.selected is None:
        return []
    why = _why_everything(run, run.reach)
    if why is not None:
        return [f"changed since {in_line(run.reach.since)}: everything, because {why}."]
    return [_share(run, run.reach), *_unreached_targets(run)]


def _why_everything(run: Run[Request], reach: Reach) -> str | None:
    if reach.reason is not None:
        return reach.reason
    if run.ledger.unreached is None:
        return _BY_WORKERS
    return reach.hub if run.ledger.unreached.count == 0 and run.ledger.selected else None


def _share(run: Run[Request], reach: Reach) -> str:
    reached = run.ledger.selected or 0
    total = reached + (run.ledger.unreached.count if run.ledger.unreached else 0)
    files = "1 file" if reach.changed == 1 else f"{reach.changed} files"
    whole = "a run of the whole suite" if isinstance(run.request, ExecuteTests) else "the whole suite"
    since = in_line(reach.since)
    told = f"changed since {since}: {reached} of {total} tests can be reached ({files} changed); not {whole}."
    return f"{told} Every change reaches {few(reach.always)}." if reach.always else told


def _unreached_targets(run: Run[Request]) -> list[str]:
    """What the call names and the change cannot reach. It is no target that was missed."""
    missed = {target.node_id for target in targets_not_run.missed(run.request, run.ledger)}
    names = [target.node_id for target in targets_not_run.unrun(run.request, run.ledger)]
    left_out = [label(name) for name in names if name not in missed]
    executes = isinstance(run.request, ExecuteTests)
    return [f"Named in the call, but not reached by the change: {few(left_out)}."] if left_out and executes else []
