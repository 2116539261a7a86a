"""The command that starts this copy of pytest-mcp, for the settings of an MCP client.

It begins with an absolute path, because GUI programs do not have the `PATH` of a shell. A copy in a launcher's cache,
which may be cleaned at any time, is started by the launcher (uvx, pipx), with the source to download.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pytest_mcp.config.model import ConfigError

DISTRIBUTION = "pytest-mcp-server"
# The documented command, and one for launchers that expect the distribution's name.
SCRIPTS = ("pytest-mcp", DISTRIBUTION)
MODULE = "pytest_mcp"
# Prefixes of the folders in uv's cache that contain environments; a number follows.
UV_CACHES = ("archive-v", "environments-v", "builds-v")


class Installation(NamedTuple):
    """How the running program was installed and started."""

    script: Path
    python: Path
    prefix: Path
    # What a launcher must download.
    source: str
    search_path: str


def here() -> Installation:
    try:
        installed = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        installed = None
    origin = source(json.loads(installed)) if installed else DISTRIBUTION
    folders = os.environ.get("PATH", os.defpath)
    # uv sets this to its own path, even if it is not on PATH.
    if uv := os.environ.get("UV"):
        folders += f"{os.pathsep}{Path(uv).parent}"
    return Installation(Path(sys.argv[0]).absolute(), Path(sys.executable), Path(sys.prefix), origin, folders)


def command(running: Installation) -> list[str]:
    """The program and its first arguments, with absolute paths."""
    parts = running.prefix.parts
    if any(part.startswith(UV_CACHES) for part in parts):
        launcher = ["uvx", "--from"]
    elif "pipx" in parts and "venvs" not in parts:
        launcher = ["pipx", "run", "--spec"]
    else:
        return _installed(running)
    program = shutil.which(launcher[0], path=running.search_path)
    if program is None:
        raise ConfigError(f"This pytest-mcp is in the cache of {launcher[0]}, which is not on the PATH.")
    return [str(Path(program).absolute()), *launcher[1:], running.source, SCRIPTS[0]]


def portable(command: Sequence[str]) -> list[str]:
    """The same command for other machines: without paths, and from the index if the source is a path."""
    program, *arguments = command
    if not arguments or MODULE in arguments:
        return [SCRIPTS[0]]
    return [Path(program).stem, *(DISTRIBUTION if Path(word).is_absolute() else word for word in arguments)]


def _installed(running: Installation) -> list[str]:
    beside = [running.python.parent / name for name in SCRIPTS]
    for script in [running.script, *beside] if running.script.name in SCRIPTS else beside:
        if script.is_file():
            return [str(script)]
    # A client starts it in a project. Without -P Python would import a json.py from there instead of its own.
    return [str(running.python), "-P", "-m", MODULE]


def source(direct_url: Mapping[str, Any]) -> str:
    """Where it was installed from, as an argument for an installer. The input is the content of direct_url.json."""
    url = str(direct_url["url"])
    if version := direct_url.get("vcs_info"):
        return f"{version['vcs']}+{url}@{version['commit_id']}"
    return url2pathname(urlsplit(url).path) if url.startswith("file:") else url
