"""What is said to differ in two values. Whatever they are: every leaf that differs, in few lines, none twice."""

from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.child import ours

differences: Any = ours("differences")
equality, MAX_LEAVES = differences.equality, differences.MAX_LEAVES

plain = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab\n \x1b", max_size=80) | st.binary(max_size=5)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=4)
        | st.tuples(inner, inner)
        | st.sets(st.integers(0, 9), max_size=5)
    ),
    max_leaves=25,
)


@dataclass
class Order:
    name: str
    items: list[int]
    cached: int = field(default=0, compare=False)


Point = namedtuple("Point", "x y")


@given(values, values)
def test_any_two_values_are_explained_in_few_lines_of_limited_length(left: Any, right: Any) -> None:
    first, *others = equality(left, right)

    assert " == " in first
    assert len(others) <= 3 * MAX_LEAVES + 2
    assert all("\n" not in line and "\x1b" not in line and len(line) < 600 for line in (first, *others))


@given(st.lists(plain, min_size=1, max_size=8), st.data())
def test_a_replaced_item_is_named_by_its_place_alone(items: list[Any], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(items) - 1))
    changed = [*items[:place], SimpleNamespace(), *items[place + 1 :]]

    _, *lines = equality(items, changed)

    assert [line.partition(":")[0] for line in lines] == [f"[{place}]"]


@given(st.text("ab\n ", min_size=60, max_size=400), st.data())
def test_an_inserted_character_of_a_long_text_is_shown_once(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    changed = text[:place] + "\x1b" + text[place:]

    explained = "\n".join(equality(text, changed)[1:])

    assert explained.count("\\x1b") == 1


@pytest.mark.parametrize(
    ("left", "right", "lines"),
    [
        ([1, 2, 3], [1, 2, 4], ["[2]: 3 != 4"]),
        ([1, 2], [1, 2, 3], ["[2]: <absent> != 3"]),
        ([*range(30)], [*range(5), *range(6, 30)], ["[5]: 5 != <absent>"]),
        ([*range(30)], [*range(1, 31)], ["[0]: 0 != <absent>", "[29]: <absent> != 30"]),
        ({"a": {"b": [1]}, "c": 1}, {"a": {"b": [2]}}, ["['a']['b'][0]: 1 != 2", "['c']: 1 != <absent>"]),
        ({1, 2, 3}, {2, 3, 4}, ["only left: 1", "only right: 4"]),
        ({*range(9)}, set(), ["only left: 0, 1, 2, 3, 4 and 4 more"]),
        (Order("a", [1], 1), Order("a", [2], 2), [".items[0]: 1 != 2"]),
        (Point(1, 2), Point(1, 3), [".y: 2 != 3"]),
        ((1,), [1], []),
        (1, 2, []),
        ("short", "other", []),
        (SimpleNamespace(a="x" * 90 + "b" + "x" * 90), SimpleNamespace(a="x" * 90 + "c" + "x" * 90), None),
    ],
)
def test_leaves_that_differ_are_named_by_their_path(left: Any, right: Any, lines: list[str] | None) -> None:
    explained = equality(left, right)[1:]

    assert explained == lines if lines is not None else "xxxb" in explained[1]


class Opaque:
    """A value that only its repr tells apart from others."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<{self.text}>"


@pytest.mark.parametrize("length", [5, 40, 60, 300])
@pytest.mark.parametrize("wrapped", [lambda value: value, lambda value: {"a": [value]}], ids=["alone", "inside"])
def test_two_values_never_look_alike_whatever_is_cut(length: int, wrapped: Any) -> None:
    left, right = (wrapped(Opaque("x" * length + letter + "x" * length)) for letter in "ab")

    explained = "\n".join(equality(left, right))

    assert "xa" in explained
    assert "xb" in explained


def test_values_of_other_types_that_look_alike_are_told_apart_by_their_types() -> None:
    class Other(Opaque):
        pass

    assert equality([Opaque("x")], [Other("x")])[1:] == [
        f"[0] type: Opaque != {Other.__qualname__}",
    ]


def test_leaves_beyond_a_limit_are_counted() -> None:
    _, *lines = equality([0] * 100, [1] * 100)

    assert len(lines) == MAX_LEAVES + 1
    assert lines[-1] == f"and {100 - MAX_LEAVES} more differ"
    assert equality([0] * 99_999, [1] * 99_999)[-1].startswith("and at least ")


def test_a_long_text_is_shown_by_where_it_differs() -> None:
    text = "x" * 17_493 + "{}" + "y" * 900

    first, *lines = equality(text.format("old"), text.format("new"))

    assert len(first) < 100
    assert lines == [
        "character 17494: - …'xxxxxxxxxxxxxxxnewyyyyyyyyyyyyyyy'…",
        "+ …'xxxxxxxxxxxxxxxoldyyyyyyyyyyyyyyy'…",
    ]


def test_less_is_shown_around_what_differs_inside_of_an_escape_code() -> None:
    left, right = (
        f"one line{' ' * 60}\x1b[38;2;{colour};48;2;39;40;34miter" for colour in ("248;248;242", "166;226;46")
    )

    assert equality(left, right)[1:] == [
        "character 76: - …'38;2;166;226;46;48;2'…",
        "+ …'38;2;248;248;242;48;2'…",
    ]


def test_lines_that_differ_in_the_same_way_are_shown_once_and_counted() -> None:
    left, right = ("\n".join(f"│ row {number} \x1b[0m{end}" for number in range(71)) for end in ("  ", " "))

    assert equality(left, right)[1:] == [
        "line 1, character 14: - '│ row 0 \\x1b[0m '",
        "+ '│ row 0 \\x1b[0m  '",
        "70 more lines differ, each by white space at its end",
    ]


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("a b", "a  b", "by white space"),
        ("\x1b[1mA", "A", "by escape codes"),
        ("Word", "word", "by letter case"),
        ("1 pens", "2 pens", "by '1' for '2'"),
        (b"1 pens", b"2 pens", "by b'1' for b'2'"),
        (None, "a", "only on the right"),
        ("a long line of words", "something quite different", ""),
    ],
)
def test_how_two_lines_differ_is_said_in_few_words(left: Any, right: Any, kind: str) -> None:
    assert differences.kind(left, right) == kind


def test_missing_and_added_lines_are_named_by_their_number() -> None:
    left = [f"line {number}" for number in range(60)]
    right = [*left[:30], "added", *left[30:50], *left[51:]]

    assert equality("\n".join(left), "\n".join(right))[1:] == ["line 31: - 'added'", "line 51: + 'line 50'"]


class Markup(str):
    """A text with a repr and slices of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Markup({super().__repr__()})"

    def __getitem__(self, key: Any) -> "Markup":
        return Markup(super().__getitem__(key))


def test_a_text_of_a_class_is_shown_as_a_plain_one() -> None:
    text = '<input id="number" name="number" type="number" value="{}" size="4">'

    assert equality(Markup(text.format(1)), text.format(2))[1:] == [
        """character 55: - …'number" value="2" size="4">'""",
        """+ …'number" value="1" size="4">'""",
    ]


class Array:
    """Looks like one of numpy, whose `==` has no truth value."""

    __module__ = "numpy"

    def __init__(self, *items: Any) -> None:
        self.items = items

    def __eq__(self, other: object) -> Any:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]  # as of an array

    def tolist(self) -> list[Any]:
        return list(self.items)


def test_arrays_inside_of_values_are_compared_item_by_item() -> None:
    assert equality({"a": Array(1, 2)}, {"a": Array(1, 3)})[1:] == ["['a'][1]: 2 != 3"]
