"""What a change did to the tests, told from both texts."""

from textwrap import dedent

from pytest_mcp.proof.weakening import compare_tests

FILE = "tests/test_prices.py"


def told(before: str, now: str) -> list[tuple[str, str, str]]:
    edits = compare_tests({FILE: dedent(before)}, {FILE: dedent(now)})
    return [(each.what, each.before, each.after) for each in edits.weakened]


def test_a_result_that_is_overwritten_by_the_expected_value_is_compared_with_itself() -> None:
    before = "def test_total():\n    result = total()\n    assert result == 2\n"

    now = "def test_total():\n    result = total()\n    result = 2\n    assert result == 2\n"

    assert told(before, now) == [("compared with itself", "assert result == 2", "assert result == 2")]
