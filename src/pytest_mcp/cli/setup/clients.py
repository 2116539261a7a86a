"""The MCP clients that `pytest-mcp setup` knows: one row for each, with its files and what an entry in them needs.

In come a client, a machine and a project; out come paths, names and entries. Pure: nothing here checks whether a path
exists. How a file is changed is decided in `config_file`, how the server is started in `own_command`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from pytest_mcp.cli.setup.ownership import is_ours

# A client's timeout for a call is this much longer than the server's, so that the server's answer still arrives.
TIMEOUT_MARGIN = 60
# The shortest timeout that is written, in seconds.
SHORTEST_TIMEOUT = 300
# Some clients allow sixty characters for the names of server and tool together.
LONGEST_PROJECT_NAME = 24

Level = Literal["project", "user"]


class Machine(NamedTuple):
    """What the path of a settings file depends on."""

    platform: str
    home: PurePath
    environment: Mapping[str, str]

    def folder(self, variable: str, *default: str) -> PurePath:
        value = self.home / self.environment.get(variable, "")
        return self.home.joinpath(*default) if value == self.home else value

    @property
    def config(self) -> PurePath:
        return self.folder("XDG_CONFIG_HOME", ".config")

    @property
    def applications(self) -> PurePath:
        """Where GUI programs keep their settings."""
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.home / "Library" / "Application Support" if self.platform == "darwin" else self.config

    @property
    def editor_config(self) -> PurePath:
        """The same for editors that use `~/.config` on macOS too."""
        return self.applications if self.platform == "win32" else self.config


class Timeout(NamedTuple):
    """A key of an entry that sets a timeout of the client. One for calls grows with the server's own time limit."""

    key: str
    per_second: int = 1
    least: int = SHORTEST_TIMEOUT
    for_calls: bool = True


@dataclass(frozen=True, eq=False)
class Client:
    name: str
    title: str
    # The user's own file. Of several, the first that exists is used, or the last if none exists.
    user: Callable[[Machine], tuple[PurePath, ...]]
    # A folder that exists if the client is installed.
    home: Callable[[Machine], PurePath]
    # The key of the servers in those files.
    servers: str
    # What the user must know or do after the file was written.
    next_step: str
    programs: tuple[str, ...] = ()
    # The file in a project, chosen in the same way.
    project: tuple[str, ...] = ()
    # What the user must know or do first, if it is the project's file.
    project_step: str = ""
    # Further files and folders in a project that show that the client is used there.
    project_signs: tuple[str, ...] = ()
    # What the client itself would write into a new file.
    skeleton: str = ""
    # Keys that every entry has.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # Whether `command` is a list that includes the arguments.
    one_list: bool = False
    timeouts: tuple[Timeout, ...] = ()
    # The client's variable for the project's folder, if it starts servers in another folder.
    workspace: str | None = None
    # Whether an entry in the user's file is for one project, because the client has no variable for the open project.
    one_project: bool = False
    # Further arguments for the server.
    arguments: tuple[str, ...] = ()


CLIENTS = (
    Client(
        name="claude-code",
        title="Claude Code",
        user=lambda machine: (machine.folder("CLAUDE_CONFIG_DIR") / ".claude.json",),
        home=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude"),
        servers="mcpServers",
        next_step="Claude Code asks before it calls a tool, until you allow it.",
        programs=("claude",),
        project=(".mcp.json",),
        project_step="Start `claude` in the project: it asks once whether this server may run.",
        project_signs=(".claude",),
        fixed={"type": "stdio"},
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        user=lambda machine: (machine.applications / "Claude" / "claude_desktop_config.json",),
        home=lambda machine: machine.applications / "Claude",
        servers="mcpServers",
        next_step="Quit Claude Desktop and start it again.",
        one_project=True,
        # Its timeout is four minutes and cannot be changed.
        arguments=("--timeout=220",),
    ),
    Client(
        name="codex",
        title="Codex",
        user=lambda machine: (machine.folder("CODEX_HOME", ".codex") / "config.toml",),
        home=lambda machine: machine.folder("CODEX_HOME", ".codex"),
        servers="mcp_servers",
        next_step="Codex asks before it calls `execute_tests`, until you allow it.",
        programs=("codex",),
        project=(".codex/config.toml",),
        project_step="Codex reads this file only if you trust the project: start `codex` there once.",
        project_signs=(".codex",),
        timeouts=(Timeout("startup_timeout_sec", least=60, for_calls=False), Timeout("tool_timeout_sec")),
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        user=lambda machine: (machine.home / ".gemini" / "settings.json",),
        home=lambda machine: machine.home / ".gemini",
        servers="mcpServers",
        next_step="Gemini CLI starts servers in trusted folders only: start `gemini` there once."
        " It asks before it calls a tool, until you allow it.",
        programs=("gemini",),
        project=(".gemini/settings.json",),
        project_signs=(".gemini",),
        # Its default is ten minutes.
        timeouts=(Timeout("timeout", 1000, least=600),),
    ),
    Client(
        name="cursor",
        title="Cursor",
        user=lambda machine: (machine.home / ".cursor" / "mcp.json",),
        home=lambda machine: machine.home / ".cursor",
        servers="mcpServers",
        next_step="Switch the server on in Cursor's settings, under MCP.",
        programs=("cursor", "cursor-agent"),
        project=(".cursor/mcp.json",),
        project_signs=(".cursor",),
        fixed={"type": "stdio"},
        workspace="${workspaceFolder}",
        one_project=True,
    ),
    Client(
        name="vscode",
        title="VS Code",
        user=lambda machine: (machine.applications / "Code" / "User" / "mcp.json",),
        home=lambda machine: machine.applications / "Code",
        servers="servers",
        next_step="Start it with the command MCP: List Servers, and trust it when asked.",
        programs=("code",),
        project=(".vscode/mcp.json",),
        project_signs=(".vscode",),
        fixed={"type": "stdio"},
        workspace="${workspaceFolder}",
        one_project=True,
    ),
    Client(
        name="opencode",
        title="opencode",
        user=lambda machine: tuple(machine.config / "opencode" / f"opencode.{ending}" for ending in ("jsonc", "json")),
        home=lambda machine: machine.config / "opencode",
        servers="mcp",
        next_step="Start opencode again. It calls the tools without asking.",
        programs=("opencode",),
        project=("opencode.jsonc", "opencode.json"),
        project_signs=(".opencode",),
        skeleton='{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
        fixed={"type": "local"},
        one_list=True,
        timeouts=(Timeout("timeout", 1000),),
    ),
    Client(
        name="zed",
        title="Zed",
        user=lambda machine: (machine.editor_config / _cased(machine, "Zed") / "settings.json",),
        home=lambda machine: machine.editor_config / _cased(machine, "Zed"),
        servers="context_servers",
        next_step="Zed needs no restart.",
        programs=("zed", "zeditor"),
        project=(".zed/settings.json",),
        project_step="Zed reads this file only if you trust the project.",
        project_signs=(".zed",),
        timeouts=(Timeout("timeout"),),
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        user=lambda machine: (
            machine.editor_config / "devin" / "mcp_config.json",
            machine.home / ".codeium" / "windsurf" / "mcp_config.json",
        ),
        home=lambda machine: machine.home / ".codeium" / "windsurf",
        servers="mcpServers",
        next_step="Press refresh in the list of MCP servers.",
        programs=("windsurf", "devin-desktop"),
        project_signs=(".windsurf",),
        one_project=True,
    ),
)


def entry(client: Client, command: Sequence[str], *, limit: int) -> dict[str, Any]:
    """The entry of the server in the client's file; `limit` is the server's time limit for a call, in seconds."""
    program, *arguments = command
    start = {"command": list(command)} if client.one_list else {"command": program, "args": arguments}
    timeouts = {
        timeout.key: timeout.per_second * max(timeout.least, limit + TIMEOUT_MARGIN if timeout.for_calls else 0)
        for timeout in client.timeouts
    }
    return {**client.fixed, **start, **timeouts}


def own_keys(client: Client) -> frozenset[str]:
    """The keys of an entry that we write; any other key was added by somebody else."""
    return frozenset({*client.fixed, "command", "args", *(timeout.key for timeout in client.timeouts)})


def root_arguments(client: Client, level: Level, root: PurePath | None) -> list[str]:
    """The --root argument, if the client does not start the server in the project."""
    if level == "user":
        return ["--root", str(root)] if client.one_project else []
    return ["--root", client.workspace] if client.workspace else []


def server_name(client: Client, level: Level, root: PurePath | None, taken: Mapping[str, Any]) -> str:
    """The name of the entry. If the entries of several projects share a file, each project has its own name."""
    if level == "project" or not client.one_project or root is None:
        return "pytest"
    word = re.sub(r"[^A-Za-z0-9_]+", "-", root.name).strip("-")[:LONGEST_PROJECT_NAME]
    first = f"pytest-{word or 'project'}"
    known = [
        name for name in taken if name.startswith("pytest") and is_ours(taken[name]) and _serves(taken[name], root)
    ]
    names = (first if number == 1 else f"{first}-{number}" for number in count(1))
    return known[0] if known else next(name for name in names if name not in taken)


def _serves(entry: Mapping[str, Any], root: PurePath) -> bool:
    arguments = entry.get("args", [])
    return ["--root", str(root)] in [arguments[index : index + 2] for index in range(len(arguments))]


def _cased(machine: Machine, name: str) -> str:
    return name if machine.platform == "win32" else name.lower()
