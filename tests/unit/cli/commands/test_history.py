import argparse
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.cli import main, tool_flags
from pytest_mcp.cli.commands import history
from pytest_mcp.config.model import Config, ConfigError, Options, configure

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


def test_who_names_no_test_is_told_how(tmp_path: Path) -> None:
    def config() -> Config:
        return configure(Options(root=str(tmp_path), history=str(tmp_path / "runs.db")), {})

    with pytest.raises(ConfigError, match=r"history test tests/.*::"):
        history.main(parsed("test"), config)
