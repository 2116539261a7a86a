"""Shortening tracebacks. Some of them are printed by real pytests, of every supported generation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import tracebacks
from pytest_mcp.report.tracebacks import CAPTURED_LINES, LONG_EXPLANATION
from tests.support.workbench import Workbench

HEADING = " Captured stdout call ".center(80, "-")
OTHER_HEADING = " Captured stderr call ".center(80, "-")
SEPARATOR = "_ " * 40

FAILING = """
    import json

    def test_compares():
        left = [{"id": number, "name": "pen"} for number in range(30)]
        right = [dict(row) for row in left]
        right[17] = {"id": 17, "name": "ink"}
        assert left == right

    def test_compares_with_words():
        left = {f"key {number}": number for number in range(30)}
        assert left == dict(left, **{"key 17": 0}), "the stock is wrong"

    def test_prints():
        print("\\n".join(f"line {number}" for number in range(200)))
        json.loads("{")

    def test_chains():
        try:
            json.loads("{")
        except ValueError as error:
            raise RuntimeError("no order") from error
"""

IN_FULL = f"""\
    def test_reads():
>       json.loads("{{")

tests/test a.py:4:\x20
{SEPARATOR}

s = '{{'

    def loads(s):
>       return decode(s)
E       ValueError: Expecting property name

/usr/lib/python3.11/json/__init__.py:346: ValueError"""

IN_SHORT = """\
tests/test_a.py:3: in test_reads
    helper()
.venv/lib/python3.11/site-packages/lib/core.py:9: in run
    decode()
src/shop/cart.py:12: in decode
    raise ValueError("no")
E   ValueError: no"""


def failure(bench: Workbench, name: str) -> str:
    """pytest's own output for this failure."""
    bench.write({"test_it.py": FAILING})
    printed = bench.shell("-vv", "-p", "no:cacheprovider", f"test_it.py::{name}").stdout
    return printed.partition(f"_ {name} _")[2].partition("\n")[2].partition("\n====")[0]


def marked(lines: list[str], *, margin: str = "E         ") -> str:
    return "\n".join(["E       AssertionError: assert a == b", *(f"{margin}{line}" for line in lines)])


differing = st.builds(str.__add__, st.sampled_from(["- ", "+ ", "? "]), st.text("ab ^:", max_size=5))
equal = st.builds(str.__add__, st.just("  "), st.text("abc[]{},", min_size=1, max_size=5))


# --- comparisons -------------------------------------------------------------------------------


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
    """The lines indented below a hyphen occur only once, so none of them is equal."""
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


# --- captured output ---------------------------------------------------------------------------


def printed(lines: list[str], heading: str = HEADING) -> str:
    return "\n".join([heading, *lines])


def test_the_last_lines_of_each_stream_are_shown_and_the_others_counted() -> None:
    out = [f"out {number}" for number in range(CAPTURED_LINES + 5)]
    err = [f"err {number}" for number in range(CAPTURED_LINES)]

    kept = tracebacks.slim("\n".join(["E   ValueError: no", printed(out), printed(err, OTHER_HEADING)]))

    assert kept == "\n".join(
        ["E   ValueError: no", printed(["[... 5 lines left out ...]", *out[5:]]), printed(err, OTHER_HEADING)]
    )


def test_captured_output_that_goes_altogether_is_counted_for_each_stream() -> None:
    whole = "\n".join(["E   ValueError: no", printed(["a", "b"]), printed(["c"], OTHER_HEADING)])

    assert tracebacks.without_captured(whole) == (
        "E   ValueError: no\n"
        "Captured stdout call: [... 2 lines left out ...]\n"
        "Captured stderr call: [... 1 lines left out ...]"
    )


def test_lines_that_were_left_out_before_are_counted_when_the_rest_goes() -> None:
    whole = printed([f"line {number}" for number in range(200)])

    assert tracebacks.without_captured(tracebacks.slim(whole)) == tracebacks.without_captured(whole)


@pytest.mark.parametrize(
    "printed_line",
    [
        pytest.param("--- | ---", id="a table"),
        pytest.param("- done -", id="an item"),
        pytest.param("--- Captured by the camera ---", id="a word of ours"),
        pytest.param("___ summary ___", id="underscores"),
    ],
)
def test_a_printed_line_that_looks_like_a_heading_is_only_a_line(printed_line: str) -> None:
    lines = [printed_line, *(f"line {number}" for number in range(200))]

    kept = tracebacks.slim(printed(lines))

    assert kept == printed(["[... 191 lines left out ...]", *lines[-CAPTURED_LINES:]])


def test_what_follows_captured_output_is_not_part_of_it() -> None:
    heading = " subtest [second] ".center(80, "_")
    whole = "\n".join([printed(["x"] * 50), heading, *["    source"] * 30, "E   ValueError: late"])

    kept = tracebacks.without_captured(whole)

    assert kept == "\n".join(
        ["Captured stdout call: [... 50 lines left out ...]", heading, *["    source"] * 30, "E   ValueError: late"]
    )


def test_real_output_is_cut_to_its_end(every_bench: Workbench) -> None:
    kept = tracebacks.slim(failure(every_bench, "test_prints"))

    assert kept.rstrip().endswith("\n".join(f"line {number}" for number in range(190, 200)))
    assert "[... 190 lines left out ...]" in kept
    assert "line 189\n" not in kept


# --- frames ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", []),
        ("E   ValueError: no\nE   a.py:3: no place", []),
        ("    a.py:3: source", []),
        (">   a.py:3: source", []),
        ("a.py:3: in f", ["a.py:3"]),
        ("a.py:3: ", ["a.py:3"]),
        ("a.py:3", []),
        ("my tests/test a.py:3: in f", ["my tests/test a.py:3"]),
        ("Errors/test_a.py:3: in f", ["Errors/test_a.py:3"]),
        ("-x/test_a.py:3: in f", ["-x/test_a.py:3"]),
        ("<string>:1: in f", ["<string>:1"]),
        ("tests/12:30/test_a.py:3: in f", ["tests/12:30/test_a.py:3"]),
        ("C:\\shop\\test_a.py:3: in f", ["C:\\shop\\test_a.py:3"]),
        (IN_FULL, ["tests/test a.py:4", "/usr/lib/python3.11/json/__init__.py:346"]),
        (
            IN_SHORT,
            ["tests/test_a.py:3", ".venv/lib/python3.11/site-packages/lib/core.py:9", "src/shop/cart.py:12"],
        ),
    ],
)
def test_a_frame_is_a_line_that_begins_with_a_path_and_a_number(text: str, places: list[str]) -> None:
    assert tracebacks.frames(text) == places


@pytest.mark.parametrize(
    ("place", "foreign"),
    [
        ("tests/test_a.py:3", False),
        ("my-site-packages/a.py:3", False),
        ("/usr/lib/python3.11/json/__init__.py:346", True),
        ("../other/a.py:1", True),
        ("<frozen importlib._bootstrap>:1206", True),
        ("<string>:1", True),
        (".venv/lib/python3.11/site-packages/lib/core.py:9", True),
        ("C:\\Python311\\Lib\\json\\decoder.py:9", True),
    ],
)
def test_a_place_outside_the_root_or_in_an_environment_is_foreign(place: str, foreign: bool) -> None:
    assert tracebacks.is_foreign(place) is foreign


def test_of_a_foreign_frame_in_full_only_what_was_raised_stays() -> None:
    kept = tracebacks.without_foreign_frames(tracebacks.slim(IN_FULL))

    assert 'json.loads("{")' in kept
    assert "tests/test a.py:4:" in kept
    assert "E       ValueError: Expecting property name" in kept
    assert "decode(s)" not in kept
    assert "/usr/lib" not in kept


def test_a_foreign_frame_in_short_goes_with_its_source() -> None:
    assert tracebacks.without_foreign_frames(IN_SHORT) == (
        "tests/test_a.py:3: in test_reads\n"
        "    helper()\n"
        "src/shop/cart.py:12: in decode\n"
        '    raise ValueError("no")\n'
        "E   ValueError: no"
    )


def test_without_foreign_frames_it_is_still_said_which_exception_led_to_which() -> None:
    chain = "During handling of the above exception, another exception occurred:"
    whole = "\n".join([IN_FULL, "", chain, "", *IN_FULL.split("\n")[8:]])

    kept = tracebacks.without_foreign_frames(whole)

    assert chain in kept


def test_of_a_real_chain_both_exceptions_and_the_projects_frames_stay(every_bench: Workbench) -> None:
    kept = tracebacks.without_foreign_frames(tracebacks.slim(failure(every_bench, "test_chains")))

    assert "JSONDecodeError" in kept
    assert "The above exception was the direct cause of the following exception:" in kept
    assert kept.rstrip().endswith("test_it.py:21: RuntimeError")
    assert "/json/" not in kept
    assert "scan_once" not in kept


# --- any text ----------------------------------------------------------------------------------

SHRINKING = [tracebacks.plain, tracebacks.slim, tracebacks.without_captured, tracebacks.without_foreign_frames]


@pytest.mark.parametrize("text", ["", "E   ValueError: no", "E", "nothing marked", "x" * 100_000])
def test_a_text_without_anything_to_leave_out_stays_as_it_is(text: str) -> None:
    assert [shrink(text) for shrink in SHRINKING] == [text] * len(SHRINKING)


@pytest.mark.parametrize("character", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_a_newline_ends_a_line(character: str) -> None:
    """Other characters are escaped when the answer is sent."""
    text = f"E   ValueError: one{character}two"

    assert [shrink(text) for shrink in SHRINKING] == [text] * len(SHRINKING)


@given(
    st.lists(
        st.sampled_from(
            [*IN_FULL.split("\n"), *IN_SHORT.split("\n"), HEADING, "", "E", "E   - a", "E     b", "E   Common items:"]
        ),
        max_size=40,
    )
)
def test_no_order_of_lines_breaks_it_and_what_was_raised_stays(lines: list[str]) -> None:
    kept = tracebacks.without_foreign_frames(tracebacks.plain("\n".join(lines)))

    assert [line for line in kept.split("\n") if line.startswith("E ")] == [
        line for line in lines if line.startswith("E ")
    ]
    assert all(shrink("\n".join(lines)) is not None for shrink in SHRINKING)


def test_a_forged_count_of_lines_left_out_costs_nothing() -> None:
    """Python refuses to parse an integer with that many digits."""
    forged = f"[... {'9' * 5000} lines left out ...]"

    kept = tracebacks.slim("\n".join([tracebacks.heading("-", "Captured stdout call"), forged, *["line"] * 50]))

    assert kept.split("\n")[1] == "[... 41 lines left out ...]"
