"""A client that has a command for its settings is set up by that: it is shown, run, and checked by its file."""

import json
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


def called(desk: Desk) -> list[str]:
    file = desk.home / "called"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def test_claude_code_adds_and_removes_its_entry_itself(desk: Desk) -> None:
    path = desk.home / ".claude.json"
    entry = {"type": "stdio", "command": SERVER, "args": []}
    install(desk, "claude", f"echo '{json.dumps({'mcpServers': {'pytest': entry}})}' > {path}")

    shown = desk.typed("claude-code", "--user", "--print")
    not_called = called(desk)
    done = desk.typed("claude-code", "--user", "--yes")
    adding = called(desk)
    written = path.read_bytes()
    install(desk, "claude", f"echo '{{\"mcpServers\": {{}}}}' > {path}")
    desk.typed("claude-code", "--user", "--remove", "--yes")

    assert not_called == []
    assert f"$ claude mcp add-json --scope user pytest '{json.dumps(entry)}'" in shown.stdout
    assert done.returncode == 0
    assert adding == [str(desk.project), "mcp", "add-json", "--scope", "user", "pytest", json.dumps(entry)]
    assert json.loads(written) == {"mcpServers": {"pytest": entry}}
    assert called(desk)[1:] == ["mcp", "remove", "--scope", "user", "pytest"]
    assert not path.exists()


def test_what_a_command_leaves_out_is_written_into_the_file(desk: Desk) -> None:
    path = desk.home / ".gemini" / "settings.json"
    path.parent.mkdir()
    both = {"theme": "x", "mcpServers": {"pytest": {"command": SERVER, "args": []}}}
    install(desk, "gemini", f"echo '{json.dumps(both)}' > {path}")

    desk.typed("gemini", "--user", "--allow", "--yes")

    entry = {"command": SERVER, "args": [], "timeout": 600_000, "trust": True}
    assert json.loads(path.read_bytes()) == {"theme": "x", "mcpServers": {"pytest": entry}}


def test_gemini_and_vs_code_are_given_the_whole_entry(desk: Desk) -> None:
    install(desk, "gemini")
    install(desk, "code")

    desk.typed("gemini", "--user", "--yes", options=["--timeout", "900"])
    gemini = called(desk)[1:]
    desk.typed("vscode", "--user", "--yes")

    arguments = ["--scope", "user", "--timeout", "960000", "pytest", SERVER, "--", "--timeout=900"]
    named = {"name": "pytest-shop", "type": "stdio", "command": SERVER, "args": ["--root", str(desk.project)]}
    assert gemini == ["mcp", "add", *arguments]
    assert called(desk)[1:] == ["--add-mcp", json.dumps(named)]


@pytest.mark.parametrize("body", ["echo 'not today' >&2; exit 3", "exit 0"])
def test_if_the_command_fails_or_writes_nothing_the_file_is_written(desk: Desk, body: str) -> None:
    install(desk, "claude", body)

    done = desk.typed("claude-code", "--user", "--yes")

    assert done.returncode == 0
    assert list(json.loads((desk.home / ".claude.json").read_bytes())["mcpServers"]) == ["pytest"]
    assert ("claude: not today; so the file itself is changed" in done.stderr) == ("not today" in body)


def test_the_file_of_a_project_is_changed_without_a_command(desk: Desk) -> None:
    """Commands were seen to drop what they do not know from such files."""
    for program in ("claude", "codex", "gemini", "code"):
        install(desk, program)

    assert desk.typed("claude-code", "codex", "gemini", "vscode", "--yes").returncode == 0
    assert called(desk) == []


def test_a_file_with_comments_is_left_to_the_command(desk: Desk) -> None:
    path = desk.home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('// mine\n{"theme": "x"}\n', encoding="utf-8")
    entry = {"command": SERVER, "args": [], "timeout": 600_000}
    both = json.dumps({"theme": "x", "mcpServers": {"pytest": entry}})
    install(desk, "gemini", f"printf '// mine\\n%s\\n' '{both}' > {path}")

    done = desk.typed("gemini", "--user", "--yes")
    written = path.read_text(encoding="utf-8")
    left = '// mine\n{"theme": "x", "mcpServers": {}}\n'
    install(desk, "gemini", f"printf '%s' '{left}' > {path}")
    removed = desk.typed("gemini", "--user", "--remove", "--yes")

    assert (done.returncode, removed.returncode) == (0, 0)
    assert written == f"// mine\n{both}\n"
    assert path.read_text(encoding="utf-8") == left


def test_an_entry_that_exists_is_renewed_in_its_file(desk: Desk) -> None:
    """Its command would be given keys of others, which may be secrets."""
    path = desk.home / ".claude.json"
    path.write_bytes(b'{"mcpServers": {"pytest": {"command": "/gone/pytest-mcp", "env": {"KEY": "secret"}}}}')
    install(desk, "claude")

    done = desk.typed("claude-code", "--user", "--yes")

    assert (done.returncode, called(desk)) == (0, [])
    assert "secret" not in done.stdout
    assert json.loads(path.read_bytes())["mcpServers"]["pytest"]["env"] == {"KEY": "secret"}


def test_a_program_in_the_project_is_not_run(desk: Desk) -> None:
    """A repository must not decide what runs."""
    install(desk, "claude", folder=desk.project / "bin")
    (desk.home / "bin").symlink_to(desk.project / "bin")

    done = desk.typed("claude-code", "--user", "--yes")

    assert (done.returncode, called(desk)) == (0, [])
    assert (desk.home / ".claude.json").exists()
