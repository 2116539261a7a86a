"""The table of clients: the paths of their files on each system, and the content of an entry."""

import re
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import pytest

from pytest_mcp.cli.setup.client import Client, Machine
from pytest_mcp.cli.setup.editing.config_file import EDITORS
from pytest_mcp.cli.setup.entries import (
    entry,
    own_keys,
    remote_entry,
    root_arguments,
    server_name,
    token_keys,
)
from pytest_mcp.cli.setup.known_clients import CLIENTS
from pytest_mcp.config.model import DEFAULT_TIMEOUT
from tests.support.paths import ROOT

DOCS = ROOT / "docs" / "clients"
NAMED = {client.name: client for client in CLIENTS}
LINUX = Machine("linux", PurePosixPath("/home/ann"), {})
MAC = Machine("darwin", PurePosixPath("/Users/ann"), {})
WINDOWS = Machine("win32", PureWindowsPath("C:/Users/ann"), {"APPDATA": "C:\\Users\\ann\\AppData\\Roaming"})
COMMAND = ["/bin/pytest-mcp", "--root", "/p"]

SHARED = "/Library/Application Support"
USER_FILES = {
    "claude-code": ("/home/ann/.claude.json", "/Users/ann/.claude.json", "C:/Users/ann/.claude.json"),
    "claude-desktop": (
        "/home/ann/.config/Claude/claude_desktop_config.json",
        f"/Users/ann{SHARED}/Claude/claude_desktop_config.json",
        "C:/Users/ann/AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    "codex": ("/home/ann/.codex/config.toml", "/Users/ann/.codex/config.toml", "C:/Users/ann/.codex/config.toml"),
    "gemini": (
        "/home/ann/.gemini/settings.json",
        "/Users/ann/.gemini/settings.json",
        "C:/Users/ann/.gemini/settings.json",
    ),
    "cursor": ("/home/ann/.cursor/mcp.json", "/Users/ann/.cursor/mcp.json", "C:/Users/ann/.cursor/mcp.json"),
    "vscode": (
        "/home/ann/.config/Code/User/mcp.json",
        f"/Users/ann{SHARED}/Code/User/mcp.json",
        "C:/Users/ann/AppData/Roaming/Code/User/mcp.json",
    ),
    "opencode": (
        "/home/ann/.config/opencode/opencode.json",
        "/Users/ann/.config/opencode/opencode.json",
        "C:/Users/ann/.config/opencode/opencode.json",
    ),
    "zed": (
        "/home/ann/.config/zed/settings.json",
        "/Users/ann/.config/zed/settings.json",
        "C:/Users/ann/AppData/Roaming/Zed/settings.json",
    ),
    "windsurf": (
        "/home/ann/.codeium/windsurf/mcp_config.json",
        "/Users/ann/.codeium/windsurf/mcp_config.json",
        "C:/Users/ann/.codeium/windsurf/mcp_config.json",
    ),
    "copilot": (
        "/home/ann/.copilot/mcp-config.json",
        "/Users/ann/.copilot/mcp-config.json",
        "C:/Users/ann/.copilot/mcp-config.json",
    ),
    "cline": (
        "/home/ann/.cline/data/settings/cline_mcp_settings.json",
        "/Users/ann/.cline/data/settings/cline_mcp_settings.json",
        "C:/Users/ann/.cline/data/settings/cline_mcp_settings.json",
    ),
    "roo": (
        "/home/ann/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        f"/Users/ann{SHARED}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "C:/Users/ann/AppData/Roaming/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
    ),
    "junie": ("/home/ann/.junie/mcp/mcp.json", "/Users/ann/.junie/mcp/mcp.json", "C:/Users/ann/.junie/mcp/mcp.json"),
    "kiro": (
        "/home/ann/.kiro/settings/mcp.json",
        "/Users/ann/.kiro/settings/mcp.json",
        "C:/Users/ann/.kiro/settings/mcp.json",
    ),
    "amp": (
        "/home/ann/.config/amp/settings.json",
        "/Users/ann/.config/amp/settings.json",
        "C:/Users/ann/.config/amp/settings.json",
    ),
    "lmstudio": ("/home/ann/.lmstudio/mcp.json", "/Users/ann/.lmstudio/mcp.json", "C:/Users/ann/.lmstudio/mcp.json"),
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "opencode": "opencode.json",
    "zed": ".zed/settings.json",
    "roo": ".roo/mcp.json",
    "amp": ".amp/settings.json",
}
ENTRIES: dict[str, dict[str, Any]] = {
    "claude-code": {"type": "stdio", "command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "claude-desktop": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "codex": {
        "command": "/bin/pytest-mcp",
        "args": ["--root", "/p"],
        "startup_timeout_sec": 60,
        "tool_timeout_sec": 300,
    },
    "gemini": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"], "timeout": 600_000},
    "cursor": {"type": "stdio", "command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "vscode": {"type": "stdio", "command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "opencode": {"type": "local", "command": ["/bin/pytest-mcp", "--root", "/p"], "timeout": 300_000},
    "zed": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"], "timeout": 300},
    "windsurf": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "copilot": {"type": "local", "tools": ["*"], "command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "cline": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"], "timeout": 300},
    "roo": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"], "timeout": 300},
    "junie": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "kiro": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "amp": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
    "lmstudio": {"command": "/bin/pytest-mcp", "args": ["--root", "/p"]},
}
URL = "http://127.0.0.1:8000/mcp"
SECRET = "the-token-itself"
# The entry for a server on HTTP with a token, without timeouts.
REMOTE_ENTRIES: dict[str, dict[str, Any]] = {
    "claude-code": {"type": "http", "url": URL, "headers": {"Authorization": "Bearer ${PYTEST_MCP_TOKEN}"}},
    "codex": {"url": URL, "bearer_token_env_var": "PYTEST_MCP_TOKEN"},
    "gemini": {"httpUrl": URL, "headers": {"Authorization": "Bearer ${PYTEST_MCP_TOKEN}"}},
    "cursor": {"url": URL, "headers": {"Authorization": "Bearer ${env:PYTEST_MCP_TOKEN}"}},
    "vscode": {"type": "http", "url": URL, "headers": {"Authorization": "Bearer ${env:PYTEST_MCP_TOKEN}"}},
    "opencode": {"type": "remote", "url": URL, "headers": {"Authorization": "Bearer {env:PYTEST_MCP_TOKEN}"}},
    "zed": {"url": URL, "headers": {"Authorization": f"Bearer {SECRET}"}},
    "windsurf": {"serverUrl": URL, "headers": {"Authorization": "Bearer ${env:PYTEST_MCP_TOKEN}"}},
    "copilot": {"type": "http", "tools": ["*"], "url": URL, "headers": {"Authorization": f"Bearer {SECRET}"}},
    "cline": {"type": "streamableHttp", "url": URL, "headers": {"Authorization": f"Bearer {SECRET}"}},
    "roo": {"type": "streamable-http", "url": URL, "headers": {"Authorization": f"Bearer {SECRET}"}},
    "kiro": {"url": URL, "headers": {"Authorization": "Bearer ${PYTEST_MCP_TOKEN}"}},
    "amp": {"url": URL, "headers": {"Authorization": "Bearer ${PYTEST_MCP_TOKEN}"}},
    "lmstudio": {"url": URL, "headers": {"Authorization": f"Bearer {SECRET}"}},
}
every_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)


@every_client
def test_the_users_file_is_where_the_client_looks_on_each_system(client: Client) -> None:
    linux, mac, windows = USER_FILES[client.name]

    assert client.user(LINUX)[-1] == PurePosixPath(linux)
    assert client.user(MAC)[-1] == PurePosixPath(mac)
    assert client.user(WINDOWS)[-1] == PureWindowsPath(windows)


@every_client
def test_the_projects_file_is_where_the_client_looks(client: Client) -> None:
    assert client.project[-1:] == tuple(PROJECT_FILES[name] for name in [client.name] if name in PROJECT_FILES)


@every_client
def test_every_file_has_a_format_that_can_be_changed(client: Client) -> None:
    paths = [*client.user(LINUX), *map(PurePath, client.project)]

    assert {path.suffix for path in paths} <= set(EDITORS)


@every_client
def test_an_entry_has_the_clients_own_shape(client: Client) -> None:
    assert entry(client, COMMAND, limit=DEFAULT_TIMEOUT) == ENTRIES[client.name]


@every_client
def test_an_entry_for_a_server_on_http_has_the_clients_own_shape(client: Client) -> None:
    assert (client.remote is not None) == (client.name in REMOTE_ENTRIES)
    if client.remote is not None:
        token = token_keys(client.remote, SECRET, {})
        found = remote_entry(client, URL, token, limit=DEFAULT_TIMEOUT)
        timeouts = {timeout.key for timeout in client.timeouts}

        assert {key: value for key, value in found.items() if key not in timeouts} == REMOTE_ENTRIES[client.name]
        assert timeouts <= found.keys()


@pytest.mark.parametrize(
    ("variable", "value", "name", "path"),
    [
        ("CODEX_HOME", "/data/codex", "codex", "/data/codex/config.toml"),
        ("CLAUDE_CONFIG_DIR", "/data/claude", "claude-code", "/data/claude/.claude.json"),
        ("XDG_CONFIG_HOME", "/data/config", "zed", "/data/config/zed/settings.json"),
        ("XDG_CONFIG_HOME", "/data/config", "opencode", "/data/config/opencode/opencode.json"),
        ("XDG_CONFIG_HOME", "", "zed", "/home/ann/.config/zed/settings.json"),
    ],
)
def test_a_variable_can_move_a_users_file(variable: str, value: str, name: str, path: str) -> None:
    machine = LINUX._replace(environment={variable: value})

    assert NAMED[name].user(machine)[-1] == PurePosixPath(path)


def test_a_client_waits_longer_than_the_server_however_long_that_is() -> None:
    long = {name: entry(NAMED[name], COMMAND, limit=1200) for name in ("codex", "gemini", "opencode", "zed")}

    assert long["codex"]["tool_timeout_sec"] == 1260
    assert long["codex"]["startup_timeout_sec"] == 60
    assert long["gemini"]["timeout"] == long["opencode"]["timeout"] == 1_260_000
    assert long["zed"]["timeout"] == 1260


def test_a_client_whose_patience_cannot_be_set_gets_a_server_with_less() -> None:
    assert NAMED["claude-desktop"].arguments == ("--timeout=220",)
    assert DEFAULT_TIMEOUT >= 220


def test_a_project_is_named_by_the_clients_word_by_its_path_or_not_at_all() -> None:
    root = PurePosixPath("/p")

    assert root_arguments(NAMED["cursor"], "project", root) == ["--root", "${workspaceFolder}"]
    assert root_arguments(NAMED["cursor"], "user", root) == ["--root", "/p"]
    assert root_arguments(NAMED["windsurf"], "user", root) == ["--root", "/p"]
    assert root_arguments(NAMED["codex"], "project", root) == []
    assert root_arguments(NAMED["codex"], "user", root) == []


def test_one_name_serves_every_project_where_the_client_starts_servers_in_the_project() -> None:
    assert server_name(NAMED["codex"], "user", PurePosixPath("/p"), {}) == "pytest"
    assert server_name(NAMED["cursor"], "project", PurePosixPath("/p"), {}) == "pytest"


def test_projects_that_share_a_file_have_names_of_their_own() -> None:
    shop, other = PurePosixPath("/a/shop"), PurePosixPath("/b/shop")
    windsurf = NAMED["windsurf"]

    first = server_name(windsurf, "user", shop, {})
    taken = {first: entry(windsurf, ["pytest-mcp", *root_arguments(windsurf, "user", shop)], limit=1)}
    second = server_name(windsurf, "user", other, taken)
    taken[second] = entry(windsurf, ["pytest-mcp", *root_arguments(windsurf, "user", other)], limit=1)

    assert (first, second) == ("pytest-shop", "pytest-shop-2")
    assert server_name(windsurf, "user", shop, taken) == first
    assert server_name(windsurf, "user", other, taken) == second
    assert server_name(windsurf, "user", other, {second: taken[second]}) == second


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my shop (2)", "pytest-my-shop-2"),
        ("проект", "pytest-project"),
        ("a" * 99, "pytest-" + "a" * 24),
        ("a.b_c", "pytest-a-b_c"),
    ],
)
def test_a_name_has_only_letters_that_every_client_takes(folder: str, name: str) -> None:
    found = server_name(NAMED["windsurf"], "user", PurePosixPath("/") / folder, {"other": None, "pytest": 1})

    assert found == name
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}", found)


def test_a_server_of_somebody_else_for_the_same_project_keeps_its_name() -> None:
    root = PurePosixPath("/a/shop")
    other = {"command": "my-pytest-mcp-wrapper", "args": ["--root", "/a/shop"]}

    assert server_name(NAMED["windsurf"], "user", root, {"pytest-shop": other}) == "pytest-shop-2"


@every_client
def test_every_member_that_is_written_is_known_to_be_ours(client: Client) -> None:
    assert own_keys(client) >= set(entry(client, COMMAND, limit=DEFAULT_TIMEOUT))
    assert "env" not in own_keys(client)


@every_client
def test_every_client_has_its_page_with_its_files_and_its_command(client: Client) -> None:
    page = (DOCS / f"{client.name}.md").read_text(encoding="utf-8")
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    home = USER_FILES[client.name][0].replace("/home/ann", "~")

    assert home in page
    assert PROJECT_FILES.get(client.name, "") in page
    assert f"pytest-mcp setup {client.name}" in page
    assert f"pytest-mcp setup --remove {client.name}" in page
    assert f"[{client.title}]({client.name}.md)" in index
    assert len(page.splitlines()) < 40
