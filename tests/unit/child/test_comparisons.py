"""Whose explanation of a failed comparison is shown, and that pytest's own costs nothing meanwhile."""

import difflib
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.child import ours

comparisons: Any = ours("comparisons")
LISTS = ("==", [1], [2])
OURS = ["[1] == [2]", "[0]: 1 != 2"]
PYTESTS = ["[1] == [2]", "At index 0 diff: 1 != 2", "Use -v to get more diff"]
lines = st.lists(st.text("ab", max_size=3), max_size=30)


def explained(*results: list[str], op: str = "==", left: object = (1,), right: object = (2,), others: int = 0) -> Any:
    """What a test is shown, of a pytest with so many hooks of others."""
    assertion = SimpleNamespace(pytest_assertrepr_compare=lambda *_: PYTESTS)
    hooks = [SimpleNamespace(plugin=assertion), *[SimpleNamespace(plugin=None)] * others]
    config = SimpleNamespace(
        option=SimpleNamespace(verbose=0),
        hook=SimpleNamespace(pytest_assertrepr_compare=SimpleNamespace(get_hookimpls=lambda: hooks)),
        pluginmanager=SimpleNamespace(get_plugin=lambda _: assertion),
    )
    return comparisons.Comparisons(config).explained(results, op, left, right)


def test_what_differs_stands_in_place_of_pytests_explanation() -> None:
    assert explained(PYTESTS, left=[1], right=[2]) == OURS
    assert explained(PYTESTS, left=[1], right=[2], others=1) == OURS


def test_what_a_plugin_or_the_project_explains_stays_without_hints_for_a_person() -> None:
    theirs = ["our words", "  Use -v to get more diff", "1 is not 2, use '-vv' to show"]

    assert explained(theirs, PYTESTS, left=[1], right=[2], others=1) == ["our words", "1 is not 2"]


def test_two_columns_of_pytest_icdiff_are_replaced() -> None:
    columns = ["equals failed", "'\x00^a\x01'  '\x00^b\x01'"]

    assert explained(columns, PYTESTS, left=[1], right=[2], others=1) == OURS


def test_values_that_have_no_parts_need_no_explanation() -> None:
    assert explained(left=1, right=2) == []


def test_a_tolerance_is_explained_by_pytest() -> None:
    words = ["[1.0] == approx([1.1])", "comparison failed. Mismatched elements: 1 / 1:"]

    assert explained(words, left=[1.0], right=pytest.approx([1.1])) == words


def test_a_value_that_raises_when_it_is_looked_at_leaves_pytests_explanation() -> None:
    class Hostile(dict[str, int]):
        def __iter__(self) -> Any:
            raise ValueError

    assert explained(["theirs"], left=Hostile(a=1), right=Hostile(a=2)) == ["theirs"]


@pytest.mark.parametrize("op", ["in", "not in"])
def test_a_text_that_should_or_should_not_be_in_a_long_one_is_shown_where_it_is_or_nearly_is(op: str) -> None:
    text = "x" * 300 + ("half a word" if op == "not in" else "half a wort") + "y" * 300

    first, where = explained(["pytest's words"], op=op, left="half a word", right=text)

    assert first.startswith(f"'half a word' {op} 'xxxx")
    assert len(first) < 80
    assert "character 301: …'xxxxxxxxxxxxxxxhalf a wor" in where


@given(lines, lines)
def test_a_difference_without_a_look_for_similar_lines_has_every_line_of_both_sides_in_order(
    old: list[str], new: list[str]
) -> None:
    every = list(comparisons.marked(old, new))

    assert [line[2:] for line in every if not line.startswith("+ ")] == old
    assert [line[2:] for line in every if not line.startswith("- ")] == new


def test_pytest_computes_no_difference_that_is_not_shown() -> None:
    with comparisons.quick_differences(without_lines=True):
        assert list(difflib.ndiff(["a"], ["b"])) == []
    with comparisons.quick_differences():
        assert list(difflib.ndiff(["a"], ["b"])) == ["- a", "+ b"]


def test_a_difference_with_options_of_its_own_is_left_to_python() -> None:
    """A hook of the project may ask for one, and so may another thread."""
    old, new = ["one  two"], ["one two"]
    expected = list(difflib.ndiff(old, new, charjunk=None))

    with comparisons.quick_differences():
        assert list(difflib.ndiff(old, new, charjunk=None)) == expected
        assert list(difflib.ndiff(old, new, None, None)) == expected


def test_threads_that_compare_at_once_leave_the_library_as_it_was() -> None:
    before = difflib.ndiff
    first, second = comparisons.quick_differences(), comparisons.quick_differences()
    with ThreadPoolExecutor(1) as other:
        first.__enter__()
        other.submit(second.__enter__).result()
        first.__exit__(None, None, None)
        other.submit(second.__exit__, None, None, None).result()

    assert difflib.ndiff is before


@pytest.mark.parametrize("module", [None, ModuleType("difflib")])
def test_a_project_may_have_a_difflib_of_its_own(module: ModuleType | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "difflib", module)

    with comparisons.quick_differences():
        compared = sys.modules["difflib"]

    assert compared is module
