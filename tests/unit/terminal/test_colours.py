"""Colours and columns."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp import text
from pytest_mcp.terminal import colours
from pytest_mcp.terminal.colours import Painter


def test_text_is_painted_only_where_there_are_colours() -> None:
    assert Painter(has_colours=True).paint("bad", "bold", "red") == "\x1b[1;31mbad\x1b[0m"
    assert Painter(has_colours=False).paint("bad", "bold", "red") == "bad"
    assert Painter(has_colours=True).paint("", "red") == ""
    assert Painter(has_colours=True).paint("as it is") == "as it is"


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert colours.columns("abc") == 3
    assert colours.columns("漢字") == 4
    assert colours.columns("e\u0301") == 1
    assert colours.columns("🎉") == 2
    assert colours.columns("❤\ufe0f") == 2


def test_of_a_text_that_is_too_wide_the_end_stays() -> None:
    assert colours.last_columns("tests/test_a.py", 15) == "tests/test_a.py"
    assert colours.last_columns("tests/test_a.py", 14) == "...s/test_a.py"
    assert colours.last_columns("漢字漢字", 7) == "...漢字"
    assert colours.last_columns("漢字漢字", 6) == "...字"
    assert colours.last_columns("long", 3) == ""


@given(st.text(), st.integers(min_value=0, max_value=60))
def test_no_text_takes_more_columns_than_it_may(given_text: str, most: int) -> None:
    line = text.safe_line(given_text)

    kept = colours.last_columns(line, most)

    assert colours.columns(kept) <= most
    assert kept == line or line.endswith(kept.removeprefix(colours.ELLIPSIS))
    assert not any(unicodedata.category(character) == "Cc" for character in kept)
