"""The MCP clients that `pytest-mcp setup` knows: one row for each, with its files and what an entry in them needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# The tools that a client may be told to call without asking.
TOOL_NAMES = (
    "discover_tests",
    "execute_tests",
    "explain_environment",
    "investigate_failure",
    "check_change",
    "test_history",
)

Level = Literal["project", "user"]


class Timeout(NamedTuple):
    """A key of an entry that sets a timeout of the client. One for calls grows with the server's own time limit."""

    key: str
    per_second: int = 1
    # The shortest that is written, in seconds.
    least: int = 300
    for_calls: bool = True


class Remote(NamedTuple):
    """How an entry names a server on HTTP."""

    # The client's syntax for the value of an environment variable. Without one, the file must contain the token itself.
    variable: str | None
    # The key of the address.
    url: str = "url"
    # Keys that every such entry has.
    fixed: Mapping[str, Any] = {}
    # A key for the name of the variable with the token; otherwise it is in a header.
    variable_key: str | None = None


@dataclass(frozen=True, eq=False)
class Client:
    name: str
    title: str
    # The user's own file; its first word is a key of `plan.Machine`. Of several, the first that exists is used, or the
    # last if none exists.
    user: tuple[str, ...]
    # The file in a project, chosen in the same way.
    project: tuple[str, ...] = ()
    # The key of the servers in those files.
    servers: str = "mcpServers"
    # What shows that it is installed, besides a program of its name: a folder other than that of the user's file, other
    # programs, a folder in projects.
    home: str | None = None
    programs: tuple[str, ...] = ()
    sign: str = ""
    # Its own commands for the user's settings. Words in capitals are replaced, ARGS by any number of words.
    add: str = ""
    remove: str = ""
    # What the user must know or do after the file was written, and first if it is the project's file.
    next_step: str = ""
    project_step: str = ""
    # What it asks for before it calls it, unless it is allowed.
    asks: str = ""
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
    # Its entries for servers on HTTP; None if its file cannot have any.
    remote: Remote | None = None
    # The file with instructions for agents that it reads in a project; None if it reads none.
    instructions: str | None = "AGENTS.md"
    # Keys of an entry with which it calls the tools without asking.
    approval: Mapping[str, Any] = field(default_factory=dict)
    # The key of an entry with which it starts the server in a sandbox of its own.
    sandbox_key: str | None = None
    # Its files with permission rules and hooks as Claude Code has them: in a project, and the user's own.
    rules: Mapping[Level, str] = field(default_factory=dict)


CLIENTS = (
    Client("claude-code", "Claude Code", user=("claude-state/.claude.json",), project=(".mcp.json",), home="claude",
        programs=("claude",), sign=".claude", fixed={"type": "stdio"}, asks="a tool",
        add="claude mcp add-json --scope user NAME ENTRY", remove="claude mcp remove --scope user NAME",
        project_step="Start `claude` in the project: it asks once whether this server may run.",
        remote=Remote("${PYTEST_MCP_TOKEN}", fixed={"type": "http"}), instructions="CLAUDE.md",
        rules={"project": ".claude/settings.json", "user": "claude/settings.json"}),
    # Its timeout is four minutes and cannot be changed.
    Client("claude-desktop", "Claude Desktop", user=("applications/Claude/claude_desktop_config.json",),
        next_step="Quit Claude Desktop and start it again.", one_project=True, arguments=("--timeout=220",),
        instructions=None),
    # Not `codex mcp add`, which drops comments and keys that it does not know from entries of others.
    Client("codex", "Codex", user=("codex/config.toml",), project=(".codex/config.toml",), servers="mcp_servers",
        project_step="Codex reads this file only if you trust the project: start `codex` there once.",
        timeouts=(Timeout("startup_timeout_sec", least=60, for_calls=False), Timeout("tool_timeout_sec")),
        remote=Remote("PYTEST_MCP_TOKEN", variable_key="bearer_token_env_var"),
        asks="`execute_tests`", approval={"default_tools_approval_mode": "approve"}),
    # Its default for calls is ten minutes.
    Client("gemini", "Gemini CLI", user=("~/.gemini/settings.json",), project=(".gemini/settings.json",),
        next_step="Gemini CLI starts servers in trusted folders only: start `gemini` there once.",
        add="gemini mcp add --scope user --timeout TIMEOUT NAME PROGRAM -- ARGS",
        remove="gemini mcp remove --scope user NAME",
        timeouts=(Timeout("timeout", 1000, least=600),), remote=Remote("${PYTEST_MCP_TOKEN}", url="httpUrl"),
        instructions="GEMINI.md", asks="a tool", approval={"trust": True}),
    Client("cursor", "Cursor", user=("~/.cursor/mcp.json",), project=(".cursor/mcp.json",), programs=("cursor-agent",),
        next_step="Switch the server on in Cursor's settings, under MCP.", fixed={"type": "stdio"},
        workspace="${workspaceFolder}", one_project=True, remote=Remote("${env:PYTEST_MCP_TOKEN}")),
    Client("vscode", "VS Code", user=("applications/Code/User/mcp.json",), project=(".vscode/mcp.json",),
        servers="servers", programs=("code",), fixed={"type": "stdio"}, workspace="${workspaceFolder}",
        add="code --add-mcp NAMED_ENTRY",
        next_step="Start it with the command MCP: List Servers, and trust it when asked.", one_project=True,
        remote=Remote("${env:PYTEST_MCP_TOKEN}", fixed={"type": "http"}), sandbox_key="sandboxEnabled"),
    Client("opencode", "opencode", user=("config/opencode/opencode.jsonc", "config/opencode/opencode.json"),
        project=("opencode.jsonc", "opencode.json"), servers="mcp", sign=".opencode", fixed={"type": "local"},
        next_step="Start opencode again. It calls the tools without asking.", one_list=True,
        timeouts=(Timeout("timeout", 1000),), remote=Remote("{env:PYTEST_MCP_TOKEN}", fixed={"type": "remote"})),
    Client("zed", "Zed", user=("config/zed/settings.json",), project=(".zed/settings.json",), programs=("zeditor",),
        servers="context_servers", timeouts=(Timeout("timeout"),), remote=Remote(None),
        next_step="Zed needs no restart.", project_step="Zed reads this file only if you trust the project."),
    Client("windsurf", "Windsurf", user=("config/devin/mcp_config.json", "~/.codeium/windsurf/mcp_config.json"),
        programs=("devin-desktop",), sign=".windsurf", next_step="Press refresh in the list of MCP servers.",
        one_project=True, remote=Remote("${env:PYTEST_MCP_TOKEN}", url="serverUrl")),
    Client("copilot", "Copilot CLI", user=("copilot/mcp-config.json",), next_step="Start `copilot` again.",
        asks="a tool", fixed={"type": "local", "tools": ["*"]},
        remote=Remote(None, fixed={"type": "http", "tools": ["*"]})),
    Client("cline", "Cline", user=("extensions/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                                   "~/.cline/data/settings/cline_mcp_settings.json"),
        home="~/.cline", sign=".clinerules", timeouts=(Timeout("timeout"),), one_project=True, asks="a tool",
        remote=Remote(None, fixed={"type": "streamableHttp"}), approval={"autoApprove": list(TOOL_NAMES)}),
    Client("roo", "Roo Code", user=("extensions/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
        project=(".roo/mcp.json",), timeouts=(Timeout("timeout"),), asks="a tool",
        remote=Remote(None, fixed={"type": "streamable-http"}), approval={"alwaysAllow": list(TOOL_NAMES)}),
    Client("junie", "JetBrains Junie", user=("~/.junie/mcp/mcp.json",), home="~/.junie", sign=".junie",
        asks="a tool", one_project=True),
    Client("kiro", "Kiro", user=("~/.kiro/settings/mcp.json",), home="~/.kiro", programs=("kiro-cli",), sign=".kiro",
        one_project=True, remote=Remote("${PYTEST_MCP_TOKEN}"), asks="a tool",
        approval={"autoApprove": list(TOOL_NAMES)}),
    Client("amp", "Amp", user=("~/.config/amp/settings.jsonc", "~/.config/amp/settings.json"),
        project=(".amp/settings.jsonc", ".amp/settings.json"), servers="amp.mcpServers", next_step="Start `amp` again.",
        project_step="Amp starts servers of a project only if you approve them.", remote=Remote("${PYTEST_MCP_TOKEN}")),
    Client("lmstudio", "LM Studio", user=("~/.lmstudio/mcp.json",), asks="a tool", one_project=True,
        remote=Remote(None), instructions=None),
)  # fmt: skip

# Entries that are only printed: for goose, whose YAML is left to its user because libraries rewrite the rest of a file,
# and for every client that is not in the table.
GOOSE = Client("goose", "goose", user=("config/goose/config.yaml",), servers="extensions", one_project=True,
    timeouts=(Timeout("timeout"),),
    fixed={"type": "stdio", "description": "Runs the project's pytest tests", "enabled": True})  # fmt: skip
OTHER = Client("json", "Another client", user=("~/mcp.json",), one_project=True, remote=Remote("${PYTEST_MCP_TOKEN}"))
