"""A client that has a command for its settings is set up by that: it is shown, run, and checked by its file."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from tests.support.commands.desk import SERVER, Desk

# Notes its arguments and the folder, one in a line, and writes a file if it is told to.
PROGRAM = """#!/bin/sh
printf '%s\\n' "$PWD" "$@" > "$HOME/called"
{body}
"""


def install(desk: Desk, name: str, body: str = "", folder: Path | None = None) -> None:
    program = (folder or desk.home / "bin") / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(PROGRAM.format(body=body), encoding="utf-8")
    program.chmod(0o755)
    # A test's PATH has nothing else, and the script needs none.
    assert os.access(program, os.X_OK)


def called(desk: Desk) -> list[str]:
    file = desk.home / "called"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.mark.parametrize("level", ["project", "user"])
def test_claude_code_adds_and_removes_its_entry_itself(desk: Desk, level: str) -> None:
    user = ["--user"] if level == "user" else []
    path = desk.home / ".claude.json" if user else desk.project / ".mcp.json"
    entry = {"type": "stdio", "command": SERVER, "args": []}
    install(desk, "claude", f"echo '{json.dumps({'mcpServers': {'pytest': entry}})}' > {path}")

    shown = desk.typed("claude-code", *user, "--print")
    not_called = called(desk)
    done = desk.typed("claude-code", *user, "--yes")
    adding = called(desk)
    written = path.read_bytes()
    install(desk, "claude", f"echo '{{\"mcpServers\": {{}}}}' > {path}")
    desk.typed("claude-code", *user, "--remove", "--yes")

    assert not_called == []
    assert f"$ claude mcp add-json --scope {level} pytest '{json.dumps(entry)}'" in shown.stdout
    assert done.returncode == 0
    assert adding == [str(desk.project), "mcp", "add-json", "--scope", level, "pytest", json.dumps(entry)]
    assert json.loads(written) == {"mcpServers": {"pytest": entry}}
    assert called(desk)[1:] == ["mcp", "remove", "--scope", level, "pytest"]
    assert not path.exists()


def test_what_the_command_of_codex_cannot_set_is_written_into_its_table(desk: Desk) -> None:
    path = desk.home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('model = "o3" # mine\n', encoding="utf-8")
    table = f'\\n[mcp_servers.pytest]\\ncommand = "{SERVER}"\\nargs = []\\n'
    install(desk, "codex", f"printf '{table}' >> {path}")

    done = desk.typed("codex", "--user", "--yes")

    text = path.read_text(encoding="utf-8")
    assert f"$ codex mcp add pytest -- {SERVER}" in done.stdout
    assert called(desk)[1:] == ["mcp", "add", "pytest", "--", SERVER]
    assert text.startswith('model = "o3" # mine\n\n[mcp_servers.pytest]\n')
    assert tomllib.loads(text)["mcp_servers"]["pytest"] == {
        "command": SERVER,
        "args": [],
        "startup_timeout_sec": 60,
        "tool_timeout_sec": 300,
    }


def test_gemini_and_vs_code_are_given_the_whole_entry(desk: Desk) -> None:
    install(desk, "gemini")
    install(desk, "code")

    desk.typed("gemini", "--yes", options=["--timeout", "900"])
    gemini = called(desk)[1:]
    desk.typed("vscode", "--user", "--yes")

    arguments = ["--scope", "project", "--timeout", "960000", "pytest", SERVER, "--", "--timeout=900"]
    named = {"name": "pytest-shop", "type": "stdio", "command": SERVER, "args": ["--root", str(desk.project)]}
    assert gemini == ["mcp", "add", *arguments]
    assert called(desk)[1:] == ["--add-mcp", json.dumps(named)]


@pytest.mark.parametrize("body", ["echo 'not today' >&2; exit 3", "exit 0"])
def test_if_the_command_fails_or_writes_nothing_the_file_is_written(desk: Desk, body: str) -> None:
    install(desk, "claude", body)

    done = desk.typed("claude-code", "--yes")

    assert done.returncode == 0
    assert list(desk.servers()) == ["pytest"]
    assert ("claude: not today; so the file itself is changed" in done.stderr) == ("not today" in body)


@pytest.mark.parametrize("client", ["codex", "vscode"])
def test_a_command_that_knows_no_files_of_projects_is_not_used_for_one(desk: Desk, client: str) -> None:
    install(desk, "codex")
    install(desk, "code")

    assert desk.typed(client, "--yes").returncode == 0
    assert called(desk) == []


def test_a_file_with_comments_is_left_to_the_command(desk: Desk) -> None:
    path = desk.project / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('// mine\n{"theme": "x"}\n', encoding="utf-8")
    entry = {"command": SERVER, "args": [], "timeout": 600_000}
    both = json.dumps({"theme": "x", "mcpServers": {"pytest": entry}})
    install(desk, "gemini", f"printf '// mine\\n%s\\n' '{both}' > {path}")

    done = desk.typed("gemini", "--yes")

    assert done.returncode == 0
    assert path.read_text(encoding="utf-8") == f"// mine\n{both}\n"


def test_an_entry_that_exists_is_renewed_in_its_file(desk: Desk) -> None:
    """Its command would be given keys of others, which may be secrets."""
    path = desk.project / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {"pytest": {"command": "/gone/pytest-mcp", "env": {"KEY": "secret"}}}}')
    install(desk, "claude")

    done = desk.typed("claude-code", "--yes")

    assert (done.returncode, called(desk)) == (0, [])
    assert "secret" not in done.stdout
    assert desk.servers()["pytest"]["env"] == {"KEY": "secret"}


def test_a_program_in_the_project_is_not_run(desk: Desk) -> None:
    """A repository must not decide what runs."""
    install(desk, "claude", folder=desk.project / "bin")
    (desk.home / "bin").symlink_to(desk.project / "bin")

    done = desk.typed("claude-code", "--yes")

    assert (done.returncode, called(desk)) == (0, [])
    assert list(desk.servers()) == ["pytest"]


def test_a_link_in_a_project_is_refused_before_a_command_could_follow_it(desk: Desk) -> None:
    install(desk, "claude")
    (desk.project / ".mcp.json").symlink_to(desk.home / "settings.json")

    done = desk.typed("claude-code", "--yes")

    assert (done.returncode, called(desk)) == (1, [])
