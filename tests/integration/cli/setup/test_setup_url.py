"""`setup --url` and `doctor --url`: a server on HTTP that runs already, and its token, which is nobody's to read."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mcp.cli.setup.clients import CLIENTS
from tests.support.commands.desk import Desk
from tests.support.commands.preloaded import typed
from tests.support.protocol.servers import serving
from tests.support.workbench import NEWEST, python_of

URL = "http://127.0.0.1:8000/mcp"
TOKEN = "a-secret-that-nobody-may-read"
REMOTE = [client for client in CLIENTS if client.remote]
LITERAL = [client for client in REMOTE if client.remote and client.remote.variable is None]


def setup(desk: Desk, *arguments: str, token: str = TOKEN) -> tuple[int, str]:
    done = typed("setup", *arguments, cwd=desk.project, env={**desk.environment(), "PYTEST_MCP_TOKEN": token})
    return done.returncode, done.stdout + done.stderr


def test_every_client_gets_an_entry_without_the_token_unless_it_takes_it_only_from_its_file(desk: Desk) -> None:
    names = [client.name for client in REMOTE]

    code, said = setup(desk, *names, "--user", "--url", URL, "--yes")
    written = desk.files()
    again, _ = setup(desk, *names, "--user", "--url", URL, "--yes")
    unchanged = desk.files()
    out, _ = setup(desk, *names, "--user", "--url", URL, "--remove", "--yes")

    assert (code, again, out) == (0, 0, 0)
    assert TOKEN not in said
    assert said.count("The token is in this file") == len(LITERAL)
    assert sum(TOKEN.encode() in content for content in written.values()) == len(LITERAL)
    assert all(URL.encode() in content for content in written.values())
    assert unchanged == written
    assert not any(URL.encode() in content for content in desk.files().values())


def test_a_token_is_not_written_into_a_projects_file(desk: Desk) -> None:
    code, said = setup(desk, "zed", "--url", URL, "--yes")

    assert (code, desk.files()) == (1, {})
    assert "--user" in said
    assert TOKEN not in said


def test_an_entry_that_starts_a_server_becomes_one_with_a_url_and_back(desk: Desk) -> None:
    desk.typed("claude-code", "--portable", "--yes")
    path = desk.project / ".mcp.json"
    entry = json.loads(path.read_bytes())
    entry["mcpServers"]["pytest"]["note"] = "mine"
    path.write_text(json.dumps(entry), encoding="utf-8")

    setup(desk, "claude-code", "--url", URL, "--yes")
    there = desk.servers()["pytest"]
    desk.typed("claude-code", "--portable", "--yes")

    assert set(there) == {"type", "note", "url", "headers"}
    assert desk.servers()["pytest"] == {"type": "stdio", "note": "mine", "command": "pytest-mcp", "args": []}


def test_without_a_token_the_entry_has_none_and_only_its_url_makes_it_ours(desk: Desk) -> None:
    desk.typed("claude-code", "--url", URL, "--yes")
    entry = desk.servers()["pytest"]

    kept = desk.typed("claude-code", "--remove", "--yes")
    still = desk.servers()
    gone = desk.typed("claude-code", "--remove", "--url", URL, "--yes")

    assert entry == {"type": "http", "url": URL}
    assert "--url" in kept.stdout
    assert still == {"pytest": entry}
    assert (gone.returncode, (desk.project / ".mcp.json").exists()) == (0, False)


def test_a_client_whose_file_cannot_name_a_url_is_told(desk: Desk) -> None:
    code, said = setup(desk, "claude-desktop", "--url", URL, "--yes")

    assert (code, desk.files()) == (1, {})
    assert "Claude Desktop cannot name a server on HTTP" in said


@pytest.mark.parametrize("url", ["8000", "ftp://x/mcp", "http://", "http://ann:secret@x/mcp", "http://x:0/mcp"])
def test_what_is_no_address_is_misuse_and_no_password_is_repeated(desk: Desk, url: str) -> None:
    for command in ("setup", "doctor"):
        done = typed(command, "--url", url, cwd=desk.project, env=desk.environment())

        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert "secret" not in done.stderr


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("served")
    (root / "test_fine.py").write_text("def test_fine(): pass\n", encoding="utf-8")
    (root / "token").write_text(TOKEN, encoding="utf-8")
    with serving(root, python_of(NEWEST), f"--token-file={root / 'token'}") as found:
        yield found


def doctor(folder: Path, *arguments: str, **more: str) -> tuple[int, str]:
    done = typed("doctor", *arguments, cwd=folder, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **more})
    assert TOKEN not in done.stdout + done.stderr
    return done.returncode, done.stdout


def test_doctor_examines_a_server_on_http_from_anywhere(address: str, tmp_path: Path) -> None:
    code, said = doctor(tmp_path, "--url", address, PYTEST_MCP_TOKEN=TOKEN)

    assert code == 0
    assert said.splitlines()[-1].startswith("Ready: 1 test")


@pytest.mark.parametrize(
    ("change", "variable", "step"),
    [
        ("", "another-token-0123456789", "PYTEST_MCP_TOKEN"),
        ("x", TOKEN, "/mcp"),
    ],
)
def test_doctor_says_what_to_do_if_the_server_refuses(
    address: str, tmp_path: Path, change: str, variable: str, step: str
) -> None:
    code, said = doctor(tmp_path, "--url", address + change, PYTEST_MCP_TOKEN=variable)

    assert code == 1
    assert step in said.splitlines()[-1]


def test_doctor_says_what_to_do_if_nobody_answers(tmp_path: Path) -> None:
    code, said = doctor(tmp_path, "--url", "http://127.0.0.1:1/mcp", "--json")

    assert code == 1
    assert json.loads(said)["next_step"].startswith("Check that the server is running")
