"""`pytest-mcp setup` for a client that has an entry already: its options stay, unless they are typed again."""

import json
import tomllib
from typing import Any

import pytest

from tests.support.commands.desk import SERVER, Desk

URL = "http://127.0.0.1:8000/mcp"


def codex_entry(desk: Desk) -> dict[str, Any]:
    content = tomllib.loads((desk.project / ".codex" / "config.toml").read_text(encoding="utf-8"))
    entry = content["mcp_servers"]["pytest"]
    assert isinstance(entry, dict)
    return entry


def write_entry(desk: Desk, *words: str) -> None:
    entry = {"type": "stdio", "command": words[0], "args": words[1:]}
    (desk.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"pytest": entry}}), encoding="utf-8")


def test_an_entry_keeps_its_options_if_none_is_typed(desk: Desk) -> None:
    options = ["--python", "venv/bin/python", "--timeout", "900", "--history", "runs.sqlite"]
    desk.typed("claude-code", "codex", "opencode", "cursor", "--yes", options=options)
    before = desk.files()

    again = desk.typed("claude-code", "codex", "opencode", "cursor", "--yes")

    assert (again.returncode, desk.files()) == (0, before)
    assert again.stdout.count("It is already set up.") == 4
    assert codex_entry(desk)["tool_timeout_sec"] == 960


@pytest.mark.parametrize(
    "stale",
    [
        ["/gone/bin/pytest-mcp"],
        ["/gone/bin/python", "-P", "-m", "pytest_mcp"],
        ["uvx", "--python", "3.11", "--from", "pytest-mcp-server", "pytest-mcp"],
    ],
    ids=" ".join,
)
def test_a_stale_command_is_renewed_and_the_options_stay(desk: Desk, stale: list[str]) -> None:
    write_entry(desk, *stale, "--python", "/some/python", "--timeout=900")

    done = desk.typed("claude-code", "--yes")

    entry = desk.servers()["pytest"]
    assert (done.returncode, entry["command"]) == (0, SERVER)
    assert entry["args"] == ["--python", "/some/python", "--timeout=900"]


def test_an_address_replaces_the_command_with_its_options_and_keeps_the_longer_timeout(desk: Desk) -> None:
    desk.typed("codex", "--yes", options=["--timeout", "900"])

    desk.typed("codex", "--url", URL, "--yes")
    remote = codex_entry(desk)
    desk.typed("codex", "--url", URL, "--yes", options=["--timeout", "400"])

    assert remote == {"url": URL, "startup_timeout_sec": 60, "tool_timeout_sec": 960}
    assert codex_entry(desk)["tool_timeout_sec"] == 460
