"""What several tests say together, before one of them is investigated alone."""

import pytest

from pytest_mcp.investigation.outcome import Letter, Outcome
from pytest_mcp.investigation.result import Kind
from pytest_mcp.investigation.several import WrongCalls, kind_of, partings


@pytest.mark.parametrize(
    ("letters", "kind"),
    [
        ("FF", "deterministic"),
        ("FP", "flaky"),
        ("R", "flaky"),
        ("HF", "hangs"),
        ("PP", "passes"),
        ("FS", "deterministic"),
        ("?F", "inconclusive"),
    ],
)
def test_the_outcomes_of_runs_together_say_which_kind_a_test_is(letters: list[Letter], kind: Kind) -> None:
    assert kind_of([Outcome(letter) for letter in letters]) == kind


def test_a_call_that_got_something_else_counts_only_where_others_part() -> None:
    wrong = {
        "sure": WrongCalls(["price (a.py:1)"], ["price (a.py:1)"]),
        "misled": WrongCalls([], ["total (a.py:9)", "price (a.py:1)"]),
        "another": WrongCalls(["tax (a.py:5)"], []),
        "unknown": WrongCalls([], ["total (a.py:9)"]),
    }

    assert partings(wrong) == {"price (a.py:1)": ["sure", "misled"], "tax (a.py:5)": ["another"]}
