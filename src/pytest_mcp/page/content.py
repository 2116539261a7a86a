"""What a page is made of: the report of a call, and what only a page shows beside it.

The text of lines that did not run is read from the project's files as they are now. Names of files come from the child,
so only regular files inside the root are read. Whatever cannot be read is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pytest_mcp.report.coverage import MeasuredCoverage
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.run.recordings import parse_ranges

MAX_FILES = 200
MAX_FILE = 1_000_000
# In one file.
MAX_LINES = 200
MAX_LINE = 200

# One run of a test: its letter as in the history, and its seconds if they are known.
Result = tuple[str, float | None]
# Numbers and texts.
SourceLines = Sequence[tuple[int, str]]


class PageOrigin(NamedTuple):
    """Where a page comes from."""

    project: str
    # As it was typed, and the beginning of one that runs some of the tests again.
    command: str
    again: str
    commit: str | None = None


@dataclass(frozen=True)
class Content:
    report: Report
    # By file: the text of lines that did not run.
    missed_lines: Mapping[str, SourceLines] = field(default_factory=dict)
    # With a history: what is recorded of some of the tests, the oldest first, without this run.
    past: Mapping[str, Sequence[Result]] | None = None

    @cached_property
    def tests(self) -> list[RanTest]:
        """In the order in which they ran; a module that skips itself counts as one."""
        return [*self.report.tests, *self.report.skipped_modules]


def read_missed_lines(root: Path, measured: MeasuredCoverage | None) -> dict[str, SourceLines]:
    """By file, of those with the most of them."""
    files = sorted(measured.files, key=lambda file: -file.missed)[:MAX_FILES] if measured is not None else []
    return {file.file: _lines(root.resolve(), file.file, file.ranges) for file in files if file.ranges}


def _lines(root: Path, name: str, ranges: str) -> SourceLines:
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > MAX_FILE:
            return []
        source = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return []
    pairs = [(first, min(last, len(source))) for first, last in parse_ranges(ranges)]
    numbers = [number for first, last in pairs for number in range(max(1, first), last + 1)]
    numbers = [number for number in numbers if source[number - 1].strip()]
    return [(number, source[number - 1].rstrip()[:MAX_LINE]) for number in numbers[:MAX_LINES]]
