"""Which entries of a client's settings start this server, which options of theirs are kept, and the entry of goose."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mcp.cli.setup.entries import (
    combined,
    goose_sample,
    is_ours,
    option_value,
    program,
    relative,
    server_arguments,
)
from tests.support.commands.plans import plan

SERVER = "pytest-mcp-server"


@pytest.mark.parametrize(
    "words",
    [
        ["pytest-mcp"],
        ["pytest-mcp-server", "--root", "/p"],
        ["/home/ann/.local/bin/pytest-mcp"],
        ["C:\\Users\\ann\\Scripts\\pytest-mcp.exe"],
        ["python", "-m", "pytest_mcp"],
        ["/p/.venv/bin/python3.12", "-P", "-m", "pytest_mcp", "--timeout=900"],
        ["C:\\Python\\python.exe", "-Iu", "-m", "pytest_mcp"],
        ["uvx", SERVER],
        ["uvx", f"{SERVER}@1.2"],
        ["uvx", "--python", "3.12", f"{SERVER}>=1"],
        ["/bin/uvx", "--from", SERVER, "pytest-mcp", "--root", "/p"],
        ["uvx", "--from=Pytest_MCP.server[extra]==1.0", "pytest-mcp"],
        ["uvx", "--from", "/src/my copy", "pytest-mcp"],
        ["uvx", "--from", "git+https://x.org/r.git@abc", "pytest-mcp"],
        ["uvx", "--from", f"{SERVER} @ git+https://x.org/r.git", SERVER],
        ["uv", "tool", "run", SERVER],
        ["pipx", "run", "--spec", SERVER, "pytest-mcp"],
    ],
    ids=" ".join,
)
def test_a_command_that_starts_this_server_is_ours(words: list[str]) -> None:
    assert is_ours({"command": words[0], "args": words[1:]})
    assert is_ours({"command": words})


@pytest.mark.parametrize(
    "words",
    [
        ["my-pytest-mcp-wrapper"],
        ["pytest-mcp.sh"],
        ["/opt/pytest-mcp/bin/other"],
        ["bash", "-c", "cd /p && pytest-mcp"],
        ["env", "A=b", "pytest-mcp"],
        ["docker", "run", "--rm", "pytest-mcp"],
        ["node", "server.js", "--for", "pytest_mcp"],
        ["python", "-m", "pytest_mcp_wrapper"],
        ["python", "-m", "other", "-m", "pytest_mcp"],
        ["python", "-c", "-m", "pytest_mcp"],
        ["pythonic", "-m", "pytest_mcp"],
        ["uvx", "pytest-mcp"],  # a different project of that name is on the index
        ["uvx", "--from", "pytest-mcp", "pytest-mcp"],
        ["uvx", "--from", "other @ https://x.org/pytest-mcp-server", "pytest-mcp"],
        ["uvx", "--from", SERVER, "other"],
        ["uvx", "--with", SERVER, "other"],
        ["uvx", "--unknown", SERVER],
        ["uvx", "pytest-mcp-server-extra"],
        ["uvx", "--from", SERVER],
        ["uv", "run", "pytest-mcp"],
        ["pipx", "install", SERVER],
        ["npx", SERVER],
        [],
        [""],
    ],
    ids=" ".join,
)
def test_a_command_that_merely_mentions_it_is_not(words: list[str]) -> None:
    assert not is_ours({"command": words})
    if words:
        assert not is_ours({"command": words[0], "args": words[1:]})


@pytest.mark.parametrize(
    "known",
    [
        None,
        "pytest-mcp",
        ["pytest-mcp"],
        {},
        {"url": "https://x.org/pytest-mcp"},
        {"args": ["pytest-mcp"]},
        {"command": "other", "args": [], "env": {"A": "pytest-mcp"}},
        {"command": 1},
        {"command": "uvx", "args": "pytest-mcp-server"},
        {"command": "uvx", "args": [1, SERVER]},
    ],
)
def test_what_is_no_command_is_not_ours(known: Any) -> None:
    assert not is_ours(known)


def test_of_an_entry_only_its_program_is_told() -> None:
    assert program({"command": "/opt/other", "args": ["--key", "secret"]}) == "/opt/other"
    assert program({"command": ["bash", "-c", "secret"]}) == "bash"
    assert program({"url": "https://x.org/?key=secret"}) is None
    assert program("secret") is None


@pytest.mark.parametrize(
    "command",
    [
        ["/bin/pytest-mcp"],
        ["python", "-P", "-m", "pytest_mcp"],
        ["uvx", "--python", "3.12", SERVER],
        ["pipx", "run", "--spec", SERVER, "pytest-mcp"],
    ],
    ids=" ".join,
)
def test_the_servers_arguments_follow_the_command(command: list[str]) -> None:
    assert server_arguments({"command": [*command, "--python", "X"]}) == ["--python", "X"]
    assert server_arguments({"command": command[0], "args": command[1:]}) == []


@pytest.mark.parametrize("entry", [None, {}, {"url": "http://h"}, {"command": "other", "args": ["--python", "X"]}])
def test_an_entry_that_starts_no_server_of_ours_has_no_arguments_for_it(entry: Any) -> None:
    assert server_arguments(entry) is None


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (["--python", "X", "--timeout=900"], [], ["--python", "X", "--timeout=900", "--workers=2"]),
        (["--timeout", "900", "--odd"], ["--timeout=600"], ["--timeout=600", "--odd", "--workers=2"]),
        (["--timeout", "900"], ["--timeout=900", "--no-spare"], ["--timeout", "900", "--no-spare", "--workers=2"]),
        (["--workers", "4"], [], ["--workers", "4"]),
    ],
)
def test_an_option_that_is_typed_replaces_the_same_one_and_the_others_stay(
    old: list[str], new: list[str], wanted: list[str]
) -> None:
    assert combined(old, new, ["--workers=2"]) == wanted


def test_only_paths_in_the_project_become_relative() -> None:
    words = ["--python", "/p/.venv/bin/python", "--history=/p/runs.db", "--root=/pq", "/p"]

    assert relative(words, "/p", "${w}/") == ["--python", "${w}/.venv/bin/python", "--history=${w}/runs.db", *words[3:]]


def test_the_last_value_of_an_option_counts() -> None:
    assert option_value(["--python", "a", "--python=b"], "--python") == "b"
    assert option_value(["--no-spare"], "--python") is None


@pytest.mark.parametrize("name", ["a b", "it's", 'quo"te', "naïve: #1", "tab\there", "back\\slash", "💥"])
def test_a_folder_of_any_name_is_yaml_for_goose(name: str) -> None:
    (entry,) = yaml.safe_load(goose_sample(plan(Path("/home/you") / name)))["extensions"].values()

    assert entry["args"] == ["--root", f"/home/you/{name}"]


def test_goose_waits_longer_than_the_server() -> None:
    (entry,) = yaml.safe_load(goose_sample(plan(limit=900)))["extensions"].values()

    assert (entry["timeout"], entry["args"]) == (960, [])
