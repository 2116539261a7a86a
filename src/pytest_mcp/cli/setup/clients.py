"""The MCP clients that `pytest-mcp setup` knows: one row for each, with its files and what an entry in them needs.

Pure: nothing here checks whether a path exists. The fields are explained in `client`. How a file is changed is decided
in `config_file`, how the server is started in `own_command`.
"""

from pytest_mcp.cli.setup.client import Client, Machine, Timeout

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


def _cased(machine: Machine, name: str) -> str:
    return name if machine.platform == "win32" else name.lower()
