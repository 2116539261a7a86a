"""`pytest-mcp setup` for a client that has an entry already, whose options stay, and entries for other machines."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.desk import SERVER, Desk
from tests.support.git import git

URL = "http://127.0.0.1:8000/mcp"


def codex_entry(desk: Desk) -> dict[str, Any]:
    content = tomllib.loads((desk.project / ".codex" / "config.toml").read_text(encoding="utf-8"))
    entry = content["mcp_servers"]["pytest"]
    assert isinstance(entry, dict)
    return entry


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
        ["uvx", "--python", "3.11", "--from", "pytest-mcp-server", "pytest-mcp"],
    ],
    ids=" ".join,
)
def test_a_stale_command_is_renewed_and_the_options_stay(desk: Desk, stale: list[str]) -> None:
    entry = {"command": stale[0], "args": [*stale[1:], "--python", "/some/python", "--timeout=900"]}
    (desk.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"pytest": entry}}), encoding="utf-8")

    done = desk.typed("claude-code", "--yes")

    args = ["--python", "/some/python", "--timeout=900"]
    assert done.returncode == 0
    assert desk.servers()["pytest"] == {"type": "stdio", "command": SERVER, "args": args}


def test_an_address_replaces_the_command_with_its_options_and_keeps_the_longer_timeout(desk: Desk) -> None:
    desk.typed("codex", "--yes", options=["--timeout", "900"])

    desk.typed("codex", "--url", URL, "--yes")
    remote = codex_entry(desk)
    desk.typed("codex", "--url", URL, "--yes", options=["--timeout", "400"])

    assert remote == {"url": URL, "startup_timeout_sec": 60, "tool_timeout_sec": 960}
    assert codex_entry(desk)["tool_timeout_sec"] == 460


def test_portable_writes_the_name_and_remove_takes_it_out(desk: Desk) -> None:
    done = desk.typed("claude-code", "codex", "--portable", "--yes")
    written = desk.files()
    again = desk.typed("claude-code", "codex", "--portable", "--yes")
    unchanged = desk.files()
    gone = desk.typed("--remove", "--yes")

    assert (done.returncode, again.returncode, gone.returncode) == (0, 0, 0)
    assert b'"command": "pytest-mcp"' in written["shop/.mcp.json"]
    assert b'command = "pytest-mcp"' in written["shop/.codex/config.toml"]
    assert not any(str(Path(SERVER).parent).encode() in each for each in written.values())
    assert unchanged == written
    assert "not on your PATH" in done.stdout
    assert desk.files() == {}


def test_a_name_that_leads_to_this_program_counts_as_set_up(desk: Desk) -> None:
    (desk.home / "bin").mkdir()
    (desk.home / "bin" / "pytest-mcp").symlink_to(SERVER)
    desk.typed("claude-code", "opencode", "--portable", "--yes")
    before = desk.files()

    again = desk.typed("claude-code", "opencode", "--yes")
    longer = desk.typed("claude-code", "--yes", options=["--timeout", "900"])

    assert (again.returncode, again.stdout.count("already set up")) == (0, 2)
    assert before == {**desk.files(), "shop/.mcp.json": before["shop/.mcp.json"]}
    assert longer.returncode == 0
    assert desk.servers()["pytest"] == {"type": "stdio", "command": "pytest-mcp", "args": ["--timeout=900"]}


def test_portable_is_suggested_before_a_file_is_changed_that_git_tracks(desk: Desk) -> None:
    (desk.project / ".mcp.json").write_bytes(b"{}")
    git("init", cwd=desk.project)
    git("add", ".mcp.json", cwd=desk.project)

    tracked = desk.typed("claude-code", "--print")
    other = desk.typed("gemini", "--print")
    portable = desk.typed("claude-code", "--portable", "--print")

    assert "git tracks this file" in tracked.stdout
    assert "git tracks" not in other.stdout + portable.stdout
