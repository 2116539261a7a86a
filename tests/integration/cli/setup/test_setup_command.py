"""`pytest-mcp setup` as a person types it: in a home and a project of their own, at a terminal and without one."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

from pytest_mcp.cli.commands.setup import CLIENTS_BY_NAME
from pytest_mcp.cli.setup.clients import CLIENTS
from tests.support.commands.desk import SERVER, Desk
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("level", [[], ["--user"]], ids=["project", "user"])
def test_every_client_is_set_up_once_and_taken_out_again(desk: Desk, level: list[str]) -> None:
    """All clients at once: each has a file of its own."""
    first = desk.typed(*CLIENTS_BY_NAME, *level, "--yes")
    after_first = desk.files()
    second = desk.typed(*CLIENTS_BY_NAME, *level, "--yes")
    after_second = desk.files()
    out = desk.typed("--remove", *CLIENTS_BY_NAME, *level, "--yes")
    left = desk.files()

    assert (first.returncode, second.returncode, out.returncode) == (0, 0, 0)
    assert first.stderr + second.stderr + out.stderr == ""
    assert len(after_first) == len(CLIENTS_BY_NAME)
    assert all(str(desk.home.parent / path) in first.stdout for path in after_first)
    assert all(SERVER.encode() in content for content in after_first.values())
    assert after_second == after_first
    assert out.stdout.count("so it was deleted") == len(CLIENTS_BY_NAME)
    assert left == {}
    # Only folders that are not a client's are left: by the others, clients would be found that are not there.
    assert {path.name for path in desk.home.parent.rglob("*")} <= {"home", "shop", ".config"}


def test_the_entry_starts_a_server(desk: Desk) -> None:
    desk.typed("claude-code", "--yes")
    entry = desk.servers()["pytest"]
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    assert isinstance(entry["args"], list)

    answer = subprocess.run(
        [str(entry["command"]), *entry["args"]],
        cwd=desk.project,
        env={},
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout

    assert json.loads(answer)["result"]["serverInfo"]["name"] == "pytest-mcp"


def test_without_names_those_are_meant_that_are_found(desk: Desk) -> None:
    (desk.project / ".vscode").mkdir()
    (desk.home / ".gemini").mkdir()
    program = desk.home / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)

    done = desk.typed("--yes")

    assert done.returncode == 0
    assert "Found: Codex, Gemini CLI, VS Code. Not found: Claude Code, Claude Desktop" in done.stdout
    assert {Path(name).name for name in desk.files()} == {"codex", "config.toml", "settings.json", "mcp.json"}


def test_when_no_client_is_found_each_name_is_listed_once_and_how_to_print_an_entry(desk: Desk) -> None:
    done = desk.typed("--yes")

    words = re.findall(r"[\w-]+", done.stdout)
    assert done.returncode == 1
    assert {client.name: words.count(client.name) for client in CLIENTS} == dict.fromkeys(CLIENTS_BY_NAME, 1)
    assert "--print goose" in done.stdout


def test_print_shows_the_difference_and_writes_nothing(desk: Desk) -> None:
    done = desk.typed("cursor", "--print")

    assert done.returncode == 0
    assert f"+++ {desk.project}/.cursor/mcp.json" in done.stdout
    assert '+        "${workspaceFolder}"\n' in done.stdout
    assert desk.files() == {}


@pytest.mark.parametrize("options", [[], ["--portable"], ["--url", "http://127.0.0.1:8000/mcp"]])
def test_print_json_is_an_entry_for_any_other_client_and_nothing_else(desk: Desk, options: list[str]) -> None:
    done = desk.typed("--print", "json", *options)

    local = {"command": "pytest-mcp" if options else SERVER, "args": ["--root", str(desk.project)]}
    entry = {"url": options[1]} if len(options) > 1 else local
    assert json.loads(done.stdout) == {"mcpServers": {"pytest-shop": entry}}
    assert (done.returncode, desk.files()) == (0, {})


def test_print_goose_is_an_entry_in_yaml_with_the_file_that_it_belongs_to(desk: Desk) -> None:
    done = desk.typed("--print", "goose")

    (name, entry), *others = yaml.safe_load(done.stdout)["extensions"].items()
    assert (name, entry["name"], others) == ("pytest-shop", "pytest-shop", [])
    assert (entry["cmd"], entry["args"]) == (SERVER, ["--root", str(desk.project)])
    assert done.stdout.startswith(f"# In {desk.home}/.config/goose/config.yaml.")
    assert (done.returncode, desk.files()) == (0, {})


def test_without_a_terminal_nothing_is_written_unasked(desk: Desk) -> None:
    done = desk.typed("cursor")

    assert done.returncode == 1
    assert "--yes" in done.stdout
    assert desk.files() == {}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"\n", 0),
        (b"YES\n", 0),
        (b"what\n", 1),
        (b"\x04", 1),
        (signal.SIGINT, -signal.SIGINT),
    ],
)
def test_at_a_terminal_the_answer_decides(desk: Desk, answer: bytes | signal.Signals, code: int) -> None:
    returned, said = desk.answered(answer, "gemini")

    assert returned == code
    assert "Traceback" not in said
    assert said.index("+++ ") < said.index("[Y/n]")
    assert bool(desk.files()) == (code == 0)


def test_our_own_checkout_is_set_up_only_if_it_is_named(desk: Desk) -> None:
    """A new user types it there, just after the installation."""
    (desk.project / "pyproject.toml").write_text("[project]\nname = 'pytest-mcp-server'\n")

    refused = desk.typed("claude-code", "--yes")
    left = desk.files()
    named = desk.typed("claude-code", "--yes", options=["--root=."])

    assert (refused.returncode, named.returncode) == (2, 0)
    assert "your own project's folder" in refused.stderr
    assert list(left) == ["shop/pyproject.toml"]


def test_in_a_home_folder_the_users_own_settings_are_meant(desk: Desk) -> None:
    done = desk.typed("codex", "windsurf", "gemini", "--yes", cwd=desk.home)

    assert done.returncode == 1
    assert "Windsurf" in done.stderr
    assert set(desk.files()) == {"home/.codex/config.toml", "home/.gemini/settings.json"}


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], ["emacs"]),
        ([], ["--yes", "--print"]),
        ([], ["goose"]),
        ([], ["goose", "cursor", "--print"]),
        (["--root", "nowhere"], []),
    ],
)
def test_misuse_is_one_sentence_and_two(desk: Desk, options: list[str], arguments: list[str]) -> None:
    done = desk.typed(*arguments, options=options)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert desk.files() == {}


@pytest.mark.parametrize(("typed", "meant"), [("VS-Code", "vscode"), ("gose", "goose")])
def test_the_nearest_client_is_suggested_for_a_misspelt_one(desk: Desk, typed: str, meant: str) -> None:
    done = desk.typed(typed, "--yes")

    assert (done.returncode, desk.files()) == (2, {})
    assert f"did you mean {meant}?" in done.stderr


def test_an_entry_that_differs_is_shown_and_renewed_and_the_others_keep_their_values(desk: Desk) -> None:
    path = desk.project / ".mcp.json"
    path.write_bytes(b'{"mcpServers": {"a": [1, 2], "pytest": {"command": "/gone/pytest-mcp"}, "b": {}}}\n')

    shown = desk.typed("claude-code", "--print")
    renewed = desk.typed("claude-code", "--yes")

    assert '-      "command": "/gone/pytest-mcp"\n' in shown.stdout
    assert f'+      "command": "{SERVER}"' in shown.stdout
    assert renewed.returncode == 0
    assert desk.servers() == {"a": [1, 2], "pytest": {"type": "stdio", "command": SERVER, "args": []}, "b": {}}
    assert path.read_bytes().count(b"\n") == 1


def test_a_file_with_comments_is_not_rewritten_and_what_to_paste_is_printed(desk: Desk) -> None:
    """Once it is pasted, the client is set up."""
    path = desk.project / ".zed" / "settings.json"
    path.parent.mkdir()
    path.write_text('// mine\n{\n  "theme": "One",\n}\n', encoding="utf-8")
    before = path.read_bytes()

    done = desk.typed("zed", "--yes")
    unchanged = path.read_bytes()
    pasted = done.stdout.partition("Add this to it yourself:\n")[2]
    path.write_text(f"// mine\n{pasted}", encoding="utf-8")
    again = desk.typed("zed", "--yes")
    removed = desk.typed("zed", "--remove", "--yes")

    assert (done.returncode, again.returncode, removed.returncode) == (1, 0, 1)
    assert "has comments" in done.stderr
    assert "has comments" in removed.stderr
    assert unchanged == before
    assert json.loads(pasted)["context_servers"]["pytest"]["command"] == SERVER
