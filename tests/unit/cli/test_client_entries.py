"""Which entries of clients are found for a project, and what is wrong with each of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.cli import client_entries
from pytest_mcp.cli.client_entries import ClientEntry
from pytest_mcp.cli.setup.plan import Machine


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, beside a home folder and a program of ours."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "pytest-mcp"
    program.touch(mode=0o755)
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def found(root: Path) -> list[ClientEntry]:
    home, folders = root.parent / "home", str(root.parent / "bin")
    return client_entries.for_project(root, Machine("linux", home, {"PATH": folders}))


def write(path: Path, entry: Any, name: str = "pytest") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": {name: entry}}), encoding="utf-8")


TOKEN = "Bearer ${PYTEST_MCP_TOKEN}"


def problems(root: Path) -> list[str | None]:
    return [entry.problem for entry in found(root)]


def program(root: Path) -> str:
    return str(root.parent / "bin" / "pytest-mcp")


def test_entries_of_other_servers_are_not_shown_and_one_that_starts_or_names_ours_has_no_problem(root: Path) -> None:
    nothing = found(root)
    write(root / ".mcp.json", {"command": "/gone/another-server", "args": ["--token", "secret"]}, "another")
    others = found(root)
    write(root / ".mcp.json", {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": TOKEN}})
    on_http = found(root)
    write(root / ".mcp.json", {"command": program(root), "args": []})

    assert nothing == others == []
    assert on_http == [ClientEntry("Claude Code", ".mcp.json", None)]
    assert found(root) == [ClientEntry("Claude Code", ".mcp.json", program(root))]


def test_a_program_is_looked_for_on_the_path_if_the_entry_has_only_its_name(root: Path) -> None:
    write(root / ".mcp.json", {"command": "pytest-mcp", "args": []})
    there = problems(root)
    Path(program(root)).chmod(0o644)
    write(root.parent / "home/.claude.json", {"command": program(root), "args": []})

    assert there == [None]
    assert problems(root) == ["pytest-mcp is not on your PATH", f"{program(root)} does not exist or cannot be executed"]


@pytest.mark.parametrize(
    ("command", "arguments", "problem"),
    [
        ("/gone/pytest-mcp", [], "/gone/pytest-mcp does not exist or cannot be executed"),
        ("/gone/python", ["-m", "pytest_mcp"], "/gone/python does not exist or cannot be executed"),
        ("pytest-mcp", ["--python=/gone/python"], "its --python /gone/python does not exist"),
        ("pytest-mcp", ["--root", "/gone/root"], "its --root /gone/root does not exist"),
        ("pytest-mcp", ["--root", "${workspaceFolder}", "--python=.venv/bin/python"], None),
        ("${userHome}/bin/pytest-mcp", [], None),
    ],
)
def test_a_path_in_an_entry_that_is_gone_is_named(
    root: Path, command: str, arguments: list[str], problem: str | None
) -> None:
    write(root / ".mcp.json", {"command": command, "args": arguments})

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
    write(root.parent / file, {"command": "/gone/pytest-mcp", "args": []})

    assert [entry.fix for entry in found(root)] == [command]


def test_a_users_entry_for_another_project_is_not_this_ones(root: Path) -> None:
    settings = root.parent / "home" / ".kiro" / "settings" / "mcp.json"
    write(settings, {"command": "/gone/pytest-mcp", "args": ["--root", "/another"]})
    assert found(root) == []

    link = root.with_name("link")
    link.symlink_to(root)
    for own in (root, link, f"{root}/../project"):
        write(settings, {"command": "/gone/pytest-mcp", "args": [f"--root={own}"]})
        assert problems(root) == ["/gone/pytest-mcp does not exist or cannot be executed"]


def test_a_file_that_cannot_be_parsed_and_a_link_in_a_project_are_named(root: Path) -> None:
    (root / ".mcp.json").write_text('{"mcpServers": {', encoding="utf-8")
    (unreadable,) = problems(root)
    write(root.parent / "secret.json", {"command": "/gone/pytest-mcp", "args": []})
    (root / ".mcp.json").unlink()
    (root / ".mcp.json").symlink_to(root.parent / "secret.json")

    (linked,) = problems(root)

    assert "line 1 column 17" in (unreadable or "")
    assert "symlinks in a project are not followed" in (linked or "")


def entry(root: Path, *arguments: str) -> dict[str, Any]:
    return {"command": program(root), "args": list(arguments)}


def users_file(root: Path) -> Path:
    return root.parent / "home" / ".claude.json"


def common(root: Path, *own: str) -> str | None:
    return client_entries.common_python(found(root), root, own)


def test_a_python_that_only_a_file_of_the_project_names_is_not_started(root: Path) -> None:
    python = root.parent / "bin" / "python3"
    python.touch(mode=0o755)
    write(root / ".mcp.json", entry(root, f"--python={python}"))

    assert common(root, "/usr/bin/python3") is None
    assert common(root, str(python)) == str(python)


def test_a_python_in_the_users_own_settings_is_started_if_every_client_names_it(root: Path) -> None:
    python = root.parent / "bin" / "python3"
    python.touch(mode=0o755)
    write(users_file(root), entry(root, f"--root={root}", f"--python={python}"))
    own = common(root)
    write(root / ".mcp.json", entry(root))
    with_another = common(root)
    (root / ".mcp.json").unlink()
    write(users_file(root), entry(root, "--python=python3"))

    assert own == str(python)
    assert (with_another, common(root)) == (None, None)
