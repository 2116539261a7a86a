"""Notices on a run as a whole: what the counts of a result do not show.

Pure. In comes the run; out come sentences of our own, in which text from tests is quoted. Notices on selection are
in `selection`, those on skipped tests in `skips`, on pytest's warnings in `warnings`.
"""

from itertools import chain

from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, Request
from pytest_mcp.report import pytest_output
from pytest_mcp.report.notices import changes, memory, selection, skips, warnings, workers
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Run
from pytest_mcp.text import few, in_line, label, quoted

# pytest's exit code for an interruption, by which xdist stops at maxfail.
STOPPED_BY_XDIST = 2
# Slow tests are named if a run is longer than this (in seconds), has this many tests, and at most this many of them
# took half of the time.
LONG_RUN = 10.0
MANY_TESTS = 10
FEW_TESTS = 3


def of_discovery(run: Run[DiscoverTests]) -> list[str]:
    broken = len(run.ledger.collection_failures)
    notes = [f"{broken} file(s) could not be collected; their tests are not counted."] if broken else []
    absent = run.ledger.skipped_modules
    notes += [f"Not counted: the tests of {skips.modules(absent)}."] if absent else []
    return [
        *_elsewhere(run.ledger),
        *run.doubts,
        *above_root(run.ledger),
        *changes.of_run(run),
        *notes,
        *_fix(run),
        *memory.of_run(run),
        *selection.of_run(run),
        *warnings.of_run(run),
    ]


def of_execution(run: Run[ExecuteTests], *, cut_short: bool = False) -> list[str]:
    """The answer of a run that was cut short has keys for what was running and what did not run."""
    ledger, request = run.ledger, run.request
    return [
        *_elsewhere(ledger),
        *run.doubts,
        *above_root(ledger),
        *changes.of_run(run),
        *_collection(ledger),
        *_fix(run),
        *memory.of_run(run),
        *selection.of_run(run),
        *([] if cut_short else _stopped_early(ledger)),
        *workers.of_run(run, request),
        *_exit_status(run),
        *_threshold(run),
        *skips.nothing_checked(ledger),
        *_left_behind(run),
        *_lost(ledger),
        *_shortened(run, request),
        *_repeats(ledger),
        *_seed(ledger),
        *warnings.of_run(run),
        *_slowest(run),
        *skips.of_run(ledger, request),
    ]


def _elsewhere(ledger: Ledger) -> list[str]:
    """First of all notices: the results are not about the code of this project."""
    found = ledger.imported_elsewhere
    if not found:
        return []
    first, more = found[0], f"; so were {len(found) - 1} more" if len(found) > 1 else ""
    where = f"from {quoted(first.file)}, not from the project's own {quoted(first.own)}{more}"
    sure = "The tests do not test the code here; is it installed as editable (pip install -e .)?"
    return [f"{quoted(first.name)} was imported {where}. {sure}"]


def above_root(ledger: Ledger) -> list[str]:
    """Settings and conftest files that pytest would have used if its search did not end at the root."""
    found = ledger.above_root
    left_out = {"settings": found.settings, "conftests": found.conftests} if found else {}
    what = " and ".join(name for name, paths in left_out.items() if paths)
    paths = few(map(in_line, chain(*left_out.values())))
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
        why = (
            f"pytest-cov says: {quoted(threshold)}."
            if threshold
            else "text_output may say why (a coverage threshold?)."
        )
        return [f"No test failed, yet pytest exited with {code}; {why}"]
    if ledger.usage_fault is not None:
        return []  # it exits with 4 for what was named in a module that skips itself
    return [f"pytest exited with {code}, which does not fit the outcomes of its tests."]


def _threshold(run: Run[Request]) -> list[str]:
    """The child has lifted it."""
    said = pytest_output.missed_threshold(run.exit.stdout)
    request = run.request
    may_be_part = request.names_part or request.markers or request.keywords or request.changed or run.shard
    if not (said and may_be_part and run.exit.code == 0):
        return []
    return [f"pytest-cov says: {quoted(said)}. This does not fail the call, because it ran only a part of the tests."]


def _seed(ledger: Ledger) -> list[str]:
    if ledger.seeded is None or not ledger.failed:
        return []
    repeat = f"`python -m pytest --randomly-seed={ledger.seeded.seed}` repeats it, and so does that option in addopts"
    return [f"pytest-randomly chose the order and the seed of this run; {repeat}."]


def _left_behind(run: Run[Request]) -> list[str]:
    notes = []
    if run.exit.reason == "stopped" and run.ledger.returned is not None:
        notes.append("pytest did not exit after its session had ended (a thread? an exit handler?) and was killed.")
    if run.exit.strays:
        notes.append(
            f"{run.exit.strays} process(es) that the run had started were still running at its end and were killed."
        )
    if run.exit.left:
        notes.append(f"{run.exit.left} of the run's processes could not be killed in time and may still be running.")
    return notes


def _lost(ledger: Ledger) -> list[str]:
    if not ledger.lost:
        return []
    return [f"{ledger.lost} record(s) of this run's report were lost, so it does not count as passed; run it again."]


def _shortened(run: Run[Request], request: ExecuteTests) -> list[str]:
    ledger, notes = run.ledger, []
    if ledger.shortened:
        notes.append(
            f"The output of {ledger.shortened} failure(s) was shortened: all of them together were too long to keep."
        )
    if ledger.ended is not None and ledger.ended.clipped_texts > 0:
        more = "" if request.detail == "full" else "; detail full keeps more of each"
        texts = f"{ledger.ended.clipped_texts} different text(s) of tests (message, traceback, captured output)"
        missing = f"{ledger.ended.clipped_characters} characters were cut from their middle"
        notes.append(f"{texts} were too long: {missing}{more}.")
    if run.exit.left_out:
        notes.append(f"pytest's output was too long to keep: {run.exit.left_out} bytes were cut from its middle.")
    return notes


def _repeats(ledger: Ledger) -> list[str]:
    hidden = [record for record in ledger.completed if record.repeated and record.outcome == "passed"]
    names = few(label(record.node_id) for record in hidden)
    return [f"{len(hidden)} test(s) failed first and passed only when repeated: {names}."] if hidden else []


def _slowest(run: Run[Request]) -> list[str]:
    """The fewest tests that take more than half of a long run."""
    tests = sorted(run.ledger.completed, key=lambda record: -record.duration)
    clock = run.ledger.ended.duration if run.ledger.ended else run.exit.duration
    # With parallel workers the sum of the durations exceeds the wall-clock time.
    total = max(clock, sum(record.duration for record in tests))
    if total <= LONG_RUN or len(tests) < MANY_TESTS:
        return []
    for count in range(1, FEW_TESTS + 1):
        slowest = tests[:count]
        taken = sum(record.duration for record in slowest)
        if taken > total / 2:
            names = ", ".join(f"{label(record.node_id)} ({record.duration:.1f} s)" for record in slowest)
            return [f"{count} of {len(tests)} tests took {taken:.1f} of {total:.1f} s: {names}."]
    return []
