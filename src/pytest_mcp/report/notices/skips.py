"""Notices on what was skipped: the reasons with their counts, and runs that checked nothing.

Pure. In comes the ledger; out come sentences in which the reasons are quoted.
"""

from collections import Counter

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE
from pytest_mcp.report import failures
from pytest_mcp.run.events import CollectionSkipped
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.text import cut_middle, few, quoted

# How many reasons for skips a notice names, the most frequent first, and how many beside failures.
REASONS_SHOWN = 5
REASONS_BESIDE_FAILURES = 2
# Of the reason for which a module skips itself: a notice names three modules with theirs.
REASON_CHARACTERS = 100


def nothing_checked(ledger: Ledger) -> list[str]:
    """A run without failures in which no test was executed."""
    if ledger.collection_failures:
        return []
    if not ledger.tests:
        absent = ledger.skipped_modules
        return [f"No test ran, because of {modules(absent)}."] if absent else []
    if not _all_skipped(ledger):
        return []
    count = len(ledger.tests) + len(ledger.skipped_modules)
    return [f"All {count} test(s) were skipped, so nothing was checked: {_reasons(ledger)}."]


def _all_skipped(ledger: Ledger) -> bool:
    """An expected failure is counted as skipped too, but it did run."""
    return all(
        record.outcome == "skipped" and all(phase.xfail is None for phase in record.phases)
        for record in ledger.tests.values()
    )


def modules(skipped: list[CollectionSkipped]) -> str:
    reasons = [cut_middle(module.reason, REASON_CHARACTERS, separator=" ") for module in skipped]
    first = few(f"{quoted(module.id)} ({quoted(reason)})" for module, reason in zip(skipped, reasons, strict=True))
    return f"{len(skipped)} module(s) that skip themselves on import: {first}"


def of_run(ledger: Ledger, request: ExecuteTests) -> list[str]:
    """Reasons with their counts, if the skipped tests themselves are not listed."""
    without_failure = sum(record.outcome in ("passed", "skipped") for record in ledger.completed)
    if request.detail != "auto" or without_failure + len(ledger.skipped_modules) <= LISTED_WITHOUT_FAILURE:
        return []
    reasons = "" if _all_skipped(ledger) else _reasons(ledger)
    return [f"Skipped: {reasons}."] if reasons else []


def _reasons(ledger: Ledger) -> str:
    reasons = Counter(failures.skip_reason(record) for record in ledger.completed if record.outcome == "skipped")
    reasons.update(module.reason for module in ledger.skipped_modules)
    common = reasons.most_common(REASONS_BESIDE_FAILURES if ledger.failed else REASONS_SHOWN)
    more = len(reasons) - len(common)
    listed = [f"{count} for {quoted(reason)}" for reason, count in common]
    return "; ".join([*listed, *([f"{more} more reasons"] if more else [])])
