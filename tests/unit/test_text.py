import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mcp.text import SHOWN_NAMES, cut_middle, few, safe, safe_line, safe_with_colour, span

EVERY_CHARACTER = [chr(code) for code in range(0x110000)]
BIDI_CONTROLS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
COLOUR = re.compile("\x1b\\[[0-9;:]*m")


def is_sendable(text: str) -> bool:
    return not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n" for c in text)


def escaped_ones(characters: list[str]) -> list[str]:
    return [character for character in characters if safe(character) != character]


def test_every_code_point_comes_out_as_utf_8_without_control_characters() -> None:
    made_safe = {character: safe(character) for character in EVERY_CHARACTER}

    bad = [hex(ord(character)) for character, text in made_safe.items() if not is_sendable(text)]

    assert bad == []
    assert "".join(made_safe.values()).encode("utf-8")


def test_every_escape_can_be_read_back_so_nothing_is_lost() -> None:
    escaped = escaped_ones(EVERY_CHARACTER)

    read_back = [safe(character).encode("ascii").decode("unicode_escape") for character in escaped]

    assert read_back == escaped


# Letters and marks by category, but invisible: fillers, joiners, variation selectors.
INVISIBLE_LETTERS = {
    *"\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0",
    *(chr(code) for code in (*range(0xFE00, 0xFE0F), *range(0xE0100, 0xE01F0))),
}


def test_tab_newline_and_everything_a_person_can_read_stay_as_they_are() -> None:
    readable = "\t\n" + "".join(
        c
        for c in EVERY_CHARACTER
        if c not in INVISIBLE_LETTERS
        and (unicodedata.category(c)[0] in "LNPS" or unicodedata.category(c) in ("Zs", "Mn", "Mc"))
    )

    assert safe(readable) == readable


def test_letters_that_nobody_can_see_are_escaped() -> None:
    """Variation selectors carry hidden text to a model; U+FE0F alone belongs to ordinary emoji."""
    assert all(safe(character).startswith("\\") for character in INVISIBLE_LETTERS)
    assert safe("\u2764\ufe0f") == "\u2764\ufe0f"


def test_characters_that_reorder_or_break_lines_are_escaped() -> None:
    trojans = [c for c in EVERY_CHARACTER if unicodedata.bidirectional(c) in BIDI_CONTROLS] + list(
        "\u061c\u200e\u200f\u2028\u2029"
    )

    assert escaped_ones(trojans) == trojans


def test_format_characters_without_any_width_are_escaped() -> None:
    """Unicode calls them boundary neutral: they are not rendered in a line."""
    invisible = [c for c in EVERY_CHARACTER if unicodedata.category(c) == "Cf" and unicodedata.bidirectional(c) == "BN"]

    assert [hex(ord(c)) for c in invisible if safe(c) == c] == []


def test_tag_characters_are_escaped_because_they_can_hide_whole_sentences() -> None:
    tags = [chr(code) for code in range(0xE0000, 0xE0080)]

    assert escaped_ones(tags) == tags


@given(st.text(st.characters(codec=None)))
def test_text_that_is_safe_stays_the_same(text: str) -> None:
    once = safe(text)

    assert safe(once) == once
    assert is_sendable(once)


@given(
    st.lists(st.sampled_from(["\x1b[31m", "\x1b[0m", "\x1b[38;5;1m", "\x1b", "\x1b[2J", "[1m", "m", "a", "\x00", "\n"]))
)
def test_of_all_sequences_only_colours_pass_where_colours_may(parts: list[str]) -> None:
    text = safe_with_colour("".join(parts))

    assert is_sendable(COLOUR.sub("", text))
    assert COLOUR.findall(text) == COLOUR.findall("".join(parts))
    assert safe_with_colour(text) == text


# A text is not cut for a note that is longer than what it hides.
MAX_NOTE = len("\n[... 100 characters left out ...]\n")


@given(st.text(max_size=400), st.integers(min_value=0, max_value=200))
@example("abcdef" * 10, 1)
@example("abcdef" * 10, 0)
@example("abcdef", 0)
def test_a_text_is_cut_to_its_beginning_its_end_and_the_true_count_of_what_is_missing(text: str, limit: int) -> None:
    cut = cut_middle(text, limit)

    note = re.search(r"\n\[\.\.\. (\d+) characters left out \.\.\.\]\n", cut)
    if note is None:
        assert cut == text
        assert len(text) <= limit + MAX_NOTE
        return
    assert int(note.group(1)) > len(note.group())
    head, tail = cut[: note.start()], cut[note.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) <= limit
    assert len(head) + int(note.group(1)) + len(tail) == len(text)


def test_of_many_names_the_first_are_said_and_the_others_counted() -> None:
    assert few(["a"] * SHOWN_NAMES) == "a, a, a"
    assert few(iter("abcde")) == "a, b, c and 2 more"


@given(st.text())
def test_a_safe_line_is_one_line_and_what_is_safe_already_stays(text: str) -> None:
    line = safe_line(text)

    assert line.splitlines() in ([], [line])
    assert "\t" not in line
    assert line == safe(text) or {"\n", "\t"} & set(text)


def test_a_span_of_time_is_told_as_exactly_as_it_matters() -> None:
    assert [span(0.0), span(0.128), span(1), span(59.94)] == ["0.00 s", "0.13 s", "1.0 s", "59.9 s"]
    assert [span(60), span(3725.9)] == ["1 min 0 s", "62 min 5 s"]
