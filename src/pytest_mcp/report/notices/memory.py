"""What is said of a run whose processes may use only so much memory: which failures, and which ends, may come from it.

Pure. In comes the run; out come sentences, none if the operator has set no limit.
"""

import re
from collections.abc import Iterator

from pytest_mcp.api.requests import Request
from pytest_mcp.config import memory
from pytest_mcp.run.run import Run

# How Python, numpy, C++ and the system say that there is no memory left. A thread needs memory for its stack.
_LACKING = re.compile(r"MemoryError|Cannot allocate memory|can't start new thread|bad_alloc|[Oo]ut of memory")
# What a library does that cannot say it.
_SIGNALS = ("SIGABRT", "SIGSEGV", "SIGBUS")


def of_run(run: Run[Request]) -> list[str]:
    lacking = sum(any(map(_LACKING.search, texts)) for texts in _failures(run)) if run.max_memory else 0
    return [f"{lacking} failure(s) for lack of memory: {_limit(run)}."] if lacking else []


def of_end(run: Run[Request]) -> list[str]:
    """Of a process that did not come to the end of its session."""
    fault = run.ledger.internal_fault
    printed = (run.exit.stdout, run.exit.stderr, fault.text if fault else "")
    if not run.max_memory or not (run.exit.signal in _SIGNALS or any(map(_LACKING.search, printed))):
        return []
    return [f"It may have needed more memory: {_limit(run)}."]


def of_setting(limit: int | None) -> list[str]:
    return [f"Each process of a run may use {memory.shown(limit)} of memory (--max-memory)."] if limit else []


def _limit(run: Run[Request]) -> str:
    return f"the operator allows each process of a run {memory.shown(run.max_memory or 0)} (--max-memory)"


def _failures(run: Run[Request]) -> Iterator[list[str]]:
    """The texts of each."""
    for event in run.ledger.collection_failures:
        yield [event.error_type or "", event.message or ""]
    for record in run.ledger.completed:
        yield [
            text
            for phase in record.phases
            if phase.outcome == "failed"
            for text in (phase.message or "", *(line for raised in phase.exceptions for line in raised.text))
        ]
