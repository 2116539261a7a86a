"""Notices on a run that pytest-xdist distributes: how many workers there were, and what went otherwise with them.

Pure. In comes the run; out come sentences. A run without workers that asks for none has no such notice.
"""

from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Run
from pytest_mcp.text import few, quoted


def of_run(run: Run[Request], request: ExecuteTests) -> list[str]:
    return [*_used(run.ledger, request), *_down(run.ledger), *_overrun(run.ledger)]


def _used(ledger: Ledger, request: ExecuteTests) -> list[str]:
    asked = request.workers
    used = ledger.distributed.workers if ledger.distributed else 1
    if asked in (None, 1) or not ledger.session_started:
        return []
    limited = asked != "auto" and used < asked
    why = f"; {asked} were asked for, and the operator's limit (--max-workers) is {used}" if limited else ""
    return [f"Ran on {used} workers{why}." if used > 1 else f"Ran in one process{why}."]


def _down(ledger: Ledger) -> list[str]:
    if not ledger.workers_down:
        return []
    errors = few(map(quoted, dict.fromkeys(each.reason for each in ledger.workers_down)))
    counted = "A test that one of them was running counts as failed"
    return [f"{len(ledger.workers_down)} worker process(es) died ({errors}). {counted}."]


def _overrun(ledger: Ledger) -> list[str]:
    if ledger.overrun is None:
        return []
    why = "the workers had already received them"
    return [f"{ledger.overrun.count} more test(s) ran after the failure that stopped the run: {why}."]
