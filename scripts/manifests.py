"""The manifests with which programs and registries install this server, each in its program's words.

All say the same, which stands in `packaging/about.toml`, the version and the tools. `make docs` writes them.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

from pytest_mcp import __version__
from pytest_mcp.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
ABOUT = tomllib.loads((ROOT / "packaging" / "about.toml").read_text(encoding="utf-8"))
COMMAND = "pytest-mcp"
# Where plugins look from the root of the repository, which is the plugin.
SERVERS, SKILLS = "./packaging/mcp.json", "./skills/"
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

Manifest = dict[str, Any]


def manifests() -> dict[Path, str]:
    """Every manifest with its content."""
    plugin = _plugin()
    written = {
        "packaging/mcp.json": {"mcpServers": {"pytest": {"command": COMMAND}}},
        ".claude-plugin/plugin.json": plugin | {"mcpServers": SERVERS},
        ".claude-plugin/marketplace.json": _marketplace(),
        ".codex-plugin/plugin.json": plugin | {"skills": SKILLS, "mcpServers": SERVERS},
        ".cursor-plugin/plugin.json": plugin | {"skills": SKILLS, "mcpServers": SERVERS, "logo": ABOUT["icon"]},
        ".github/plugin/plugin.json": plugin | {"skills": [SKILLS], "mcpServers": SERVERS},
        "gemini-extension.json": _gemini(),
        "server.json": _registry(),
        "packaging/mcpb/manifest.json": _bundle(),
    }
    return {ROOT / name: json.dumps(value, indent=2) + "\n" for name, value in written.items()}


def _plugin() -> Manifest:
    return {
        "name": ABOUT["name"],
        "version": __version__,
        "description": ABOUT["description"],
        "author": {"name": ABOUT["author"]},
        "license": ABOUT["license"],
        "keywords": ABOUT["keywords"],
    }


def _marketplace() -> Manifest:
    listed = {"name": ABOUT["name"], "source": "./", "description": ABOUT["description"], "category": "testing"}
    owner = {"name": ABOUT["author"]}
    return {"name": ABOUT["name"], "owner": owner, "description": "The plugin of pytest-mcp.", "plugins": [listed]}


def _gemini() -> Manifest:
    # Its limit for a call is ten minutes without a timeout; the server's own is shorter.
    servers = {"pytest": {"command": COMMAND}}
    return {
        "name": ABOUT["name"],
        "version": __version__,
        "description": ABOUT["description"],
        "mcpServers": servers,
    }


def _registry() -> Manifest:
    arguments = [
        {"type": "named", "name": f"--{name}", "description": ABOUT[name], "format": "filepath"}
        for name in ("root", "python")
    ]
    package = {
        "registryType": "pypi",
        "identifier": ABOUT["distribution"],
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": arguments,
    }
    named = {"name": ABOUT["registry-name"], "title": ABOUT["name"], "description": ABOUT["short"]}
    return {"$schema": SERVER_SCHEMA, **named, "version": __version__, "packages": [package]}


def _bundle() -> Manifest:
    settings = {
        "project": {
            "type": "directory",
            "title": "Project folder",
            "description": "The folder of the project whose tests are run. One extension works on one project.",
            "required": True,
        },
        "python": {
            "type": "file",
            "title": "The project's Python",
            "description": "The Python that runs the tests. Leave it empty if the project has a .venv.",
            "required": False,
            # Without one, clients hand over the name of the variable instead of a value.
            "default": "",
        },
    }
    flags = ["--root=${user_config.project}", "--python=${user_config.python}"]
    start = {"command": "uv", "args": ["run", "--quiet", "--project=${__dirname}", COMMAND, *flags]}
    return {
        "manifest_version": "0.4",
        "name": ABOUT["name"],
        "display_name": ABOUT["title"],
        "version": __version__,
        "description": ABOUT["short"],
        "long_description": ABOUT["long"].strip(),
        "author": {"name": ABOUT["author"]},
        "license": ABOUT["license"],
        "keywords": ABOUT["keywords"],
        "icon": "icon.png",
        "server": {"type": "uv", "entry_point": "src/pytest_mcp/__main__.py", "mcp_config": start},
        "tools": [{"name": tool.name, "description": tool.description} for tool in TOOLS],
        "compatibility": {"platforms": ["linux", "darwin"], "runtimes": {"python": ">=3.11"}},
        "user_config": settings,
    }
