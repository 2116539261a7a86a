"""The sentences a careful colleague would add to a result; none when there is nothing to say.

Pure. Our own words and counts; what a test says stands in one only in quotes.
"""

from collections import Counter

from pytest_mcp import failures
from pytest_mcp.ledger import Ledger, Run
from pytest_mcp.requests import DiscoverTests, ExecuteTests, Request
from pytest_mcp.results import LISTED_WITHOUT_FAILURE

# The reasons of skips that a notice names, the most frequent first.
REASONS_SHOWN = 5


def of_discovery(run: Run[DiscoverTests]) -> list[str]:
    broken = len(run.ledger.collection_failures)
    notes = [f"{broken} file(s) could not be collected; their tests are not counted."] if broken else []
    return [*notes, *_nothing_selected(run)]


def of_execution(run: Run[Request], request: ExecuteTests) -> list[str]:
    ledger = run.ledger
    return [
        *_collection(ledger),
        *_nothing_selected(run),
        *_chosen_from_cache(ledger),
        *_stopped_early(ledger),
        *_exit_status(run),
        *_left_behind(run),
        *_lost(ledger),
        *_shortened(ledger),
        *_repeats(ledger),
        *_skips(ledger, request),
    ]


def _collection(ledger: Ledger) -> list[str]:
    broken = len(ledger.collection_failures)
    if not broken:
        return []
    if ledger.tests:
        return [f"{broken} file(s) could not be collected; their tests did not run."]
    return [f"{broken} file(s) could not be collected, so pytest ran no test at all."]


def _nothing_selected(run: Run[Request]) -> list[str]:
    ledger = run.ledger
    if ledger.selected != 0 or ledger.collection_failures or ledger.skipped_modules:
        return []
    if ledger.deselected:
        filters = [name for name in ("markers", "keywords") if getattr(run.request, name) is not None]
        by = " and ".join(filters) or "the project's own options (addopts)"
        return [f"No test was selected: {ledger.deselected} were collected and all were deselected by {by}."]
    where = "there" if run.request.targets else "in the project's test paths"
    return [f"No test was selected: pytest collected none {where}."]


def _chosen_from_cache(ledger: Ledger) -> list[str]:
    options = [f"--{name}" for name in (ledger.configured.from_cache if ledger.configured else [])]
    if not options:
        return []
    return [f"The project's addopts choose tests by what failed last time ({', '.join(options)}); others did not run."]


def _stopped_early(ledger: Ledger) -> list[str]:
    if ledger.unresolved and not ledger.completed and not ledger.lost:
        return [f"{ledger.unresolved} test(s) were set up but not called; do the project's addopts say --setup-plan?"]
    if unclear := [record.node_id for record in ledger.tests.values() if record.outcome is None]:
        return [f"{len(unclear)} test(s) started and have no outcome, first {unclear[0]}: what happened is not known."]
    if not ledger.not_run or ledger.ended is None or ledger.collection_failures:
        return []
    why = f" ({ledger.ended.stopped})" if ledger.ended.stopped else ""
    return [f"The run stopped early{why}: {ledger.not_run} of {ledger.selected} selected tests did not run."]


def _exit_status(run: Run[Request]) -> list[str]:
    ledger, code = run.ledger, run.exit.code
    expected = 1 if ledger.failed else 5 if not ledger.tests else 0
    if ledger.collection_failures or ledger.ended is None or code in (expected, None):
        return []
    if len(ledger.completed) < len(ledger.tests):
        return []
    if ledger.selected is None:
        return ["pytest ran no tests; do the project's addopts ask it for something else (--fixtures, --cache-show)?"]
    if not ledger.failed and ledger.tests:
        return [f"No test failed, yet pytest exited with {code}; text_output may say why (a coverage threshold?)."]
    return [f"pytest exited with {code}, which does not follow from its tests."]


def _left_behind(run: Run[Request]) -> list[str]:
    notes = []
    if run.exit.reason == "stopped":
        notes.append("pytest did not exit after its session had ended (a thread? an exit handler?) and was killed.")
    if run.exit.strays:
        notes.append(
            f"{run.exit.strays} process(es) that the run had started were still there at its end and were ended."
        )
    return notes


def _lost(ledger: Ledger) -> list[str]:
    if not ledger.lost:
        return []
    return [f"{ledger.lost} report(s) of this run were lost, so it cannot be called a pass; run it again."]


def _shortened(ledger: Ledger) -> list[str]:
    if not ledger.shortened:
        return []
    return [f"The output of {ledger.shortened} failure(s) was shortened: together they said too much to keep."]


def _repeats(ledger: Ledger) -> list[str]:
    hidden = [record for record in ledger.completed if record.repeated and record.outcome == "passed"]
    return [f"{len(hidden)} test(s) failed first and passed only when repeated."] if hidden else []


def _skips(ledger: Ledger, request: ExecuteTests) -> list[str]:
    """Reasons with their counts, where the skipped tests themselves are not listed."""
    without_failure = [record for record in ledger.completed if record.outcome in ("passed", "skipped")]
    if request.detail != "auto" or len(without_failure) + len(ledger.skipped_modules) <= LISTED_WITHOUT_FAILURE:
        return []
    reasons = Counter(failures.message(record) for record in without_failure if record.outcome == "skipped")
    reasons.update(module.reason for module in ledger.skipped_modules)
    if not reasons:
        return []
    common = reasons.most_common(REASONS_SHOWN)
    more = len(reasons) - len(common)
    listed = [f"{count} for {reason!r}" for reason, count in common] + ([f"{more} more reasons"] if more else [])
    return [f"Skipped: {'; '.join(listed)}."]
