"""`pytest-mcp setup --portable`: an entry that works on every machine that has the command."""

from pathlib import Path

from tests.support.commands.desk import SERVER, Desk
from tests.support.git import git


def put_on_path(desk: Desk) -> None:
    (desk.home / "bin").mkdir()
    (desk.home / "bin" / "pytest-mcp").symlink_to(SERVER)


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


def test_a_python_in_the_project_is_named_from_where_the_client_starts_the_server(desk: Desk) -> None:
    options = ["--python", ".venv/bin/python"]

    desk.typed("claude-code", "cursor", "--portable", "--yes", options=options)

    assert desk.servers()["pytest"]["args"] == ["--python=.venv/bin/python"]
    assert desk.servers(".cursor/mcp.json")["pytest"]["args"] == [
        *("--root", "${workspaceFolder}"),
        "--python=${workspaceFolder}/.venv/bin/python",
    ]


def test_a_name_that_leads_to_this_program_counts_as_set_up(desk: Desk) -> None:
    put_on_path(desk)
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
