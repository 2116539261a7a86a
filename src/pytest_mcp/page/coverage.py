"""The coverage of a run on its page: per file, the lines that no test executed.

Pure. In comes the answer's key `coverage`, or None without one; out comes a section, or nothing.
"""

from collections.abc import Iterator
from typing import Any

from pytest_mcp.page.template import Markup, fill
from pytest_mcp.text import cut_middle

MOST_FILES = 200
LONGEST_CELL = 1_000


def section(coverage: dict[str, Any] | None) -> Markup:
    if not coverage:
        return Markup()
    files = coverage.get("files") or []
    rows = [_row(file) for file in files[:MOST_FILES]]
    table = fill("coverage_table.html", rows=rows) if rows else Markup()
    sentences = [fill("paragraph.html", text=text) for text in _sentences(coverage, unlisted=len(files) - len(rows))]
    content = Markup("\n".join([*sentences, table]))
    return fill("section.html", id="coverage", title="Coverage", content=content)


def _row(file: dict[str, Any]) -> Markup:
    return fill(
        "coverage_file.html",
        file=_cell(str(file.get("file"))),
        count=str(file.get("count", "")),
        lines=_cell(", ".join(file.get("missed") or [])),
        branches=_cell(", ".join(file.get("branches") or [])),
    )


def _sentences(coverage: dict[str, Any], *, unlisted: int) -> Iterator[str]:
    if summary := coverage.get("summary"):
        yield str(summary)
    if partial := coverage.get("partial"):
        yield str(partial)
    if names := coverage.get("not_measured"):
        yield _cell(f"Not measured: {', '.join(names)}")
    left_out = unlisted + (coverage.get("omitted") or {}).get("files", 0)
    if left_out:
        yield f"{left_out} more files with lines that did not run are left out."


def _cell(text: str) -> str:
    return cut_middle(text, LONGEST_CELL, separator=" ")
