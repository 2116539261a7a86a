"""Which entries of a client's settings start this server, which options of theirs are kept, and the entry of goose."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mcp.cli.setup.clients import CLIENTS, GOOSE
from pytest_mcp.cli.setup.entries import entry, is_ours, option_value, program, sample, server_arguments
from tests.support.commands.plans import plan

SERVER = "pytest-mcp-server"


@pytest.mark.parametrize(
    "words",
    [
        ["pytest-mcp"],
        ["/home/ann/.local/bin/pytest-mcp"],
        ["C:\\Users\\ann\\Scripts\\pytest-mcp.exe"],
        ["python", "-m", "pytest_mcp"],
        ["/p/.venv/bin/python3.12", "-P", "-m", "pytest_mcp", "--timeout=900"],
        ["C:\\Python\\python.exe", "-Iu", "-m", "pytest_mcp"],
        ["uvx", SERVER],
        ["uvx", "--python", "3.12", f"{SERVER}>=1"],
        ["uvx", "--from=Pytest_MCP.server[extra]==1.0", "pytest-mcp"],
        ["uvx", "--from", "/src/my copy", "pytest-mcp"],
        ["uvx", "--from", "git+https://x.org/r.git@abc", "pytest-mcp"],
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
        ["/opt/pytest-mcp/bin/other"],
        ["bash", "-c", "cd /p && pytest-mcp"],
        ["env", "A=b", "pytest-mcp"],
        ["python", "-m", "pytest_mcp_wrapper"],
        ["python", "-c", "-m", "pytest_mcp"],
        ["pythonic", "-m", "pytest_mcp"],
        ["uvx", "pytest-mcp"],  # a different project of that name is on the index
        ["uvx", "--from", "pytest-mcp", "pytest-mcp"],
        ["uvx", "--from", "other @ https://x.org/pytest-mcp-server", "pytest-mcp"],
        ["uvx", "--from", SERVER, "other"],
        ["uvx", "--unknown", SERVER],
        ["uvx", "pytest-mcp-server-extra"],
        ["uvx", "--from", SERVER],
        ["uv", "run", "pytest-mcp"],
        [],
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
        "pytest-mcp",
        {"url": "https://x.org/pytest-mcp"},
        {"command": "other", "args": [], "env": {"A": "pytest-mcp"}},
        {"command": "uvx", "args": "pytest-mcp-server"},
        {"command": "uvx", "args": [1, SERVER]},
    ],
)
def test_what_is_no_command_is_not_ours(known: Any) -> None:
    assert not is_ours(known)


def test_the_program_is_known_without_the_arguments_that_may_be_secrets() -> None:
    assert program({"command": "/opt/other", "args": ["--key", "secret"]}) == "/opt/other"
    assert program({"command": ["bash", "-c", "secret"]}) == "bash"
    assert program({"url": "https://x.org/?key=secret"}) is None
    assert program("secret") is None


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["/bin/pytest-mcp"], []),
        (["python", "-P", "-m", "pytest_mcp", "--python", "X"], ["--python", "X"]),
        (["pipx", "run", "--spec", SERVER, "pytest-mcp", "--python", "X"], ["--python", "X"]),
        (["other", "--python", "X"], None),
    ],
)
def test_the_servers_arguments_follow_the_command(words: list[str], arguments: list[str] | None) -> None:
    assert server_arguments({"command": words}) == arguments
    assert server_arguments({"command": words[0], "args": words[1:]}) == arguments


CLAUDE, DESKTOP, CURSOR = (client for client in CLIENTS if client.name.startswith(("claude", "cursor")))


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (["--python", "X", "--timeout=900"], [], ["--python", "X", "--timeout=900"]),
        (["--timeout", "900", "--odd"], ["--timeout=600"], ["--timeout=600", "--odd"]),
        (["--odd"], ["--no-spare"], ["--odd", "--no-spare"]),
    ],
)
def test_an_option_that_is_typed_replaces_the_same_one_and_the_others_stay(
    old: list[str], new: list[str], wanted: list[str]
) -> None:
    assert entry(CLAUDE, plan(flags=new), {"command": "pytest-mcp", "args": old})["args"] == wanted


def test_a_default_of_the_client_counts_unless_the_option_is_there() -> None:
    assert entry(DESKTOP, plan(), {})["args"] == ["--timeout=220"]
    assert entry(DESKTOP, plan(flags=["--timeout=100"]), {})["args"] == ["--timeout=100"]


def test_only_paths_in_the_project_become_relative() -> None:
    old = {"command": "pytest-mcp", "args": ["--history=/p/runs.db", "--odd=/pq", "/p"]}
    typed = plan(Path("/p"), portable=True, flags=["--python", "/p/.venv/bin/python"])

    args, in_cursor = (entry(client, typed, old)["args"] for client in (CLAUDE, CURSOR))

    assert args == ["--history=runs.db", "--odd=/pq", "/p", "--python", ".venv/bin/python"]
    assert in_cursor[-4:] == ["--root", "${workspaceFolder}", "--python", "${workspaceFolder}/.venv/bin/python"]


def test_the_last_value_of_an_option_counts() -> None:
    assert option_value(["--python", "a", "--python=b"], "--python") == "b"
    assert option_value(["--no-spare"], "--python") is None


@pytest.mark.parametrize("name", ["it's", 'quo"te', "naïve: #1", "tab\there", "back\\slash", "💥"])
def test_a_folder_of_any_name_is_yaml_for_goose(name: str) -> None:
    (made,) = yaml.safe_load(sample(GOOSE, plan(Path("/home/you") / name, limit=900)))["extensions"].values()

    assert (made["timeout"], made["args"]) == (960, ["--root", f"/home/you/{name}"])
