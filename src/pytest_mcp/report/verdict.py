"""The one place that decides whether a run, or several together, passed.

Everything else that says `passed` asks here. A verdict is never better than its evidence: each fact below can only
take `passed` away, and the worst one names what it becomes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mcp.api.results import Verdict
from pytest_mcp.process.job import Exit
from pytest_mcp.run.ledger import Ledger

# pytest's own exit code for it; it uses it too when every module has skipped itself.
NO_TESTS_COLLECTED = 5


@dataclass(frozen=True)
class Evidence:
    # The run was cut short, or was never started.
    has_no_result: bool = False
    # A test failed or errored, or a file could not be collected.
    has_failed: bool = False
    # The session did not end, a record was lost, or a selected test has no outcome; of several, one did not finish.
    is_unfinished: bool = False
    # Nothing was selected.
    is_empty: bool = False
    # pytest itself says that something is wrong.
    has_bad_exit: bool = False
    # Something that was asked for by name did not run.
    has_missed: bool = False


def verdict_of(evidence: Evidence) -> Verdict:
    """The first that applies. Zero tests are no pass, whatever pytest exits with."""
    rules: tuple[tuple[Verdict, bool], ...] = (
        ("incomplete", evidence.has_no_result),
        ("failed", evidence.has_failed),
        ("incomplete", evidence.is_unfinished),
        ("no_tests", evidence.is_empty),
        ("failed", evidence.has_bad_exit),
        ("incomplete", evidence.has_missed),
    )
    return next((verdict for verdict, applies in rules if applies), "passed")


def run_evidence(ledger: Ledger, exit: Exit, *, missed: bool = False, has_result: bool = True) -> Evidence:  # noqa: A002
    """`missed`: a target that was named did not run, or a shard did not run its share."""
    outcomes = Counter(record.outcome for record in ledger.tests.values())
    skips_itself = _named_what_skips_itself(ledger)
    selected_ran = ledger.selected is not None and len(ledger.tests) >= ledger.selected and not outcomes[None]
    nothing_ran = not ledger.tests and (not ledger.skipped_modules or exit.code == NO_TESTS_COLLECTED)
    return Evidence(
        has_no_result=not has_result,
        has_failed=bool(outcomes["failed"] or outcomes["error"] or ledger.collection_failures),
        is_unfinished=ledger.ended is None or ledger.lost > 0 or not (selected_ran or skips_itself),
        is_empty=skips_itself or nothing_ran,
        has_bad_exit=exit.code != 0 or ledger.ended is None or ledger.ended.exit_status != 0,
        has_missed=missed,
    )


def merged_evidence(parts: Sequence[Evidence], *, one_is_missing: bool, may_be_empty: bool) -> Evidence:
    """Of runs that are one suite together. `may_be_empty`: a part without tests is as it should be."""
    verdicts = set(map(verdict_of, parts))
    return Evidence(
        has_failed="failed" in verdicts or any(part.has_failed for part in parts),
        is_unfinished=one_is_missing or "incomplete" in verdicts,
        is_empty=verdicts <= {"no_tests"},
        has_missed="no_tests" in verdicts and not may_be_empty,
    )


def _named_what_skips_itself(ledger: Ledger) -> bool:
    """pytest does not find a test in a module that skips itself, and then runs none of the others either."""
    return ledger.usage_fault is not None and bool(ledger.skipped_modules) and not ledger.tests
