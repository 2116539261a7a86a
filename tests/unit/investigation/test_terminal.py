from pytest_mcp.investigation import terminal
from pytest_mcp.investigation.result import InvestigateResult, Polluter, Suspect
from pytest_mcp.terminal.colours import Painter

PLAIN = Painter(has_colours=False)
TEST = "tests/test_shop.py::test_price"
LEAK = "tests/test_cart.py::test_leak"


def test_the_kind_comes_last_and_everything_that_was_tried_first() -> None:
    result = InvestigateResult(
        kind="order_dependent",
        confidence="high: passed alone, failed after one other",
        evidence=["alone: PPPPP", "after all 9 earlier tests in the suite: fails"],
        suspects=[],
        polluter=Polluter(node_ids=[LEAK], effect="fails_after", rerun={"node_ids": [LEAK, TEST]}),
        notices=["Two environments."],
        rerun={"node_ids": [LEAK, TEST]},
    )

    assert terminal.report_lines(result, PLAIN, again="pytest-mcp run a b") == [
        "alone: PPPPP",
        "after all 9 earlier tests in the suite: fails",
        "",
        "Fails after:",
        f"  {LEAK}",
        "",
        "note: Two environments.",
        "",
        "To run the failure again: pytest-mcp run a b",
        "",
        "depends on the order of the tests; confidence high: passed alone, failed after one other",
    ]


def test_suspects_have_place_name_and_score_and_nothing_can_move_the_cursor() -> None:
    suspect = Suspect(file="src/shop.py", line=3, function="pri\x1bce", score=0.8165)
    result = InvestigateResult(
        kind="deterministic",
        confidence="high",
        evidence=["a\x1b"],
        suspects=[suspect],
        polluter=None,
        notices=[],
        rerun={},
    )

    assert terminal.report_lines(result, PLAIN, again=None) == [
        "a\\x1b",
        "",
        "Suspects:",
        "  src/shop.py:3 in pri\\x1bce (0.82)",
        "",
        "fails always; confidence high",
    ]
