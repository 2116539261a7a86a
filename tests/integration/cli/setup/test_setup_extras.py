"""What `setup` writes beside the entry on request: the approval of the tools, a hook, a paragraph for agents."""

import json
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.cli.setup.clients import TOOL_NAMES
from pytest_mcp.tools import TOOLS, test_history
from tests.support.commands.desk import SERVER, Desk

SETTINGS = {
    "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
    "hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "lint"}]}]},
}


def settings(desk: Desk) -> Any:
    return json.loads((desk.project / ".claude" / "settings.json").read_bytes())


def test_the_tools_that_are_allowed_are_those_of_the_server() -> None:
    assert set(TOOL_NAMES) == {tool.name for tool in (*TOOLS, test_history())}


@pytest.mark.parametrize("content", [None, json.dumps(SETTINGS, indent=2)])
def test_approval_and_hook_of_claude_code_come_and_go_without_a_trace(desk: Desk, content: str | None) -> None:
    path = desk.project / ".claude" / "settings.json"
    if content is not None:
        path.parent.mkdir()
        path.write_text(content, encoding="utf-8")

    done = desk.typed("claude-code", "--allow", "--hook", "--yes")
    written = path.read_bytes()
    again = desk.typed("claude-code", "--allow", "--hook", "--yes")
    unchanged = path.read_bytes()
    gone = desk.typed("--remove", "--yes")

    assert (done.returncode, again.returncode, gone.returncode) == (0, 0, 0)
    assert all(f'"mcp__pytest__{tool}"' in done.stdout for tool in TOOL_NAMES)
    assert "lint" not in done.stdout + gone.stdout
    assert written.count(b"mcp__pytest__") == len(TOOL_NAMES)
    assert written.count(b' hook"') == 1
    assert unchanged == written
    assert (path.read_text(encoding="utf-8") if path.parent.exists() else None) == content


def test_a_new_file_has_the_shape_that_claude_code_reads(desk: Desk) -> None:
    desk.typed("claude-code", "--allow", "--hook", "--portable", "--yes")

    call = {"type": "command", "command": "pytest-mcp hook", "timeout": 10}
    assert settings(desk) == {
        "permissions": {"allow": [f"mcp__pytest__{tool}" for tool in TOOL_NAMES]},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [call]}]},
    }


def test_other_clients_have_the_approval_in_their_entry(desk: Desk) -> None:
    desk.typed("codex", "gemini", "--allow", "--yes")

    codex = tomllib.loads((desk.project / ".codex" / "config.toml").read_text(encoding="utf-8"))
    assert codex["mcp_servers"]["pytest"]["default_tools_approval_mode"] == "approve"
    assert desk.servers(".gemini/settings.json")["pytest"]["trust"] is True


def test_at_a_terminal_each_is_shown_before_it_is_confirmed(desk: Desk) -> None:
    code, said = desk.answered(b"y\n", "claude-code", "--allow", "--hook", then=b"y\nn\n")

    assert code == 1
    assert said.count("[Y/n]") == 3
    assert said.index("mcp__pytest__execute_tests") < said.index("[Y/n]", said.index("[Y/n]") + 1)
    assert list(settings(desk)) == ["permissions"]


def test_nothing_is_written_beside_the_entry_unless_it_is_asked_for(desk: Desk) -> None:
    _, said = desk.answered(b"y\n", "claude-code")

    assert said.count("[Y/n]") == 1
    assert not (desk.project / ".claude" / "settings.json").exists()
    assert not (desk.project / "CLAUDE.md").exists()


def test_a_hook_with_commands_of_somebody_else_stays(desk: Desk) -> None:
    path = desk.project / ".claude" / "settings.json"
    path.parent.mkdir()
    hooks = [{"type": "command", "command": "pytest-mcp hook"}, {"type": "command", "command": "mine"}]
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}), encoding="utf-8")
    before = path.read_bytes()

    done = desk.typed("claude-code", "--remove", "--yes")

    assert (done.returncode, path.read_bytes()) == (0, before)


def answer(command: str, stdin: str) -> str:
    done = subprocess.run(shlex.split(command), input=stdin, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_the_hook_that_was_written_answers_pytest_and_lets_everything_else_run(desk: Desk) -> None:
    desk.typed("claude-code", "--hook", "--yes")
    command = settings(desk)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "cd . && pytest -q"}}

    told = json.loads(answer(command, json.dumps(call)))["hookSpecificOutput"]

    assert command == f"{shlex.quote(SERVER)} hook"
    assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
    assert "execute_tests" in told["permissionDecisionReason"]
    assert [answer(command, stdin) for stdin in ("{}", json.dumps(call).replace("pytest", "ls"))] == ["", ""]


def texts(desk: Desk) -> dict[str, bytes]:
    return {Path(name).name: content for name, content in desk.files().items() if name.endswith(".md")}


def test_each_client_gets_the_paragraph_where_it_reads_and_remove_restores_everything(desk: Desk) -> None:
    (desk.project / "AGENTS.md").write_bytes(b"# Rules\r\nNo tabs.")

    done = desk.typed("claude-code", "codex", "zed", "--instructions", "--yes")
    written = texts(desk)
    again = desk.typed("claude-code", "codex", "zed", "--instructions", "--yes")
    unchanged = texts(desk)
    one = desk.typed("--remove", "codex", "--yes")
    still = texts(desk)
    gone = desk.typed("--remove", "--yes")

    assert [each.returncode for each in (done, again, one, gone)] == [0, 0, 0, 0]
    assert written.keys() == {"AGENTS.md", "CLAUDE.md"}
    assert all(b"`execute_tests`" in content for content in written.values())
    assert done.stdout.count("+## Tests") == 2
    assert unchanged == written == still
    assert texts(desk) == {"AGENTS.md": b"# Rules\r\nNo tabs.\r\n"}


def test_a_paragraph_that_no_client_belongs_to_any_more_is_removed(desk: Desk) -> None:
    desk.typed("codex", "--instructions", "--yes")
    (desk.project / ".codex" / "config.toml").unlink()

    done = desk.typed("--remove", "--yes")

    assert (done.returncode, texts(desk)) == (0, {})


def test_a_link_that_leads_out_of_the_project_is_refused(desk: Desk) -> None:
    (desk.home / "rules.md").write_bytes(b"mine")
    (desk.project / "AGENTS.md").symlink_to(desk.home / "rules.md")

    done = desk.typed("codex", "--instructions", "--yes")

    assert (done.returncode, texts(desk)["rules.md"]) == (1, b"mine")
    assert "symlinks in a project are not followed" in done.stderr
