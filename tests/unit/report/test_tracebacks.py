"""Shortening tracebacks. Some of them are printed by real pytests, of every supported generation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import tracebacks
from pytest_mcp.report.tracebacks import CAPTURED_LINES
from tests.support.failures import failure
from tests.support.workbench import Workbench

HEADING = " Captured stdout call ".center(80, "-")
OTHER_HEADING = " Captured stderr call ".center(80, "-")
SEPARATOR = "_ " * 40


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


# --- comparisons -------------------------------------------------------------------------------


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
