"""Notices: what a careful colleague would add to the counts of a result.

A notice is one small function that returns its sentence, or nothing; text from tests is quoted in it. Those on the
selection of tests are in `selection`, those on pytest's warnings in `warning_notices`, that on a shard in
`shard_facts`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, Request
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE
from pytest_mcp.config.model import shown_memory
from pytest_mcp.report import failures, pytest_output, selection, warning_notices
from pytest_mcp.report.sandbox_notices import sandbox_notices
from pytest_mcp.run.events import CollectionSkipped
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Run
from pytest_mcp.text import cut_middle, few, in_line, label, quoted

# pytest's exit code for an interruption, by which xdist stops at maxfail.
STOPPED_BY_XDIST = 2
# How many reasons for skips are named, the most frequent first, and how many beside failures.
REASONS_SHOWN = 5
REASONS_BESIDE_FAILURES = 1
# Of the reason for which a module skips itself: a notice names three modules with theirs.
REASON_CHARACTERS = 100
# How Python, numpy, C++ and the system say that there is no memory left. A thread needs memory for its stack.
_LACKING = re.compile(r"MemoryError|Cannot allocate memory|can't start new thread|bad_alloc|[Oo]ut of memory")
# What a library does that cannot say it.
_SIGNALS_OF_LACK = ("SIGABRT", "SIGSEGV", "SIGBUS")


def discovery_notices(run: Run[DiscoverTests]) -> list[str]:
    broken, absent = len(run.ledger.collection_failures), run.ledger.skipped_modules
    return [
        *_on_the_code(run),
        *([f"{broken} file(s) could not be collected; their tests are not counted."] if broken else []),
        *([f"Not counted: the tests of {_modules(absent)}."] if absent else []),
        *_fix(run),
        *_memory(run),
        *selection.selection_notices(run),
        *warning_notices.warning_notices(run),
    ]


def execution_notices(run: Run[ExecuteTests], *, cut_short: bool = False) -> list[str]:
    """The worst news first. The answer of a run that was cut short has keys for what was running and did not run."""
    ledger, request = run.ledger, run.request
    return [
        *_on_the_code(run),
        *_collection(ledger),
        *_fix(run),
        *_memory(run),
        *sandbox_notices(run),
        *selection.selection_notices(run),
        *([] if cut_short else _stopped_early(ledger)),
        *_workers(ledger, request),
        *_workers_down(ledger),
        *_exit_status(run),
        *_threshold(run),
        *_nothing_checked(ledger),
        *_left_behind(run),
        *_lost(ledger),
        *_shortened(run, request),
        *_repeats(ledger),
        *_seed(ledger),
        *warning_notices.warning_notices(run),
        *_skips(ledger, request),
    ]


def _on_the_code(run: Run[Request]) -> list[str]:
    """Whether it is the right code, with the right settings, and how much of it."""
    return [
        *_imported_elsewhere(run.ledger),
        *run.doubts,
        *above_root(run.ledger),
        *selection.change_notices(run),
    ]


def _imported_elsewhere(ledger: Ledger) -> list[str]:
    """First of all notices: the results are not about the code of this project."""
    imported = ledger.imported_elsewhere
    if not imported:
        return []
    first, more = imported[0], f"; so were {len(imported) - 1} more" if len(imported) > 1 else ""
    where = f"from {quoted(first.file)}, not from the project's own {quoted(first.own)}{more}"
    sure = "The tests do not test the code here; is it installed as editable (pip install -e .)?"
    return [f"{quoted(first.name)} was imported {where}. {sure}"]


def above_root(ledger: Ledger) -> list[str]:
    """Settings and conftest files that pytest would have used if its search did not end at the root."""
    above = ledger.above_root
    unused = {"settings": above.settings, "conftests": above.conftests} if above else {}
    what = " and ".join(name for name, paths in unused.items() if paths)
    paths = few(map(in_line, chain(*unused.values())))
    return [f"{what.capitalize()} above the root are not used: {paths}."] if what else []


def _collection(ledger: Ledger) -> list[str]:
    broken = len(ledger.collection_failures)
    if not broken:
        return []
    if ledger.tests:
        return [f"{broken} file(s) could not be collected; their tests did not run."]
    return [f"{broken} file(s) could not be collected, so pytest ran no test at all."]


def _fix(run: Run[Request]) -> list[str]:
    """What to do, as in the message of an error."""
    return [] if run.fix is None else [Sentence("fix: ", run.fix)]


def _memory(run: Run[Request]) -> list[str]:
    if not run.max_memory:
        return []
    texts = [[event.error_type or "", event.message or ""] for event in run.ledger.collection_failures]
    for record in run.ledger.completed:
        failed = [phase for phase in record.phases if phase.outcome == "failed"]
        raised = [line for phase in failed for raised in phase.exceptions for line in raised.text]
        texts.append([*(phase.message or "" for phase in failed), *raised])
    lacking = sum(any(map(_LACKING.search, each)) for each in texts)
    return [f"{lacking} failure(s) for lack of memory: {_memory_limit(run)}."] if lacking else []


def memory_setting(limit: int | None) -> list[str]:
    return [f"Each process of a run may use {shown_memory(limit)} of memory (--max-memory)."] if limit else []


def lack_of_memory(run: Run[Request]) -> list[str]:
    """Of a process that did not come to the end of its session."""
    fault = run.ledger.internal_fault
    printed = (run.exit.stdout, run.exit.stderr, fault.text if fault else "")
    if not run.max_memory or not (run.exit.signal in _SIGNALS_OF_LACK or any(map(_LACKING.search, printed))):
        return []
    return [f"It may have needed more memory: {_memory_limit(run)}."]


def _memory_limit(run: Run[Request]) -> str:
    return f"the operator allows each process of a run {shown_memory(run.max_memory or 0)} (--max-memory)"


def _stopped_early(ledger: Ledger) -> list[str]:
    if ledger.unresolved and not ledger.completed and not ledger.lost:
        return [f"{ledger.unresolved} test(s) were set up but not called; do the project's addopts say --setup-plan?"]
    if unclear := [record.node_id for record in ledger.tests.values() if record.outcome is None]:
        first = label(unclear[0])
        return [f"{len(unclear)} test(s) started but reported no outcome, first {first}."]
    if not ledger.not_run or ledger.ended is None or ledger.collection_failures:
        return []
    why = f" ({in_line(ledger.ended.stopped)})" if ledger.ended.stopped else ""
    return [f"The run stopped early{why}: {ledger.not_run} of {ledger.selected} selected tests did not run."]


def _workers(ledger: Ledger, request: ExecuteTests) -> list[str]:
    asked = request.workers
    if asked in (None, 1) or not ledger.session_started:
        return []
    used = ledger.distributed.workers if ledger.distributed else 1
    limited = asked != "auto" and used < asked
    why = f"; {asked} were asked for, and the operator's limit (--max-workers) is {used}" if limited else ""
    return [f"Ran on {used} workers{why}." if used > 1 else f"Ran in one process{why}."]


def _workers_down(ledger: Ledger) -> list[str]:
    if not ledger.workers_down:
        return []
    errors = few(map(quoted, dict.fromkeys(each.reason for each in ledger.workers_down)))
    counted = "A test that one of them was running counts as failed"
    return [f"{len(ledger.workers_down)} worker process(es) died ({errors}). {counted}."]


def _exit_status(run: Run[Request]) -> list[str]:
    ledger, code = run.ledger, run.exit.code
    expected = 1 if ledger.failed else 5 if not ledger.tests else 0
    if ledger.collection_failures or ledger.ended is None or code in (expected, None):
        return []
    if len(ledger.completed) < len(ledger.tests) or (ledger.distributed and ledger.failed and code == STOPPED_BY_XDIST):
        return []
    if ledger.selected is None and ledger.usage_fault is None:
        return ["pytest ran no tests; do the project's addopts ask it for something else (--fixtures, --cache-show)?"]
    if not ledger.failed and ledger.tests:
        threshold = pytest_output.missed_threshold(run.exit.stdout)
        said = f"pytest-cov says: {quoted(threshold)}." if threshold else ""
        return [
            f"No test failed, yet pytest exited with {code}; "
            + (said or "text_output may say why (a coverage threshold?).")
        ]
    if ledger.usage_fault is not None:
        return []  # it exits with 4 for what was named in a module that skips itself
    return [f"pytest exited with {code}, which does not fit the outcomes of its tests."]


def _threshold(run: Run[Request]) -> list[str]:
    """The child has lifted it."""
    said, request = pytest_output.missed_threshold(run.exit.stdout), run.request
    may_be_part = request.names_part or request.markers or request.keywords or request.changed or run.shard
    if not (said and may_be_part and run.exit.code == 0):
        return []
    return [f"pytest-cov says: {quoted(said)}. This does not fail the call, because it ran only a part of the tests."]


def _nothing_checked(ledger: Ledger) -> list[str]:
    """A run without failures in which no test was executed."""
    absent = ledger.skipped_modules
    if ledger.collection_failures:
        return []
    if not ledger.tests:
        return [f"No test ran, because of {_modules(absent)}."] if absent else []
    if not _all_skipped(ledger):
        return []
    return [f"All {len(ledger.tests) + len(absent)} test(s) were skipped, so nothing was checked: {_reasons(ledger)}."]


def _left_behind(run: Run[Request]) -> list[str]:
    unending = run.exit.reason == "stopped" and run.ledger.returned is not None
    strays, left = run.exit.strays, run.exit.left
    sentences = {
        "pytest did not exit after its session had ended (a thread? an exit handler?) and was killed.": unending,
        f"{strays} process(es) that the run had started were still running at its end and were killed.": strays,
        f"{left} of the run's processes could not be killed in time and may still be running.": left,
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def _lost(ledger: Ledger) -> list[str]:
    if not ledger.lost:
        return []
    return [f"{ledger.lost} record(s) of this run's report were lost, so it does not count as passed; run it again."]


def _shortened(run: Run[Request], request: ExecuteTests) -> list[str]:
    shortened, left_out, ended = run.ledger.shortened, run.exit.left_out, run.ledger.ended
    clipped, characters = (ended.clipped_texts, ended.clipped_characters) if ended is not None else (0, 0)
    more = "" if request.detail == "full" else "; detail full keeps more of each"
    sentences = {
        f"The output of {shortened} failure(s) was shortened: all of them together were too long to keep.": shortened,
        f"{clipped} different text(s) of tests (message, traceback, captured output) were too long:"
        f" {characters} characters were cut from their middle{more}.": clipped > 0,
        f"pytest's output was too long to keep: {left_out} bytes were cut from its middle.": left_out,
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def _repeats(ledger: Ledger) -> list[str]:
    hidden = [record for record in ledger.completed if record.repeated and record.outcome == "passed"]
    names = few(label(record.node_id) for record in hidden)
    return [f"{len(hidden)} test(s) failed first and passed only when repeated: {names}."] if hidden else []


def _seed(ledger: Ledger) -> list[str]:
    if ledger.seeded is None or not ledger.failed:
        return []
    repeat = f"`python -m pytest --randomly-seed={ledger.seeded.seed}` repeats it, and so does that option in addopts"
    return [f"pytest-randomly chose the order and the seed of this run; {repeat}."]


def _skips(ledger: Ledger, request: ExecuteTests) -> list[str]:
    """Reasons with their counts, if the skipped tests themselves are not listed."""
    without_failure = sum(record.outcome in ("passed", "skipped") for record in ledger.completed)
    if request.detail != "auto" or without_failure + len(ledger.skipped_modules) <= LISTED_WITHOUT_FAILURE:
        return []
    reasons = "" if _all_skipped(ledger) else _reasons(ledger)
    return [f"Skipped: {reasons}."] if reasons else []


def _all_skipped(ledger: Ledger) -> bool:
    """An expected failure is counted as skipped too, but it did run."""
    return all(
        record.outcome == "skipped" and all(phase.xfail is None for phase in record.phases)
        for record in ledger.tests.values()
    )


def _reasons(ledger: Ledger) -> str:
    reasons = Counter(failures.skip_reason(record) for record in ledger.completed if record.outcome == "skipped")
    reasons.update(module.reason for module in ledger.skipped_modules)
    common = reasons.most_common(REASONS_BESIDE_FAILURES if ledger.failed else REASONS_SHOWN)
    more = len(reasons) - len(common)
    listed = [f"{count} for {quoted(reason)}" for reason, count in common]
    return "; ".join([*listed, *([f"{more} more reasons"] if more else [])])


def _modules(skipped: Sequence[CollectionSkipped]) -> str:
    reasons = [cut_middle(module.reason, REASON_CHARACTERS, separator=" ") for module in skipped]
    first = few(f"{quoted(module.id)} ({quoted(reason)})" for module, reason in zip(skipped, reasons, strict=True))
    return f"{len(skipped)} module(s) that skip themselves on import: {first}"
