"""The measure of suspects: in which function a bug is, and the document. No library is needed."""

import pytest

from bench.suspects import report, results
from bench.suspects.results import Entry
from bench.suspects.truth import function_at

SOURCE = """\
@decorated(1)
def outer(a=2):
    b = [c for c in a]
    def inner():
        return 3
    return lambda: (
        inner)

class Shop:
    price = 4
    class Till:
        async def open(self):
            if self:
                return 5
"""


@pytest.mark.parametrize(
    ("line", "function"),
    [
        (1, "<module>"),
        (2, "<module>"),
        (3, "outer"),
        (5, "outer.<locals>.inner"),
        (7, "outer"),
        (10, "<module>"),
        (14, "Shop.Till.open"),
    ],
)
def test_a_line_is_in_the_innermost_function_around_it(line: int, function: str) -> None:
    assert function_at(SOURCE, line) == function


def entry(library: str, rank: int | None, plain: float = 1.0) -> Entry:
    return Entry("2026-01-01", library, "a.py", "f", "test_a.py::test_a", 1, 9, rank, ("a.py:f",), plain, 2.0)


def test_the_document_tells_the_holdout_apart_and_names_missed_goals() -> None:
    found = report.document({"one": entry("h11", 1), "two": entry("h11", 3), "three": entry("toolz", None, 0.0)})

    holdout, others = found.split("## The other libraries")
    assert "| the function with the bug is first | 1 of 2 (50%) | ≥ 60% | missed |" in holdout
    assert "| it is among the first 5 | 2 of 2 (100%) | ≥ 85% |  |" in holdout
    assert "| time of the traced tests, median | 2.00 | ≤ 3.0 |  |" in holdout
    assert "| it is among the first 5 | 0 of 1 (0%) | ≥ 85% | missed |" in others
    assert "| three | `f` | - | 1 | 1 | 9 | - |" in others


def test_the_document_is_written_from_the_saved_results() -> None:
    assert report.FILE.read_text(encoding="utf-8") == report.document(results.load())
