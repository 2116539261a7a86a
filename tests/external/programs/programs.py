"""The agent programs: how each is configured for a stand-in model and our servers, and how it is started.

Each gets a home of its own, and is told to leave updates, telemetry and the like alone.
"""

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.npm import PACKAGES, node
from tests.external.programs.dialects import Chat, Dialect, Gemini, Messages, Responses

PROMPT = "Run the tests."
# As npm's packages of programs that are no scripts call this machine.
MACHINE = f"linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}"
# The program itself: what npm links is a script that an install script would replace.
CLAUDE_CODE = PACKAGES["claude-code"].file(f"@anthropic-ai/claude-code-{MACHINE}/claude")
KEY = "no-secret"


@dataclass(frozen=True)
class Place:
    """Where a program is run: its home, the address of its model, and the command of each MCP server."""

    home: Path
    model: str
    servers: Mapping[str, list[str]]
    # Whether it may use all tools without asking; nobody is there to be asked.
    permitted: bool

    def write(self, name: str, content: str) -> Path:
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return file


@dataclass(frozen=True)
class Start:
    command: list[str]
    variables: dict[str, str]


@dataclass(frozen=True)
class Program:
    title: str
    # In `.envs` and in npm's words.
    folder: str
    package: str
    dialect: Dialect
    start: Callable[[Place], Start]
    # Its own, for how long a call may take.
    setting: str

    @property
    def version(self) -> str:
        return PACKAGES[self.folder].version(self.package)


def claude_code(place: Place) -> Start:
    servers = {name: {"command": command[0], "args": command[1:]} for name, command in place.servers.items()}
    config = place.write("mcp.json", json.dumps({"mcpServers": servers}))
    allowed = ",".join(f"mcp__{name}" for name in place.servers)
    permission = [f"--allowedTools={allowed}"] if place.permitted else []
    return Start(
        [str(CLAUDE_CODE), "--print", PROMPT, "--strict-mcp-config", f"--mcp-config={config}", *permission],
        {
            "ANTHROPIC_BASE_URL": place.model,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        },
    )


# A model that it knows: how much of an answer it shows depends on that.
CODEX = """\
model = "gpt-5.5"
model_provider = "stand-in"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.stand-in]
name = "stand-in"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"
"""
CODEX_SERVER = """
[mcp_servers.{name}]
command = {program}
args = {arguments}
default_tools_approval_mode = "{mode}"
"""


def codex(place: Place) -> Start:
    mode = "approve" if place.permitted else "auto"
    servers = [
        CODEX_SERVER.format(name=name, program=json.dumps(command[0]), arguments=json.dumps(command[1:]), mode=mode)
        for name, command in place.servers.items()
    ]
    place.write(".codex/config.toml", CODEX.format(model=place.model) + "".join(servers))
    program = PACKAGES["codex"].file("@openai/codex/bin/codex.js")
    return Start([str(node()), str(program), "exec", "--skip-git-repo-check", PROMPT], {"STAND_IN_KEY": KEY})


def gemini_cli(place: Place) -> Start:
    settings: dict[str, Any] = {
        "mcpServers": {name: {"command": command[0], "args": command[1:]} for name, command in place.servers.items()},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    place.write(".gemini/settings.json", json.dumps(settings))
    program = PACKAGES["gemini-cli"].file("@google/gemini-cli/bundle/gemini.js")
    # With a model of its own choice it would ask another one first, which.
    mode = "yolo" if place.permitted else "default"
    options = ["--model=gemini-2.5-pro", f"--approval-mode={mode}", f"--prompt={PROMPT}"]
    return Start([str(node()), str(program), *options], {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": place.model})


def opencode(place: Place) -> Start:
    model = {"name": "stand-in", "tool_call": True, "limit": {"context": 1_000_000, "output": 8000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{place.model}/v1", "apiKey": KEY},
        "models": {"model": model},
    }
    config = {
        "model": "stand-in/model",
        "small_model": "stand-in/model",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"stand-in": provider},
        "mcp": {name: {"type": "local", "command": command} for name, command in place.servers.items()},
    }
    place.write(".config/opencode/opencode.json", json.dumps(config))
    program = PACKAGES["opencode"].file(f"opencode-{MACHINE}/bin/opencode")
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return Start([str(program), "run", PROMPT], {f"OPENCODE_DISABLE_{name}": "1" for name in off})


PROGRAMS = {
    program.folder: program
    for program in (
        Program("Claude Code", "claude-code", "@anthropic-ai/claude-code", Messages(), claude_code, "MCP_TOOL_TIMEOUT"),
        Program("Codex", "codex", "@openai/codex", Responses(), codex, "tool_timeout_sec"),
        Program("Gemini CLI", "gemini-cli", "@google/gemini-cli", Gemini(), gemini_cli, "timeout"),
        Program("opencode", "opencode", "opencode-ai", Chat(), opencode, "timeout"),
    )
}
