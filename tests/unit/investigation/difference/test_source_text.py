import pytest

from pytest_mcp.investigation.difference.source_text import is_changed, parting
from pytest_mcp.investigation.result import AT_BASE

BASE = ["def f(a):", "    if a:", "        return 1", "    return 2"]
# The lines of the base and of now, the lines that ran, and what is said.
CASES = {
    "another branch": (
        BASE,
        [2, 3],
        [2, 4],
        "line 2 `if a:`: then line 3 `return 1` at the base, line 4 `return 2` now",
    ),
    "a line with another text": (
        ["", "def f(a):", "    if not a:", *BASE[2:]],
        [2, 3],
        [3, 4],
        "line 3 `if not a:`, at the base `if a:`",
    ),
    "a line that is gone": ([BASE[0], *BASE[2:]], [2, 3], [2], "line 2 `if a:` at the base, line 2 `return 1` now"),
    "it ends earlier": (BASE, [2, 4], [2], "line 2 `if a:`: then line 4 `return 2` at the base, the end now"),
    "lines that have moved": (["# new", *BASE], [2, 3], [3, 4], None),
    "a file that cannot be read": ([], [2], [2], "line 2 `?`, at the base `if a:`"),
}


@pytest.mark.parametrize(("text", "base", "now", "expected"), CASES.values(), ids=CASES)
def test_two_runs_part_at_the_first_line_that_is_not_the_same(
    text: list[str], base: list[int], now: list[int], expected: str | None
) -> None:
    assert parting(base, now, BASE, text, AT_BASE) == expected


def test_long_lines_that_part_at_their_end_are_shown_from_there() -> None:
    base, now = (["def f(a):", f"    return {'a' * 60} + {number}"] for number in (1, 2))

    assert parting([2], [2], base, now, AT_BASE) == f"line 2 `…{'a' * 9} + 2`, at the base `…{'a' * 9} + 1`"


OLD = ["class A:", "    def f(self):", "        return 1", "def f():", "    return 1"]
NEW = ["import os", *OLD[:2], "        return 2", *OLD[3:], "def g():", "    pass"]


@pytest.mark.parametrize(("name", "expected"), [("A.f", True), ("f", False), ("g", True), ("A.gone", False)])
def test_a_definition_is_changed_by_its_own_text_and_not_by_its_place(name: str, expected: bool) -> None:
    assert is_changed(name, OLD, NEW) is expected


def test_a_file_that_cannot_be_parsed_changes_nothing() -> None:
    assert not is_changed("f", OLD, ["def f(:"])
