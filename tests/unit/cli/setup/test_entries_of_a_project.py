"""Which entries of clients are found for a project, and what is wrong with each of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.cli.setup.entries import ClientEntry, common_python, entries_for_project
from pytest_mcp.cli.setup.plan import Machine

GONE = "/gone/pytest-mcp does not exist or cannot be executed"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, beside a home folder, a program of ours and a Python."""
    for folder in ("bin", "project"):
        (tmp_path / folder).mkdir()
    for program in ("pytest-mcp", "python3"):
        (tmp_path / "bin" / program).touch(mode=0o755)
    return tmp_path / "project"


def entries(root: Path) -> list[ClientEntry]:
    return entries_for_project(root, Machine("linux", root.parent / "home", {"PATH": str(root.parent / "bin")}))


def problems(root: Path) -> list[str | None]:
    return [entry.problem for entry in entries(root)]


def write(root: Path, command: str, *arguments: str, file: str = "project/.mcp.json", **more: Any) -> None:
    path = root.parent / file
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"command": command, "args": arguments, **more} if command else more
    path.write_text(json.dumps({"mcpServers": {"pytest": entry}}), encoding="utf-8")


def test_only_entries_that_start_ours_or_have_its_token_are_found(root: Path) -> None:
    program = str(root.parent / "bin" / "pytest-mcp")
    write(root, "/gone/another-server", "--token", "secret")
    others = entries(root)
    write(root, "", url="http://127.0.0.1:1/mcp", headers={"Authorization": "Bearer ${PYTEST_MCP_TOKEN}"})
    on_http = entries(root)
    write(root, program)

    assert others == []
    assert on_http == [ClientEntry("Claude Code", ".mcp.json", None)]
    assert entries(root) == [ClientEntry("Claude Code", ".mcp.json", program)]


@pytest.mark.parametrize(
    ("command", "arguments", "problem"),
    [
        ("pytest-mcp", [], None),
        ("pytest-mcp-server", [], "pytest-mcp-server is not on your PATH"),
        ("/gone/pytest-mcp", [], GONE),
        ("pytest-mcp", ["--python=/gone/python"], "its --python /gone/python does not exist"),
        ("pytest-mcp", ["--root", "/gone/root"], "its --root /gone/root does not exist"),
        ("pytest-mcp", ["--root", "${workspaceFolder}", "--python=.venv/bin/python"], None),
        ("${userHome}/bin/pytest-mcp", [], None),
    ],
)
def test_a_program_or_path_that_is_gone_is_named(
    root: Path, command: str, arguments: list[str], problem: str | None
) -> None:
    write(root, command, *arguments)

    assert problems(root) == [problem]


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("project/.gemini/settings.json", "pytest-mcp setup gemini"),
        ("home/.gemini/settings.json", "pytest-mcp setup gemini --user"),
        # This client has no file in a project.
        ("home/.kiro/settings/mcp.json", "pytest-mcp setup kiro"),
    ],
)
def test_the_fix_writes_the_file_that_has_the_problem(root: Path, file: str, command: str) -> None:
    write(root, "/gone/pytest-mcp", file=file)

    assert [entry.fix for entry in entries(root)] == [command]


def test_a_users_entry_for_another_project_is_not_this_ones(root: Path) -> None:
    link = root.with_name("link")
    link.symlink_to(root)
    served = {}
    for name in ("/another", str(root), str(link)):
        write(root, "/gone/pytest-mcp", f"--root={name}", file="home/.kiro/settings/mcp.json")
        served[name] = problems(root)

    assert served == {"/another": [], str(root): [GONE], str(link): [GONE]}


def test_a_file_that_cannot_be_parsed_and_a_link_in_a_project_are_named(root: Path) -> None:
    (root / ".mcp.json").write_text('{"mcpServers": {', encoding="utf-8")
    (unreadable,) = problems(root)
    write(root, "/gone/pytest-mcp", file="secret.json")
    (root / ".mcp.json").unlink()
    (root / ".mcp.json").symlink_to(root.parent / "secret.json")
    (linked,) = problems(root)

    assert "line 1 column 17" in (unreadable or "")
    assert "symlinks in a project are not followed" in (linked or "")


def common(root: Path, *own: str) -> str | None:
    return common_python(entries(root), root, own)


def test_a_python_that_only_a_file_of_the_project_names_is_not_started(root: Path) -> None:
    python = str(root.parent / "bin" / "python3")
    write(root, "pytest-mcp", f"--python={python}")

    assert common(root, "/usr/bin/python3") is None
    assert common(root, python) == python


def test_a_python_in_the_users_own_settings_is_started_if_every_client_names_it(root: Path) -> None:
    python = str(root.parent / "bin" / "python3")
    write(root, "pytest-mcp", f"--root={root}", f"--python={python}", file="home/.claude.json")
    own = common(root)
    write(root, "pytest-mcp")
    with_another = common(root)
    (root / ".mcp.json").unlink()
    write(root, "pytest-mcp", "--python=python3", file="home/.claude.json")

    assert own == python
    assert (with_another, common(root)) == (None, None)
