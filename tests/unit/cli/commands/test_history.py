import argparse
from typing import Any

import pytest

from pytest_mcp.cli import main, tool_flags

TEST = "tests/test_a.py::test_it"


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
