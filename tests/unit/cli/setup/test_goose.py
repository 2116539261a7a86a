"""The entry of goose, which is only printed."""

import re
from pathlib import Path, PurePosixPath

import pytest
import yaml

from pytest_mcp.cli.setup import goose
from pytest_mcp.cli.setup.client import Machine
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.config.model import DEFAULT_TIMEOUT
from tests.support.paths import ROOT


def plan(root: str | None, platform: str = "linux", limit: int = DEFAULT_TIMEOUT) -> Plan:
    return Plan(
        machine=Machine(platform, PurePosixPath("/home/you"), {}),
        root=None if root is None else Path(root),
        user=False,
        remove=False,
        portable=False,
        confirmed="no",
        command=["/home/you/.local/bin/pytest-mcp"],
        flags=[],
        limit=limit,
    )


def test_its_page_has_the_entry_that_is_printed() -> None:
    page = (ROOT / "docs" / "clients" / "goose.md").read_text(encoding="utf-8")

    (block,) = re.findall(r"(?ms)^```yaml\n(.*?)^```", page)

    assert block == f"{goose.sample(plan('/home/you/shop'))}\n"


@pytest.mark.parametrize("name", ["a b", "it's", 'quo"te', "naïve: #1", "tab\there", "back\\slash", "💥"])
def test_a_folder_of_any_name_is_yaml(name: str) -> None:
    (entry,) = yaml.safe_load(goose.sample(plan(f"/home/you/{name}")))["extensions"].values()

    assert entry["args"] == ["--root", f"/home/you/{name}"]


def test_it_waits_longer_than_the_server() -> None:
    (entry,) = yaml.safe_load(goose.sample(plan(None, limit=900)))["extensions"].values()

    assert (entry["timeout"], entry["args"]) == (960, [])


def test_the_file_is_found_on_windows_too() -> None:
    assert "AppData/Roaming/Block/goose/config/config.yaml" in goose.sample(plan(None, "win32"))
