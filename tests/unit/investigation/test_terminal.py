from pytest_mcp.investigation import terminal
from pytest_mcp.investigation.result import InvestigateResult, Polluter, Suspect
from pytest_mcp.terminal.colours import Painter

TEST = "tests/test_shop.py::test_price"
LEAK = "tests/test_cart.py::test_leak"


def test_the_kind_comes_last_after_everything_that_was_tried_and_nothing_can_move_the_cursor() -> None:
    result = InvestigateResult(
        kind="order_dependent",
        confidence="high: passed alone, failed after one other",
        evidence=["alone: PPPPP", "after all 9 earlier tests\x1b"],
        first_difference=[],
        broken_by=None,
        suspects=[Suspect(file="src/shop.py", line=3, function="pri\x1bce", score=0.8165)],
        polluter=Polluter(node_ids=[LEAK], effect="fails_after", rerun={"node_ids": [LEAK, TEST]}),
        notices=["Two environments."],
        rerun={"node_ids": [LEAK, TEST]},
    )

    lines = terminal.report_lines(result, Painter(has_colours=False), again="pytest-mcp run a b")

    assert [line for line in lines if line] == [
        "alone: PPPPP",
        "after all 9 earlier tests\\x1b",
        "Suspects:",
        "  src/shop.py:3 in pri\\x1bce (0.82)",
        "Fails after:",
        f"  {LEAK}",
        "note: Two environments.",
        "To run the failure again: pytest-mcp run a b",
        "depends on the order of the tests; confidence high: passed alone, failed after one other",
    ]
