"""The table of clients: the paths of their files on each system, and the content of an entry."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from pytest_mcp.cli.setup.clients import CLIENTS, Client
from pytest_mcp.cli.setup.entries import entry, server_name
from pytest_mcp.cli.setup.plan import Machine
from tests.support.commands.plans import MACHINE, plan

NAMED = {client.name: client for client in CLIENTS}
LINUX = Machine("linux", PurePosixPath("/home/ann"), {})
MAC = Machine("darwin", PurePosixPath("/Users/ann"), {})
SHOP = Path("/p/shop")
# From the home folder. On Linux they are in a table of docs/clients.md, as the entries are.
ON_MACOS = {
    "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
    "vscode": "Library/Application Support/Code/User/mcp.json",
    "roo": "Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
}
URL = "http://127.0.0.1:8000/mcp"
SECRET = "the-token-itself"
# The entry for a server on HTTP with a token, without timeouts: one of each shape.
REMOTE_ENTRIES: dict[str, dict[str, Any]] = {
    "claude-code": {"type": "http", "url": URL, "headers": {"Authorization": "Bearer ${PYTEST_MCP_TOKEN}"}},
    "codex": {"url": URL, "bearer_token_env_var": "PYTEST_MCP_TOKEN"},
    "gemini": {"httpUrl": URL, "headers": {"Authorization": "Bearer ${PYTEST_MCP_TOKEN}"}},
    "opencode": {"type": "remote", "url": URL, "headers": {"Authorization": "Bearer {env:PYTEST_MCP_TOKEN}"}},
    "zed": {"url": URL, "headers": {"Authorization": f"Bearer {SECRET}"}},
}
every_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)


@every_client
def test_a_users_file_is_where_it_is_on_linux_unless_macos_has_its_own_place(client: Client) -> None:
    own = LINUX.path(client.user[-1]).relative_to(LINUX.home)

    assert MAC.path(client.user[-1]) == MAC.home / ON_MACOS.get(client.name, own)
    assert {Path(name).suffix for name in (*client.user, *client.project)} <= {".json", ".jsonc", ".toml"}


@pytest.mark.parametrize("name", REMOTE_ENTRIES)
def test_an_entry_for_a_server_on_http_has_the_clients_own_shape(name: str) -> None:
    machine = MACHINE._replace(environment={"PYTEST_MCP_TOKEN": SECRET})

    made = entry(NAMED[name], plan(SHOP, user=True, url=URL, machine=machine), {})

    timeouts = {timeout.key for timeout in NAMED[name].timeouts}
    assert {key: value for key, value in made.items() if key not in timeouts} == REMOTE_ENTRIES[name]
    assert timeouts <= made.keys()


@pytest.mark.parametrize(
    ("variable", "value", "name", "path"),
    [
        ("CODEX_HOME", "/data/codex", "codex", "/data/codex/config.toml"),
        ("CLAUDE_CONFIG_DIR", "/data/claude", "claude-code", "/data/claude/.claude.json"),
        ("XDG_CONFIG_HOME", "", "zed", "/home/ann/.config/zed/settings.json"),
    ],
)
def test_a_variable_can_move_a_users_file(variable: str, value: str, name: str, path: str) -> None:
    machine = LINUX._replace(environment={variable: value})

    assert machine.path(NAMED[name].user[-1]) == PurePosixPath(path)


def test_a_client_waits_longer_than_the_server_however_long_that_is() -> None:
    long = {name: entry(NAMED[name], plan(SHOP, limit=1200), {}) for name in ("codex", "gemini", "opencode", "zed")}

    assert (long["codex"]["tool_timeout_sec"], long["codex"]["startup_timeout_sec"]) == (1260, 60)
    assert long["gemini"]["timeout"] == long["opencode"]["timeout"] == 1_260_000
    assert long["zed"]["timeout"] == 1260


def test_a_longer_timeout_of_the_client_stays() -> None:
    old = {"command": "pytest-mcp", "tool_timeout_sec": 5000.5, "startup_timeout_sec": 5}

    made = entry(NAMED["codex"], plan(SHOP), old)

    assert (made["tool_timeout_sec"], made["startup_timeout_sec"]) == (5000.5, 60)


def test_projects_that_share_a_file_have_names_of_their_own() -> None:
    first, second = plan(Path("/a/shop")), plan(Path("/b/shop"))
    windsurf, taken = NAMED["windsurf"], dict[str, Any]()
    wrapper = {"command": "my-pytest-mcp-wrapper", "args": ["--root", "/a/shop"]}

    for each in (first, second):
        taken[server_name(windsurf, each, taken)] = entry(windsurf, each, {})

    assert list(taken) == ["pytest-shop", "pytest-shop-2"]
    assert server_name(windsurf, second, taken) == "pytest-shop-2"
    assert server_name(windsurf, first, {"pytest-shop": wrapper}) == "pytest-shop-2"
    assert server_name(NAMED["codex"], first, {}) == server_name(NAMED["cursor"], first, {}) == "pytest"


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my shop (2)", "pytest-my-shop-2"),
        ("проект", "pytest-project"),
        ("a" * 99, "pytest-" + "a" * 24),
    ],
)
def test_a_name_has_only_letters_that_every_client_takes(folder: str, name: str) -> None:
    found = server_name(NAMED["windsurf"], plan(Path("/") / folder), {"other": None, "pytest": 1})

    assert found == name
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}", found)
