"""What is shown of what a failed test has printed."""

from typing import Any

import pytest

from pytest_mcp.report import failures, rendering
from pytest_mcp.report.frames import ExampleStyle
from tests.support.invented.records import ledger, raised

NODE = "tests/test_cart.py::test_total"
TEST = ("tests/test_cart.py:7", "test_total", "assert total(cart) == 3")


def rendered(cause: str, printed: str, **style: Any) -> str:
    told = raised(cause, TEST, node_id=NODE, sections=[["Captured stdout call", printed]])
    (record,) = ledger(told).completed
    return rendering.render(failures.failure_of(record), ExampleStyle(**style))


@pytest.mark.parametrize(
    ("printed", "is_left_out"),
    [("before\n│ pen  \n│ ink  \nafter", True), (repr("│ pen  \n│ ink  \n"), True), ("something else", False)],
)
def test_output_with_a_compared_text_is_left_out_since_its_differing_part_is_shown(
    printed: str, is_left_out: bool
) -> None:
    text = "AssertionError: assert 'x' == 'y'\n  line 2, character 6:\n  - '│ ink '\n  + '│ ink  '"

    assert ("Captured" not in rendered(text, printed)) == is_left_out
    assert "Captured" in rendered(text, printed, captured=None)


@pytest.mark.parametrize(
    ("printed", "is_left_out"), [("a  b\n", True), ("a  b\n'a  b\\n'\n", True), ("got a  b\n", False)]
)
def test_output_that_is_nothing_but_a_compared_value_is_left_out(printed: str, is_left_out: bool) -> None:
    text = "AssertionError: assert 'a  b\\n' == 'a b\\n'"

    assert ("Captured" not in rendered(text, printed)) == is_left_out


def test_what_is_shown_of_a_long_stream_does_not_begin_with_empty_lines() -> None:
    lines = rendered("AssertionError: assert 1 == 2", "x" * 3000 + "\n\n\nthe last words", captured=2000).split("\n")

    assert lines[-2:] == ["[... 3 lines left out ...]", "the last words"]
