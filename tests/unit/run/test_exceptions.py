"""A test can write anything into the report of its run, so a chain of exceptions may hold anything."""

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mcp.run.decode import parse
from pytest_mcp.run.exceptions import MAX_ENTRIES, Chain, Frame, Raised, parse_chain
from tests.support.invented.records import phase
from tests.support.invented.streams import chains, json_values

FRAME = ["src/cart.py", 12, "total", "return sum(cart)", [["cart", "[1]"]], ["n = 1"]]
CHAIN = [["cause", "the last 60 of 90 frames", ["ValueError: no", "why"], [FRAME]], [None, None, [], []]]


@st.composite
def altered_chains(draw: st.DrawFn) -> Any:
    """A chain in which anything may stand at one place, of any depth."""
    chain = json.loads(json.dumps(draw(chains)))
    inside, index = [chain], 0
    while isinstance(inside[index], list) and inside[index] and draw(st.booleans()):
        inside = inside[index]
        index = draw(st.integers(min_value=0, max_value=len(inside) - 1))
    how = draw(st.sampled_from(["replaced", "removed", "doubled"]))
    inside[index : index + 1] = {
        "replaced": [draw(json_values)],
        "removed": [],
        "doubled": inside[index : index + 1] * 2,
    }[how]
    return chain


def is_checked(chain: Chain) -> bool:
    return all(
        type(each) is Raised
        and all(value is None or type(value) is str for value in (each.link, each.note))
        and all(type(line) is str for line in each.text)
        and all(map(is_checked_frame, each.frames))
        for each in chain
    )


def is_checked_frame(frame: Frame) -> bool:
    texts = [frame.path, *frame.variables, *(text for pair in frame.arguments for text in pair)]
    return (
        type(frame.line) is int
        and all(type(text) is str for text in texts)
        and all(value is None or type(value) is str for value in (frame.function, frame.statement))
        and all(len(pair) == 2 for pair in frame.arguments)
    )


def test_a_chain_is_read_with_everything_it_tells() -> None:
    frame = Frame("src/cart.py", 12, "total", "return sum(cart)", (("cart", "[1]"),), ("n = 1",))

    assert parse_chain(CHAIN) == (
        Raised("cause", "the last 60 of 90 frames", ("ValueError: no", "why"), (frame,)),
        Raised(None, None, (), ()),
    )
    assert frame.place == "src/cart.py:12"


@settings(max_examples=200)
@given(altered_chains() | json_values)
@example([["a link alone"]])
@example([[None, None, ["text"], [["a path alone"]]]])
@example([[None, None, ["text"], [[*FRAME, "one more"]]]])
def test_whatever_a_record_holds_its_chain_is_checked_or_refused(value: Any) -> None:
    line = json.dumps({"k": "phase", "n": 1, **asdict(phase()), "chain": value}).encode("ascii")

    try:
        chain = parse_chain(value)
    except ValueError:
        assert value is None or parse(line) is None
    else:
        assert is_checked(chain)
        assert parse(line) is not None


@pytest.mark.parametrize("line", [-1, 10**9, 1.0, "1", True, None])
def test_a_frame_without_a_line_number_is_refused(line: object) -> None:
    with pytest.raises(ValueError, match="line number"):
        parse_chain([[None, None, [], [["a.py", line, None, None, [], []]]]])


def test_the_place_of_a_frame_is_one_line_whatever_its_code_says() -> None:
    (raised,) = parse_chain([[None, None, [], [["a\nnotices: all passed", *FRAME[1:]]]]])

    assert raised.frames[0].place == "a\\nnotices: all passed:12"


def test_a_chain_or_a_stack_that_no_child_tells_is_refused() -> None:
    for forged in (CHAIN * MAX_ENTRIES, [[None, None, [], [FRAME] * (MAX_ENTRIES + 1)]]):
        with pytest.raises(ValueError, match="too many"):
            parse_chain(forged)
