"""The key `coverage` of an answer: which lines did not run, files with the most of them first.

`MeasuredCoverage` is all that is known of it; how many files an answer has is decided in `budget`. A run that did not
execute everything says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import Coverage, CoverageFile, OmittedCoverage
from pytest_mcp.report import places
from pytest_mcp.run.events import CoveredFile
from pytest_mcp.run.recordings import parse_ranges
from pytest_mcp.run.run import ChangedLines, Run
from pytest_mcp.text import in_line

# How many ranges and branches of one file are shown with detail auto, and how many files that were not measured.
MAX_RANGES = 60
MAX_UNMEASURED = 20
OF_ONE_SHARD = "only the tests of one shard ran"


@dataclass(frozen=True)
class MeasuredCoverage:
    """What coverage.py has measured, by file and in all."""

    # Why nothing is known; then the rest is empty.
    unknown: str | None = None
    # Reasons why not everything ran that could have.
    partial: Sequence[str] = ()
    files: Sequence[CoveredFile] = ()
    lines: int = 0
    missed: int = 0
    branches: int | None = None
    untaken: int | None = None
    # Of coverage.py itself; None of changed lines, and of several runs.
    percent: float | None = None
    # Since which commit changed lines were counted, if only those were; and why all were although it was asked for.
    since: str | None = None
    not_by_change: str | None = None
    # Changed files that were not measured.
    not_measured: Sequence[str] = ()


def measured_coverage(run: Run[ExecuteTests]) -> MeasuredCoverage:
    ledger, covered = run.ledger, run.ledger.covered
    partial = _partial(run)
    if covered is None or covered.error is not None:
        late = "it was not put together within the time limit" if ledger.measuring is not None else None
        why = (covered.error if covered is not None else None) or late
        return MeasuredCoverage(f"coverage is not known: {in_line(why)}" if why else "coverage is not known", partial)
    lines = run.changed_lines if run.request.coverage == "changed" else None
    changed = lines.ranges if lines is not None else None
    return MeasuredCoverage(
        partial=partial,
        files=ledger.covered_files,
        lines=covered.lines,
        missed=covered.missed,
        branches=covered.branches,
        untaken=covered.untaken,
        percent=covered.percent,
        since=lines.since if lines is not None and changed is not None else None,
        not_by_change=lines.reason if lines is not None and changed is None else None,
        not_measured=_unmeasured(changed or {}, ledger.covered_files) if ledger.tests else (),
    )


def _partial(run: Run[ExecuteTests]) -> list[str]:
    ledger = run.ledger
    unseen = _unseen(run.changed_lines)
    reasons = {
        f"{len(ledger.collection_failures)} file(s) could not be collected": bool(ledger.collection_failures),
        "the run did not come to its end": ledger.ended is None,
        f"{len(ledger.running)} test(s) did not finish": bool(ledger.running),
        f"{ledger.not_run} of {ledger.selected} selected tests did not run": bool(ledger.not_run),
        f"{len(ledger.workers_down)} worker(s) died": bool(ledger.workers_down),
        "only tests that the change can reach ran": bool(ledger.unreached and ledger.unreached.count),
        OF_ONE_SHARD: run.shard is not None,
        unseen: bool(unseen),
    }
    return [reason for reason, holds in reasons.items() if holds]


def _unseen(lines: ChangedLines | None) -> str:
    return lines.reason or "" if lines is not None and lines.ranges is not None else ""


def _unmeasured(changed: Iterable[str], measured: Sequence[CoveredFile]) -> list[str]:
    """Changed source files of which nothing is known: no test imports them, or the settings leave them out."""
    known = {file.file for file in measured}
    return sorted(file for file in changed if file.endswith(".py") and places.is_source(file) and file not in known)


def merged_coverage(parts: Sequence[MeasuredCoverage]) -> MeasuredCoverage | None:
    """Of runs that are one suite: a line is missed if it ran in none of those that measured its file."""
    known = [part for part in parts if part.unknown is None]
    # Of shards each is a part, but not all of them together.
    partial = list(dict.fromkeys(why for part in parts for why in part.partial if why != OF_ONE_SHARD))
    if not known:
        return replace(parts[0], partial=partial) if parts else None
    partial += [part.unknown for part in parts if part.unknown is not None]
    if len(known) == 1:
        return replace(known[0], partial=partial)
    files = _merged_files(known)
    is_disjoint = len(files) == sum(len(part.files) for part in known)
    counted: Sequence[CoveredFile | MeasuredCoverage] = known if is_disjoint else files
    return replace(
        known[0],
        partial=partial,
        files=files,
        lines=sum(each.lines for each in counted),
        missed=sum(each.missed for each in counted),
        # Which branches a file has is told of its run alone.
        branches=_sum(part.branches for part in known) if is_disjoint else None,
        untaken=_sum(part.untaken for part in known) if is_disjoint else None,
        percent=None,
        not_measured=sorted({name for part in known for name in part.not_measured} - {file.file for file in files}),
    )


def _merged_files(known: Sequence[MeasuredCoverage]) -> list[CoveredFile]:
    by_name = sorted((file for part in known for file in part.files), key=lambda file: file.file)
    return [_missed_by_all(list(same)) for _, same in groupby(by_name, key=lambda file: file.file)]


def _missed_by_all(same: Sequence[CoveredFile]) -> CoveredFile:
    """One file as several runs measured it."""
    first, *others = same
    if not others:
        return first
    missed = set.intersection(*(lines_in(file.ranges) for file in same))
    untaken = [pair for pair in first.untaken or () if all(pair in (other.untaken or ()) for other in others)]
    has_branches = all(file.untaken is not None for file in same)
    return CoveredFile(
        first.file, max(file.lines for file in same), len(missed), ranges_of(missed), untaken if has_branches else None
    )


def lines_in(ranges: str) -> set[int]:
    return {line for first, last in parse_ranges(ranges) for line in range(first, last + 1)} if ranges else set()


def ranges_of(lines: Iterable[int]) -> str:
    ordered = enumerate(sorted(lines))
    runs = [[line for _, line in run] for _, run in groupby(ordered, key=lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def coverage_answer(measured: MeasuredCoverage, files: int, *, in_full: bool) -> Coverage:
    """With so many files; the others are counted. Unless in full, the lists of each are cut."""
    gaps = sorted(filter(_has_gaps, measured.files), key=_most_missed_first)
    rest = gaps[files:]
    return Coverage(
        summary=measured.unknown or _summary(measured),
        percent=None if measured.unknown else _percent(measured),
        partial="; ".join(measured.partial) or None,
        files=[_coverage_file(file, None if in_full else MAX_RANGES) for file in gaps[:files]],
        not_measured=list(measured.not_measured[:MAX_UNMEASURED]),
        omitted=OmittedCoverage(files=len(rest), lines=sum(file.missed for file in rest)) if rest else None,
    )


def files_with_gaps(measured: MeasuredCoverage | None) -> int:
    return sum(map(_has_gaps, measured.files)) if measured else 0


def _has_gaps(file: CoveredFile) -> bool:
    return bool(file.missed or file.untaken)


def _most_missed_first(file: CoveredFile) -> tuple[int, int, str]:
    return -file.missed, -len(file.untaken or ()), file.file


def _coverage_file(file: CoveredFile, most: int | None) -> CoverageFile:
    ranges = file.ranges.split(",")[:most] if file.ranges else []
    # As coverage.py writes them.
    branches = [f"{line}->{target if target > 0 else 'exit'}" for line, target in (file.untaken or ())[:most]]
    return CoverageFile(
        file=file.file, count=file.missed, missed=ranges, branches=None if file.untaken is None else branches
    )


def _summary(measured: MeasuredCoverage) -> str:
    lines, ran = measured.lines, measured.lines - measured.missed
    counted = "line" if lines == 1 else "lines"
    if measured.since is not None:
        what = f"{lines} changed {counted}, {ran} ran" if lines else "no changed line can be executed"
        return f"{what} (since {in_line(measured.since)})"
    branches = ""
    if measured.branches is not None and measured.untaken is not None:
        branches = f"; {measured.branches} branches, {measured.branches - measured.untaken} taken"
    why = measured.not_by_change
    unknown = f" (all lines, because the changed ones are not known: {why})" if why is not None else ""
    return f"{lines} {counted}, {ran} ran{branches}{unknown}"


def _percent(measured: MeasuredCoverage) -> float | None:
    """Of coverage.py itself, or as it counts. 100 and 0 only if all or none ran."""
    exact = measured.percent
    if exact is None and measured.lines:
        branches, untaken = (measured.branches or 0, measured.untaken or 0) if measured.since is None else (0, 0)
        ran = measured.lines - measured.missed + branches - untaken
        exact = 100 * ran / (measured.lines + branches)
    if exact is None:
        return None
    return exact if exact in (0, 100) else min(99.99, max(0.01, round(exact, 2)))
