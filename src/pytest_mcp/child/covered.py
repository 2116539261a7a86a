"""What coverage.py's own JSON report says of the run, as records for the server.

In come a Coverage object with its data and, for some calls, the changed lines of files; out goes one record for each
file that matters and one for all of them. Line for line it is what `coverage json` says. Standard library only.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any, Callable, Iterable, Iterator

# How many files are told, those with the most missed lines first, and how much of each.
MOST_FILES = 2_000
MOST_RANGES = 1_000
# Instead of ranges: a file that the base lacks.
ALL_LINES = "all"


def tell(emit: Callable[..., bool], cov: Any, folder: str, root: str, changed: dict[str, str] | None) -> None:
    report = report_of(cov, os.path.join(folder, "report.json"))
    files = {inside(name, root): entry for name, entry in report.get("files", {}).items()}
    has_branches = report.get("meta", {}).get("branch_coverage", False)
    rows = [Row(cov, name, entry, has_branches) for name, entry in files.items()]
    if changed is not None:
        rows = [row.limited(changed[row.name], cov) for row in rows if row.name in changed]
    for row in sorted(rows, key=lambda row: (-len(row.missed), row.name))[:MOST_FILES]:
        # Also of a file without gaps: another run of the same suite may have missed some of its lines.
        emit(
            "covered_file",
            file=row.name,
            lines=row.lines,
            missed=len(row.missed),
            ranges=ranges(row.missed),
            untaken=row.untaken[:MOST_RANGES] if has_branches else None,
        )
    totals = report.get("totals", {}) if changed is None else {}
    emit(
        "covered",
        percent=totals.get("percent_covered") if rows else None,
        lines=totals.get("num_statements", sum(row.lines for row in rows)),
        missed=totals.get("missing_lines", sum(len(row.missed) for row in rows)),
        branches=totals.get("num_branches"),
        untaken=totals.get("missing_branches"),
        files=len(rows),
        error=None,
    )


def report_of(cov: Any, path: str) -> dict[str, Any]:
    try:
        # Files that are gone or cannot be parsed are left out, as pytest-cov leaves them out.
        cov.json_report(outfile=path, ignore_errors=True, pretty_print=False, show_contexts=False)
    except Exception as error:
        if "No data to report" in str(error):
            return {}
        raise
    with open(path, encoding="utf-8") as opened:
        report: dict[str, Any] = json.load(opened)
    return report


class Row:
    def __init__(self, cov: Any, name: str, entry: dict[str, Any], has_branches: bool) -> None:
        self.name = name
        self.missed = set(entry["missing_lines"])
        self.ran = set(entry["executed_lines"])
        self.untaken = list(untaken(cov, name, entry)) if has_branches else []

    @property
    def lines(self) -> int:
        return len(self.missed) + len(self.ran)

    def limited(self, to: str, cov: Any) -> Row:
        """Only these lines. A line inside a statement stands for the statement, which counts at its first line."""
        if to == ALL_LINES:
            return self
        lines = numbers(to)
        with suppress(Exception):
            lines = set(cov._get_file_reporter(os.path.abspath(self.name)).translate_lines(lines))
        self.missed &= lines
        self.ran &= lines
        self.untaken = [pair for pair in self.untaken if pair[0] in lines]
        return self


def untaken(cov: Any, name: str, entry: dict[str, Any]) -> Iterator[list[int]]:
    """Pairs of lines; a negative one leaves the function. Reports of coverage.py before 6.5 have only their number."""
    if "missing_branches" in entry:
        yield from map(list, entry["missing_branches"])
    elif entry["summary"].get("missing_branches"):
        for line, targets in sorted(cov._analyze(os.path.abspath(name)).missing_branch_arcs().items()):
            yield from ([line, target] for target in targets)


def inside(name: str, root: str) -> str:
    """coverage.py's names are relative to its working directory, which is the root, or absolute."""
    path = os.path.join(root, name)
    return os.path.relpath(path, root).replace(os.sep, "/") if path.startswith(root + os.sep) else path


def ranges(lines: Iterable[int]) -> str:
    """`3-5,9`."""
    parts: list[list[int]] = []
    for line in sorted(lines):
        if parts and line == parts[-1][1] + 1:
            parts[-1][1] = line
        elif len(parts) == MOST_RANGES:
            break
        else:
            parts.append([line, line])
    return ",".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in parts)


def numbers(text: str) -> set[int]:
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
