"""The entry of goose, which is only printed."""

from pathlib import Path

import pytest
import yaml

from pytest_mcp.cli.setup.entries import goose_sample
from tests.support.commands.plans import plan


def test_the_entry_is_of_the_kind_that_goose_starts() -> None:
    (entry,) = yaml.safe_load(goose_sample(plan(Path("/home/you/shop"))))["extensions"].values()

    assert (entry["type"], entry["name"], entry["enabled"]) == ("stdio", "pytest-shop", True)
    assert entry["cmd"] == "/home/you/.local/bin/pytest-mcp"


@pytest.mark.parametrize("name", ["a b", "it's", 'quo"te', "naïve: #1", "tab\there", "back\\slash", "💥"])
def test_a_folder_of_any_name_is_yaml(name: str) -> None:
    (entry,) = yaml.safe_load(goose_sample(plan(Path("/home/you") / name)))["extensions"].values()

    assert entry["args"] == ["--root", f"/home/you/{name}"]


def test_it_waits_longer_than_the_server() -> None:
    (entry,) = yaml.safe_load(goose_sample(plan(limit=900)))["extensions"].values()

    assert (entry["timeout"], entry["args"]) == (960, [])
