"""The text of the lines that no test executed, from the files of the project as they are now.

Names of files come from the child, so only regular files inside the root are read. Whatever cannot be read is left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_mcp.report.coverage import Measured

MOST_FILES = 200
LARGEST_FILE = 1_000_000
# Of one file.
MOST_LINES = 200
LONGEST_LINE = 200

Lines = list[tuple[int, str]]


def read(root: Path, measured: Measured | None) -> dict[str, Lines]:
    """By file, of those with the most of them."""
    files = sorted(measured.files, key=lambda file: -file.missed)[:MOST_FILES] if measured is not None else []
    return {file.file: _lines(root.resolve(), file.file, file.ranges.split(",")) for file in files if file.ranges}


def _lines(root: Path, name: str, ranges: Sequence[str]) -> Lines:
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return []
        source = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return []
    numbers = [number for number in _numbers(ranges, len(source)) if source[number - 1].strip()]
    return [(number, source[number - 1].rstrip()[:LONGEST_LINE]) for number in numbers[:MOST_LINES]]


def _numbers(ranges: Sequence[str], last: int) -> Iterator[int]:
    for each in ranges:
        first, _, end = each.partition("-")
        yield from range(max(1, int(first)), min(int(end or first), last) + 1)
