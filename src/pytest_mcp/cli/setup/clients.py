"""The clients that `pytest-mcp setup` knows: one row for each, with its files and what an entry in them needs.

In come a row, a machine and a project; out come paths, names and entries. Pure: nothing here looks whether a
path exists. How a file is changed is decided in `config_file`, how the server is started in `own_command`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from pytest_mcp.cli.setup.ownership import is_ours

# A client waits this much longer than the server, which then has told what it knows.
MARGIN = 60
# Where a client's own patience can be set at all, it is at least this, in seconds.
PATIENCE = 300
# Some clients allow sixty characters for the names of server and tool together.
LONGEST_PROJECT_NAME = 24

Level = Literal["project", "user"]


class Machine(NamedTuple):
    """What the place of a file depends on."""

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
        """Where programs with a window keep their settings."""
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.home / "Library" / "Application Support" if self.platform == "darwin" else self.config

    @property
    def own_config(self) -> PurePath:
        """Where the editors keep them that use `~/.config` on a Mac, too."""
        return self.applications if self.platform == "win32" else self.config


class Patience(NamedTuple):
    """A member that says how long the client waits. For a call, that grows with the server's own limit."""

    key: str
    per_second: int = 1
    least: int = PATIENCE
    for_a_call: bool = True


@dataclass(frozen=True, eq=False)
class Client:
    name: str
    title: str
    # The user's own file. Of several, the first one that is there counts, and the last one when there is none.
    user: Callable[[Machine], tuple[PurePath, ...]]
    # A folder that is there when the client is.
    home: Callable[[Machine], PurePath]
    # The table of servers in those files.
    servers: str
    # What to know or to do after the file was written.
    then: str
    programs: tuple[str, ...] = ()
    # The file in a project, by the same rule; and what else in a project shows that the client is used there.
    project: tuple[str, ...] = ()
    # What to know or to do first where it is the project's file.
    in_project: str = ""
    marks: tuple[str, ...] = ()
    # What the client itself would write into a new file.
    skeleton: str = ""
    # Members that every entry has.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # Command and arguments in one list.
    one_list: bool = False
    patience: tuple[Patience, ...] = ()
    # The client's own word for the project's folder, where it starts servers elsewhere.
    workspace: str | None = None
    # The user's file cannot say "the project that is open", so an entry there is for one project.
    tied: bool = False
    # What the server is told because of this client.
    arguments: tuple[str, ...] = ()


CLIENTS = (
    Client(
        name="claude-code",
        title="Claude Code",
        user=lambda machine: (machine.folder("CLAUDE_CONFIG_DIR") / ".claude.json",),
        home=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude"),
        servers="mcpServers",
        then="Claude Code asks before it calls a tool, until you allow it.",
        programs=("claude",),
        project=(".mcp.json",),
        in_project="Start `claude` in the project: it asks once whether this server may run.",
        marks=(".claude",),
        fixed={"type": "stdio"},
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        user=lambda machine: (machine.applications / "Claude" / "claude_desktop_config.json",),
        home=lambda machine: machine.applications / "Claude",
        servers="mcpServers",
        then="Quit Claude Desktop and start it again.",
        tied=True,
        # It gives up after four minutes, and that cannot be changed.
        arguments=("--timeout=220",),
    ),
    Client(
        name="codex",
        title="Codex",
        user=lambda machine: (machine.folder("CODEX_HOME", ".codex") / "config.toml",),
        home=lambda machine: machine.folder("CODEX_HOME", ".codex"),
        servers="mcp_servers",
        then="Codex asks before it calls `execute_tests`, until you allow it.",
        programs=("codex",),
        project=(".codex/config.toml",),
        in_project="Codex reads this file only if you trust the project: start `codex` there once.",
        marks=(".codex",),
        patience=(Patience("startup_timeout_sec", least=60, for_a_call=False), Patience("tool_timeout_sec")),
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        user=lambda machine: (machine.home / ".gemini" / "settings.json",),
        home=lambda machine: machine.home / ".gemini",
        servers="mcpServers",
        then="Gemini CLI starts servers in trusted folders only: start `gemini` there once."
        " It asks before it calls a tool, until you allow it.",
        programs=("gemini",),
        project=(".gemini/settings.json",),
        marks=(".gemini",),
        # Ten minutes are what it waits anyway.
        patience=(Patience("timeout", 1000, least=600),),
    ),
    Client(
        name="cursor",
        title="Cursor",
        user=lambda machine: (machine.home / ".cursor" / "mcp.json",),
        home=lambda machine: machine.home / ".cursor",
        servers="mcpServers",
        then="Switch the server on in Cursor's settings, under MCP.",
        programs=("cursor", "cursor-agent"),
        project=(".cursor/mcp.json",),
        marks=(".cursor",),
        fixed={"type": "stdio"},
        workspace="${workspaceFolder}",
        tied=True,
    ),
    Client(
        name="vscode",
        title="VS Code",
        user=lambda machine: (machine.applications / "Code" / "User" / "mcp.json",),
        home=lambda machine: machine.applications / "Code",
        servers="servers",
        then="Start it with the command MCP: List Servers, and trust it when asked.",
        programs=("code",),
        project=(".vscode/mcp.json",),
        marks=(".vscode",),
        fixed={"type": "stdio"},
        workspace="${workspaceFolder}",
        tied=True,
    ),
    Client(
        name="opencode",
        title="opencode",
        user=lambda machine: tuple(machine.config / "opencode" / f"opencode.{ending}" for ending in ("jsonc", "json")),
        home=lambda machine: machine.config / "opencode",
        servers="mcp",
        then="Start opencode again. It calls the tools without asking.",
        programs=("opencode",),
        project=("opencode.jsonc", "opencode.json"),
        marks=(".opencode",),
        skeleton='{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
        fixed={"type": "local"},
        one_list=True,
        patience=(Patience("timeout", 1000),),
    ),
    Client(
        name="zed",
        title="Zed",
        user=lambda machine: (machine.own_config / _cased(machine, "Zed") / "settings.json",),
        home=lambda machine: machine.own_config / _cased(machine, "Zed"),
        servers="context_servers",
        then="Zed needs no restart.",
        programs=("zed", "zeditor"),
        project=(".zed/settings.json",),
        in_project="Zed reads this file only if you trust the project.",
        marks=(".zed",),
        patience=(Patience("timeout"),),
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        user=lambda machine: (
            machine.own_config / "devin" / "mcp_config.json",
            machine.home / ".codeium" / "windsurf" / "mcp_config.json",
        ),
        home=lambda machine: machine.home / ".codeium" / "windsurf",
        servers="mcpServers",
        then="Press refresh in the list of MCP servers.",
        programs=("windsurf", "devin-desktop"),
        marks=(".windsurf",),
        tied=True,
    ),
)


def entry(client: Client, command: Sequence[str], *, limit: int) -> dict[str, Any]:
    """What the client's file says of the server; `limit` is the server's own for a call, in seconds."""
    program, *arguments = command
    words = {"command": list(command)} if client.one_list else {"command": program, "args": arguments}
    waits = {
        wait.key: wait.per_second * max(wait.least, limit + MARGIN if wait.for_a_call else 0)
        for wait in client.patience
    }
    return {**client.fixed, **words, **waits}


def members(client: Client) -> frozenset[str]:
    """The members of an entry that are written here; any other one is somebody else's."""
    return frozenset({*client.fixed, "command", "args", *(wait.key for wait in client.patience)})


def root_arguments(client: Client, level: Level, root: PurePath | None) -> list[str]:
    """Which project the server is for, where the client does not start it there."""
    if level == "user":
        return ["--root", str(root)] if client.tied else []
    return ["--root", client.workspace] if client.workspace else []


def server_name(client: Client, level: Level, root: PurePath | None, taken: Mapping[str, Any]) -> str:
    """The name of the entry: one of its own for each project where entries of several share a file."""
    if level == "project" or not client.tied or root is None:
        return "pytest"
    word = re.sub(r"[^A-Za-z0-9_]+", "-", root.name).strip("-")[:LONGEST_PROJECT_NAME]
    first = f"pytest-{word or 'project'}"
    known = [
        name for name in taken if name.startswith("pytest") and is_ours(taken[name]) and _serves(taken[name], root)
    ]
    names = (first if number == 1 else f"{first}-{number}" for number in count(1))
    return known[0] if known else next(name for name in names if name not in taken)


def _serves(known: Any, root: PurePath) -> bool:
    arguments = known.get("args") if isinstance(known, Mapping) else None
    return isinstance(arguments, list) and ["--root", str(root)] in [
        arguments[i : i + 2] for i in range(len(arguments))
    ]


def _cased(machine: Machine, name: str) -> str:
    return name if machine.platform == "win32" else name.lower()
