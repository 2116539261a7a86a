import argparse
from typing import Any

import pytest

from pytest_mcp.api.results import OmittedTests
from pytest_mcp.cli import main, tool_flags
from pytest_mcp.cli.commands import history
from pytest_mcp.history.request_and_result import (
    ChangedDuration,
    Durations,
    FailingTests,
    FlakyTest,
    OneTest,
    SlowTest,
)
from pytest_mcp.history.runs import EMPTY
from pytest_mcp.terminal.colours import Painter

TEST = "tests/test_a.py::test_it"
PLAIN = Painter(has_colours=False)
WHEN = {"since": "2026-11-02 10:00", "commit": "abcdef0"}


def parsed(*words: str) -> argparse.Namespace:
    return main._parser(["history", *words], {}).parse_args(["history", *words])


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["test", TEST], {"about": "test", "node_id": TEST}),
        (["test", "--node-id", TEST], {"about": "test", "node_id": TEST}),
        (["--days", "3", "test", TEST], {"about": "test", "node_id": TEST, "days": "3"}),
        (["flaky"], {"about": "flaky"}),
    ],
)
def test_the_test_is_named_with_or_without_its_flag(words: list[str], asked: dict[str, Any]) -> None:
    assert tool_flags.arguments(parsed(*words)) == asked


def test_a_sparkline_begins_at_zero_so_that_noise_looks_flat() -> None:
    assert history.sparkline([1.0, 1.02, 0.98, 1.0]) == "████"
    assert history.sparkline([0.0, 1.0]) == "▁█"
    assert history.sparkline([0.0]) == "▁"
    assert history.sparkline([]) == ""


def test_one_test_has_its_letters_quartiles_bars_and_trend() -> None:
    counts = {"runs": 4, "failed": 1, "skipped": 1, "failing_since": None, "flaky": "failed 1 of 3 times"}
    times = {"quartiles": [0.01, 0.05, 1.5], "trend": "2.0 times slower since 2026-11-02 10:00", "daily": [0.05, 0.1]}
    test = OneTest.model_validate({"node_id": TEST, "pattern": "PPFS", **counts, **times})
    result = EMPTY.model_copy(update={"runs": 4, "test": test})

    lines, plain = (history.history_lines(result, PLAIN, has_bars=has_bars) for has_bars in (True, False))

    assert lines[1:5] == [
        "  PPFS  4 runs, 1 failed, 1 skipped",
        "  quartiles 10 ms / 50 ms / 1.5 s  ▅█",
        "  duration: 2.0 times slower since 2026-11-02 10:00",
        "  flaky: failed 1 of 3 times",
    ]
    assert plain[2] == "  quartiles 10 ms / 50 ms / 1.5 s"


def test_flaky_failing_and_slow_tests_have_their_lines_and_no_name_can_move_the_cursor() -> None:
    flaky = FlakyTest(node_id="t\x1b[2J", failed=4, runs=37, pattern="PF", states=1, also=2, hint="odd", **WHEN)
    failing = FailingTests(count=5, node_ids=[TEST], runs=1, passed_at="1234567", failed_before=2, hint=None, **WHEN)
    slower = ChangedDuration(name=TEST, before=0.05, now=0.1, runs=6, **WHEN)
    faster = ChangedDuration(name="all tests", before=4.0, now=2.0, runs=6, **WHEN)
    slow = Durations(changed=[slower], suites=[faster], slowest=[SlowTest(node_id=TEST, median=m) for m in (1.25, 0.5)])
    parts = {"flaky": [flaky], "failing": [failing], "slow": slow}
    result = EMPTY.model_copy(update={"runs": 1, **parts, "notices": ["so"], "omitted": OmittedTests(tests=3, hint="")})

    lines = history.history_lines(result, PLAIN, has_bars=True)

    assert [line for line in lines if line] == [
        "t\\x1b[2J: failed 4 of 37 times, and 2 more tests in the same runs",
        "  PF  since 2026-11-02 10:00 (abcdef0)",
        "  odd",
        "failing since 2026-11-02 10:00 (abcdef0), 1 run; passed at 1234567, failed 2 times before that:",
        f"  {TEST}",
        "  and 4 more",
        "Slowest:",
        f"     1.2 s  {TEST}",
        f"    500 ms  {TEST}",
        "Changed:",
        "  2.0 times faster  4.0 s -> 2.0 s  all tests (since 2026-11-02 10:00 (abcdef0), 6 runs)",
        f"  2.0 times slower  50 ms -> 100 ms  {TEST} (since 2026-11-02 10:00 (abcdef0), 6 runs)",
        "note: so",
        "3 more tests are not shown.",
        "1 recorded run looked at",
    ]
