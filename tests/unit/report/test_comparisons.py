"""Assertions that compare: equal lines may go, what differs stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import tracebacks
from pytest_mcp.report.tracebacks import LONG_EXPLANATION
from tests.support.failures import failure, marked
from tests.support.workbench import Workbench

differing = st.builds(str.__add__, st.sampled_from(["- ", "+ ", "? "]), st.text("ab ^:", max_size=5))
equal = st.builds(str.__add__, st.just("  "), st.text("abc[]{},", min_size=1, max_size=5))


@given(st.lists(differing | equal, max_size=60))
def test_what_differs_in_a_comparison_survives_whole_and_in_order(lines: list[str]) -> None:
    explanation = marked(["At index 0 diff: 1 != 2", "", "Full diff:", *lines])

    kept = iter(tracebacks.slim(explanation).split("\n"))

    assert all(f"E         {line}" in kept for line in lines if not line.startswith("  "))


@given(st.lists(differing | equal, max_size=60))
def test_equal_lines_are_left_out_only_where_their_number_is_said(lines: list[str]) -> None:
    explanation = marked(["At index 0 diff: 1 != 2", "", "Full diff:", *lines])

    kept = tracebacks.slim(explanation)

    said = [int(line.split()[2]) for line in kept.split("\n") if line.endswith("equal lines ...]")]
    assert explanation.count("\n") == kept.count("\n") + sum(said) - len(said)


def test_a_short_comparison_stays_as_it_is() -> None:
    explanation = marked(["- a", *["  same"] * (LONG_EXPLANATION - 2)])

    assert tracebacks.slim(explanation) == explanation


def test_a_long_comparison_keeps_a_line_of_what_is_equal_on_either_side() -> None:
    explanation = marked(["Full diff:", "  [", *["  same"] * 20, "  before", "- a", "+ b", "  ]"])

    assert tracebacks.slim(explanation) == marked(
        ["Full diff:", "  [", "[... 20 equal lines ...]", "  before", "- a", "+ b", "  ]"]
    )


def test_the_words_of_the_author_do_not_hide_what_is_equal() -> None:
    """`assert a == b, "words"` puts the comparison a line lower, and its difference further to the right."""
    explanation = "\n".join(
        [
            "E       AssertionError: the stock is wrong",
            "E       assert [1] == [2]",
            "E         Full diff:",
            *["E           same"] * 20,
            "E         - 1",
            "E         + 2",
        ]
    )

    kept = tracebacks.slim(explanation)

    assert "E         - 1\nE         + 2" in kept
    assert kept.count("same") <= 2


def test_the_words_of_the_author_may_be_a_list_and_the_difference_still_stays() -> None:
    explanation = "\n".join(
        [
            "E       AssertionError: checked were",
            "E       - the price",
            "E       - the stock",
            "E       assert [1] == [2]",
            "E         Full diff:",
            *["E           same"] * 20,
            "E         - 1",
            "E         + 2",
            "E         - 3",
            "E         + 4",
            *["E           same"] * 20,
        ]
    )

    kept = tracebacks.slim(explanation)

    assert all(f"E         {line}" in kept for line in ("- 1", "+ 2", "- 3", "+ 4"))


@pytest.mark.parametrize("indent", ["E       ", "E         ", "E           "])
def test_a_list_in_the_message_of_an_exception_is_no_comparison(indent: str) -> None:
    """What is indented below a hyphen there is said only once, and nothing equals it."""
    details = [f"{indent}    field {number} is missing" for number in range(20)]
    explanation = "\n".join(
        ["E       ValueError: 2 problems", f"{indent}- the order", *details, f"{indent}- the customer"]
    )

    assert tracebacks.slim(explanation) == explanation


@pytest.mark.parametrize("empty", ["E", "E         ", "E       "])
def test_an_explanation_of_empty_lines_is_no_comparison(empty: str) -> None:
    explanation = "\n".join(["E       ValueError: x", *[empty] * 20])

    assert tracebacks.slim(explanation) == explanation


def test_a_real_comparison_loses_what_is_equal_and_nothing_that_differs(every_bench: Workbench) -> None:
    whole = failure(every_bench, "test_compares")

    kept = tracebacks.slim(whole)

    assert len(kept) < len(whole) / 2
    assert all(line in kept for line in whole.split("\n") if line.lstrip("E ")[:2] in ("- ", "+ ", "? "))
    assert all(line in kept for line in whole.split("\n") if not line.startswith("E"))


def test_a_real_comparison_with_words_loses_what_is_equal_and_nothing_that_differs(every_bench: Workbench) -> None:
    whole = failure(every_bench, "test_compares_with_words")

    kept = tracebacks.slim(whole)

    assert len(kept) < len(whole) / 2
    assert max(map(len, kept.split("\n"))) < 200
    assert "the stock is wrong" in kept
    assert all(line in kept for line in whole.split("\n") if line.lstrip("E ")[:2] in ("- ", "+ ", "? "))


@pytest.mark.parametrize("words", ["AssertionError: the stock is wrong\n", "AssertionError: "])
def test_a_long_message_in_brief_tells_what_differs_without_the_whole_difference(words: str) -> None:
    message = f"{words}assert {'x' * 500} == {'y' * 500}\n  At index 3 diff: 1 != 2\n  Full diff:\n" + "\n".join(
        ["    same", "  - 1", "  + 2"] * 9
    )

    brief = tracebacks.brief(message)

    assert brief.startswith("AssertionError: ")
    assert brief.endswith("At index 3 diff: 1 != 2")
    assert len(brief) < 400


@pytest.mark.parametrize("message", ["ValueError: no\n- a\n- b", "EOFError: x\n  y", "\n", "E", "E\n"])
def test_a_message_without_a_comparison_is_its_first_line_in_brief(message: str) -> None:
    assert tracebacks.brief(message) == message.strip().split("\n")[0].rstrip("\r")


@given(st.text(min_size=1))
def test_any_message_can_be_told_in_brief(message: str) -> None:
    assert len(tracebacks.brief(message)) <= max(200, len(message))
