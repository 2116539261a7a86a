"""What of a comparison is added to pytest's explanation, and what is left out; test_failures_as_data has real ones."""

import difflib
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

# Modules of the child are not part of the package, so types are not known here.
comparisons = import_module("pytest_mcp.child.comparisons")
ALWAYS_SHOWN, EQUAL_LINES = comparisons.ALWAYS_SHOWN, comparisons.EQUAL_LINES
EVERYTHING, LONG_VALUES, MAX_VALUE = comparisons.EVERYTHING, comparisons.LONG_VALUES, comparisons.MAX_VALUE
shortened, unsaid, verbosity_for = comparisons.shortened, comparisons.unsaid, comparisons.verbosity_for

HEAD = ["[1] == [2]", "At index 0 diff: 1 != 2", "Full diff:"]
SHOWN = ["  shown"] * ALWAYS_SHOWN
differing = st.builds(str.__add__, st.sampled_from(["- ", "+ ", "? "]), st.text("ab ^:", min_size=1, max_size=5))
equal = st.builds(str.__add__, st.just("  "), st.text("abc[]{},", min_size=1, max_size=5))


@given(st.lists(differing | equal, max_size=60))
def test_what_differs_in_a_comparison_survives_whole_and_in_order(lines: list[str]) -> None:
    kept = iter(shortened([*HEAD, *lines]))

    assert all(line in kept for line in [*HEAD, *lines] if not line.startswith("  "))


@given(st.lists(differing | equal, max_size=60))
def test_equal_lines_are_left_out_only_where_their_number_is_said(lines: list[str]) -> None:
    kept = shortened([*HEAD, *lines])

    said = [int(line.split()[1]) for line in kept if line.endswith("equal lines ...]")]
    assert len(HEAD) + len(lines) == len(kept) + sum(said) - len(said)


def test_the_lines_that_pytest_itself_would_show_stay() -> None:
    assert shortened(SHOWN) == SHOWN
    assert shortened([*SHOWN, *["  same"] * EQUAL_LINES, "- a"]) == [*SHOWN, *["  same"] * EQUAL_LINES, "- a"]


def test_a_long_comparison_keeps_a_line_of_what_is_equal_on_either_side() -> None:
    lines = ["  first", *["  same"] * 20, "  before", "- a", "+ b", "  ]"]

    assert shortened([*SHOWN, *lines]) == [
        *SHOWN,
        "  first",
        "  [... 20 equal lines ...]",
        "  before",
        "- a",
        "+ b",
        "  ]",
    ]


def test_the_explanation_of_an_attribute_is_indented_and_stays_whole() -> None:
    lines = [*SHOWN, "Drill down into differing attribute price:", *["  a line"] * 20]

    assert shortened(lines) == lines


def test_what_pytest_says_to_a_person_is_left_out_of_the_explanation_of_an_attribute_too() -> None:
    lines = ["Drill down into differing attribute price:", "  price: [1] != [2]", "  Use -v to get more diff"]
    explain = comparisons.Comparisons(SimpleNamespace(option=SimpleNamespace(verbose=0)))
    explain.differences = lambda _: []

    assert explain.explained([lines], ("==", 1, 2)) == [lines[:2]]


def test_empty_lines_at_the_end_are_left_out() -> None:
    assert shortened([*SHOWN, "- a", "", ""]) == [*SHOWN, "- a"]


@pytest.mark.parametrize(
    ("kept", "added"),
    [
        (["At index 17 diff: 'pen' != 'ink'"], []),
        (["At index 17 diff: 'pen' != 'i...k'"], ["-     'ink',", "+     'pen',"]),
    ],
)
def test_differing_lines_are_added_unless_the_brief_explanation_has_each_of_them(
    kept: list[str], added: list[str]
) -> None:
    assert unsaid(["-     'ink',", "+     'pen',"], kept) == added


@pytest.mark.parametrize(
    ("explanation", "left", "verbosity"),
    [
        ([], "ü", LONG_VALUES),
        ([], "ü" * MAX_VALUE, EVERYTHING),
        (["'a' == 'b'", "- b", "+ a"], "ü" * MAX_VALUE, LONG_VALUES),
        (["a line"] * (ALWAYS_SHOWN + 1), "a", EVERYTHING),
        (["a" * 700], "a", EVERYTHING),
    ],
)
def test_pytest_is_as_verbose_as_it_must_be_to_cut_nothing(explanation: list[str], left: str, verbosity: int) -> None:
    assert verbosity_for(explanation, left, None) == verbosity


@pytest.mark.parametrize("others", [[["'a' == 'b'", "- b", "+ a"]], []])
def test_two_columns_of_pytest_icdiff_are_replaced_by_what_pytest_says(others: list[list[str]]) -> None:
    columns = ["equals failed", "'\x00^a\x01'  '\x00^b\x01'"]
    compared = comparisons.Comparisons(SimpleNamespace(option=SimpleNamespace(verbose=0)))

    assert compared.explained([columns, *others], ("==", "a", "b")) == others


lines = st.lists(st.text("ab", max_size=3), max_size=30)


@given(lines, lines, st.sampled_from([0, 200, 10_000]), st.sampled_from([5, 2000]))
def test_a_quick_difference_has_every_line_of_both_sides_in_order(
    old: list[str], new: list[str], most_pairs: int, most_lines: int
) -> None:
    every = comparisons.differing(old, new, difflib.ndiff, most_pairs, most_lines)
    told = [line for line in every if not line.startswith("? ")]

    assert [line[2:] for line in told if not line.startswith("+ ")] == old
    assert [line[2:] for line in told if not line.startswith("- ")] == new


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
