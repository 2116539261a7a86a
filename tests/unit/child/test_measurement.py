"""`child/measurement.py`: which lines of coverage.py's report are told."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.child import ours

measurement = ours("measurement")
ENTRY = {"executed_lines": [1, 2, 9], "missing_lines": [3, 7], "missing_branches": [[2, 7], [9, -1]]}


class Library:
    """A statement of lines 5 to 7 counts at its last line."""

    def _get_file_reporter(self, _path: str) -> Any:
        return SimpleNamespace(translate_lines=lambda lines: {7 if line in (5, 6) else line for line in lines})


@pytest.mark.parametrize(
    ("changed", "ran", "missed", "untaken"),
    [
        ("all", {1, 2, 9}, {3, 7}, [[2, 7], [9, -1]]),
        ("2-5", {2}, {3, 7}, [[2, 7]]),
        ("1,9-12", {1, 9}, set(), [[9, -1]]),
        ("", set(), set(), []),
    ],
)
def test_only_the_changed_lines_are_told(
    changed: str, ran: set[int], missed: set[int], untaken: list[list[int]]
) -> None:
    told = measurement.coverage_of(Library(), "a.py", ENTRY, changed)

    assert told == ("a.py", ran, missed, untaken)


def test_a_report_without_branches_and_a_library_without_statements_are_told_as_they_are() -> None:
    entry = {"executed_lines": [1], "missing_lines": [2, 3]}

    assert measurement.coverage_of(object(), "a.py", entry, "2") == ("a.py", set(), {2}, [])


@pytest.mark.parametrize(("name", "inside"), [("a/b.py", "a/b.py"), ("/shop/a.py", "a.py"), ("/other/a.py",) * 2])
def test_names_are_relative_to_the_root_where_they_are_inside(name: str, inside: str) -> None:
    assert measurement.inside(name, "/shop") == inside
