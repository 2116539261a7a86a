"""The key `coverage` of an answer: which lines did not run, files with the most of them first.

Pure. In come a run and what its child has told; out comes everything that can be said of it. How many files are shown
is decided in `budget`. A run that did not execute everything says so.
"""

from collections.abc import Sequence

from pytest_mcp.api.reach import ChangedLines
from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.results import Coverage, CoverageFile, OmittedCoverage
from pytest_mcp.events.coverage import Covered, CoveredFile
from pytest_mcp.events.run import Run
from pytest_mcp.report import places
from pytest_mcp.text import in_line

# How many ranges and branches of one file are shown with detail auto, and how many files that were not measured.
MOST_RANGES = 60
MOST_UNMEASURED = 20
EXIT = "exit"


def of_run(run: Run[Request], request: ExecuteTests) -> Coverage | None:
    if request.coverage is None:
        return None
    told = run.ledger.covered
    partial = _partial(run)
    if told is None or told.error is not None:
        late = run.ledger.measuring is not None and "it was not put together within the time limit"
        why = (told.error if told is not None else None) or late
        return nothing(f"coverage is not known: {in_line(why)}" if why else "coverage is not known", partial)
    lines = run.changed_lines if request.coverage == "changed" else None
    by_change = lines is not None and lines.ranges is not None
    most = MOST_RANGES if request.detail == "auto" else None
    gaps = [file for file in run.ledger.covered_files if file.missed or file.untaken]
    unmeasured = _unmeasured(lines, run.ledger.covered_files) if run.ledger.tests else []
    return Coverage(
        summary=_summary(told, lines, whole=not by_change),
        percent=_percent(told),
        partial=partial,
        files=[_shown(file, most) for file in sorted(gaps, key=_most_missed_first)],
        not_measured=unmeasured[:MOST_UNMEASURED],
        omitted=None,
    )


def nothing(summary: str, partial: str | None) -> Coverage:
    return Coverage(summary=summary, percent=None, partial=partial, files=[], not_measured=[], omitted=None)


def first_files(coverage: Coverage, number: int) -> Coverage:
    """Only so many files; the others are counted."""
    rest = coverage.files[number:]
    if not rest:
        return coverage
    left_out = OmittedCoverage(files=len(rest), lines=sum(file.count for file in rest))
    return coverage.model_copy(update={"files": coverage.files[:number], "omitted": left_out})


def _summary(told: Covered, lines: ChangedLines | None, *, whole: bool) -> str:
    ran = told.lines - told.missed
    if not whole:
        assert lines is not None
        what = f"{told.lines} changed lines, {ran} ran" if told.lines else "no changed line can be executed"
        what = what.replace("1 changed lines", "1 changed line") if told.lines == 1 else what
        return f"{what} (since {in_line(lines.since)})"
    branches = ""
    if told.branches is not None and told.untaken is not None:
        branches = f"; {told.branches} branches, {told.branches - told.untaken} taken"
    unknown = f" (all lines, because the changed ones are not known: {lines.reason})" if lines is not None else ""
    return f"{told.lines} lines, {ran} ran{branches}{unknown}"


def _percent(told: Covered) -> float | None:
    """Of coverage.py itself; of changed lines the share that ran. 100 and 0 only if all or none ran."""
    exact = told.percent
    if exact is None and told.lines:
        exact = 100 * (told.lines - told.missed) / told.lines
    if exact is None:
        return None
    return exact if exact in (0, 100) else min(99.99, max(0.01, round(exact, 2)))


def _partial(run: Run[Request]) -> str | None:
    ledger = run.ledger
    reasons = {
        f"{len(ledger.collection_failures)} file(s) could not be collected": bool(ledger.collection_failures),
        "the run did not come to its end": ledger.ended is None,
        f"{len(ledger.running)} test(s) did not finish": bool(ledger.running),
        f"{ledger.not_run} of {ledger.selected} selected tests did not run": bool(ledger.not_run),
        f"{len(ledger.workers_down)} worker(s) died": bool(ledger.workers_down),
        "only tests that the change can reach ran": bool(ledger.unreached and ledger.unreached.count),
        "only the tests of one shard ran": run.shard is not None,
        _unseen(run.changed_lines): bool(_unseen(run.changed_lines)),
    }
    return "; ".join(reason for reason, holds in reasons.items() if holds) or None


def _unseen(lines: ChangedLines | None) -> str:
    return lines.reason or "" if lines is not None and lines.ranges is not None else ""


def _unmeasured(lines: ChangedLines | None, measured: Sequence[CoveredFile]) -> list[str]:
    """Changed source files of which nothing is known: no test imports them, or the settings leave them out."""
    known = {file.file for file in measured}
    changed = lines.ranges if lines is not None and lines.ranges is not None else {}
    return sorted(file for file in changed if file.endswith(".py") and places.is_source(file) and file not in known)


def _most_missed_first(file: CoveredFile) -> tuple[int, int, str]:
    return -file.missed, -len(file.untaken or ()), file.file


def _shown(file: CoveredFile, most: int | None) -> CoverageFile:
    branches = None if file.untaken is None else [_branch(*pair) for pair in file.untaken[:most]]
    ranges = file.ranges.split(",")[:most] if file.ranges else []
    return CoverageFile(file=file.file, count=file.missed, missed=ranges, branches=branches)


def _branch(line: int, target: int) -> str:
    """As coverage.py writes it."""
    return f"{line}->{target if target > 0 else EXIT}"
