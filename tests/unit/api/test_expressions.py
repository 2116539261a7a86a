"""The oracle is pytest's own parser: what we take it takes, and what it takes (within our caps) we take."""

import pytest
from _pytest.mark.expression import Expression
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mcp.api.expressions import MAX_DEPTH, MAX_DIGITS, MAX_LENGTH, MAX_TERMS, ExpressionError, checked, names
from tests.support.invented.expressions import NAMES, PIECES, VALUES, is_ours_to_refuse, pytest_takes, we_take
from tests.support.thorough import thorough

soup = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=16).map("".join)
spaced_soup = st.lists(st.sampled_from(PIECES), max_size=16).map(" ".join)
pairs = st.tuples(st.sampled_from([*NAMES, "b", "c"]), st.sampled_from(VALUES)).map("=".join)
calls = st.tuples(st.sampled_from(NAMES), st.lists(pairs, min_size=1, max_size=3).map(",".join)).map(
    lambda call: f"{call[0]}({call[1]})"
)
sentences = st.recursive(
    st.sampled_from(NAMES) | calls,
    lambda inner: (
        st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map("".join)
        | inner.map(lambda expression: f"not {expression}")
        | inner.map(lambda expression: f"({expression})")
    ),
    max_leaves=6,
)


@st.composite
def nearly_right(draw: st.DrawFn) -> str:
    """A correct expression with one piece put into it or one character taken out."""
    sentence = draw(sentences)
    position = draw(st.integers(min_value=0, max_value=len(sentence)))
    piece = draw(st.sampled_from(["", *PIECES]))
    return sentence[:position] + piece + sentence[position + (piece == "") :]


anything = soup | spaced_soup | sentences | nearly_right()


@thorough(400)
@given(anything)
@example("m(a=1,a=2)")
@example("m(__debug__=1)")
@example("m(x=²)")
@example("m(x=٣)")
@example("m(x='a', y=\"b\") or not c")
def test_a_marker_expression_is_taken_exactly_if_pytest_takes_it(expression: str) -> None:
    taken = we_take(expression, arguments=True)

    assert taken == (pytest_takes(expression) and not is_ours_to_refuse(expression))


@thorough(300)
@given(anything)
def test_a_keyword_expression_is_taken_exactly_if_pytest_takes_it_and_it_has_no_arguments(expression: str) -> None:
    taken = we_take(expression, arguments=False)

    # An equals sign stands nowhere else in an expression that pytest takes.
    assert taken == (pytest_takes(expression) and "=" not in expression and not is_ours_to_refuse(expression))


@pytest.mark.parametrize("arguments", [True, False])
@pytest.mark.parametrize("given", ["", " ", "\t", "  \t ", "--"])
def test_what_k_and_m_or_argparse_disagree_on_is_refused(given: str, arguments: bool) -> None:
    """`-k=--` sets the keyword to an empty list, and pytest then ends in an internal error."""
    assert not we_take(given, arguments=arguments)


@pytest.mark.parametrize(
    ("at_the_cap", "beyond"),
    [
        pytest.param("a" * MAX_LENGTH, "a" * (MAX_LENGTH + 1), id="length"),
        pytest.param(" or ".join(["a"] * MAX_TERMS), " or ".join(["a"] * (MAX_TERMS + 1)), id="terms"),
        pytest.param("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH, "(" * 51 + "a" + ")" * 51, id="depth"),
        pytest.param("not " * MAX_DEPTH + "a", "not " * (MAX_DEPTH + 1) + "a", id="negations"),
        pytest.param("not (" * 25 + "a" + ")" * 25, "not (" * 25 + "not a" + ")" * 25, id="negated parentheses"),
        pytest.param(f"m(x={'9' * MAX_DIGITS})", f"m(x={'9' * (MAX_DIGITS + 1)})", id="digits"),
        pytest.param(f"m(x=-{'9' * MAX_DIGITS})", f"m(x=-{'9' * (MAX_DIGITS + 1)})", id="negative digits"),
    ],
)
def test_each_cap_is_the_last_value_that_is_taken_and_pytest_can_still_cope_with_it(
    at_the_cap: str, beyond: str
) -> None:
    assert we_take(at_the_cap)
    assert pytest_takes(at_the_cap)
    assert not we_take(beyond)


def test_pytest_copes_with_all_caps_reached_at_once() -> None:
    expression = "not (" * 25 + " or ".join(["name"] * MAX_TERMS) + ")" * 25

    assert we_take(expression)
    assert pytest_takes(expression)


@pytest.mark.parametrize("part", ["(not (a))", "not a", "(a)", "not (not a)"])
def test_depth_is_that_of_one_place_and_not_the_sum_of_all(part: str) -> None:
    assert we_take(" or ".join([part] * 100))
    assert we_take(f"({' and '.join([part] * 100)})")


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        *[("a b", 3), ("a and", 6), ("(a", 3), ("a)", 2), ("or a", 1), ("a ! b", 3), ("not", 4), ("a or 'b", 6)],
        *[("m(1x=1)", 3), ("m(if=1)", 3)],
    ],
)
def test_the_column_of_a_fault_is_the_one_that_pytest_names(expression: str, column: int) -> None:
    with pytest.raises(ExpressionError) as ours:
        checked(expression, arguments=True)
    with pytest.raises(SyntaxError) as theirs:
        Expression.compile(expression)

    assert ours.value.column == column
    assert theirs.value.offset == column


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("slow", ["slow"]),
        ("not (slow or unit) and slow", ["slow", "unit", "slow"]),
        ("device(serial='a', port=1) or (not gpu)", ["device", "gpu"]),
    ],
)
def test_the_names_of_an_expression_are_those_that_are_not_in_arguments(expression: str, named: list[str]) -> None:
    assert names(expression) == named
