"""What `pytest-mcp setup` is to do: what was typed, this machine and where a client's files are on it, and the command
that starts this copy of pytest-mcp."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pytest_mcp.cli.setup.clients import Client, Level
from pytest_mcp.cli.setup.sandbox import Sandbox
from pytest_mcp.cli.setup.settings_file import SettingsError, real
from pytest_mcp.config.model import TOKEN_VARIABLE, ConfigError
from pytest_mcp.python import files

DISTRIBUTION = "pytest-mcp-server"
# The documented command, and one for launchers that expect the distribution's name.
SCRIPTS = ("pytest-mcp", DISTRIBUTION)
MODULE = "pytest_mcp"
# Prefixes of the folders in uv's cache that contain environments; a number follows.
UV_CACHES = ("archive-v", "environments-v", "builds-v")


class Machine(NamedTuple):
    platform: str
    home: PurePath
    environment: Mapping[str, str]

    def path(self, name: str) -> PurePath:
        """A path of the table of clients, whose first word stands for a folder."""

        def named(variable: str, default: str) -> PurePath:
            return self.home / (self.environment.get(variable) or default)

        config = named("XDG_CONFIG_HOME", ".config")
        # Where GUI programs keep their settings.
        applications = self.home / "Library/Application Support" if self.platform == "darwin" else config
        folders = {
            "~": self.home,
            "config": config,
            "applications": applications,
            "extensions": applications / "Code/User/globalStorage",
            "claude-state": named("CLAUDE_CONFIG_DIR", ""),
            "claude": named("CLAUDE_CONFIG_DIR", ".claude"),
            "codex": named("CODEX_HOME", ".codex"),
            "copilot": named("COPILOT_HOME", ".copilot"),
        }
        first, _, rest = name.partition("/")
        return folders[first] / rest


def this_machine() -> Machine:
    try:
        return Machine(sys.platform, Path.home(), os.environ)
    except RuntimeError as error:
        raise ConfigError("You have no home folder, so there are no client settings.") from error


def checked_url(text: str) -> str:
    """The same text; raises ConfigError if it is no address, or contains a password."""
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or any(character.isspace() for character in text):
        raise ConfigError("--url needs an address, for example http://127.0.0.1:8000/mcp.")
    if parts.username is not None:
        raise ConfigError(f"--url must not contain a password; set the server's token in {TOKEN_VARIABLE}.")
    return text


@dataclass(frozen=True)
class Location:
    machine: Machine
    root: Path | None
    # Whether the user's own files are meant.
    user: bool

    def level(self, client: Client) -> Level:
        return "user" if self.user or self.root is None or not client.project else "project"

    def path(self, client: Client) -> Path:
        """The client's file that exists, otherwise the one to create."""
        own = [Path(self.machine.path(name)) for name in client.user]
        paths = [self.root / name for name in client.project] if self.root and not self.user else []
        return next((path for path in paths or own if files.holds(path.exists)), (paths or own)[-1])

    def checked(self, path: Path) -> Path:
        """Symlinks in a project are refused: a repository could contain one to any file, and we would change that."""
        if self.root and path.is_relative_to(self.root) and real(path) != real(self.root) / path.relative_to(self.root):
            raise SettingsError(path, f"leads to {real(path)}; symlinks in a project are not followed")
        return path

    def which(self, program: str) -> str | None:
        return shutil.which(program, path=self.machine.environment.get("PATH"))

    def has_installed(self, client: Client) -> bool:
        """By its folder in the home, in the project, or its program."""
        home = self.machine.path(client.home) if client.home else self.machine.path(client.user[-1]).parent
        signs = [self.root / name.partition("/")[0] for name in (*client.project, client.sign) if self.root and name]
        is_there = any(files.holds(path.exists) for path in (Path(home), *signs))
        return is_there or any(map(self.which, (client.name, *client.programs)))


@dataclass(frozen=True)
class Plan(Location):
    remove: bool
    # Whether the entry names the program without its path.
    portable: bool
    confirmed: Literal["yes", "no", "ask", "cannot ask"]
    command: Sequence[str]
    flags: Sequence[str]
    # The server's time limit for a call, in seconds.
    limit: int
    # What is to be written beside the entry: the names of the flags.
    extras: frozenset[str] = frozenset()
    # The address of a server on HTTP, if the client is not to start one.
    url: str | None = None
    sandbox: Sandbox | None = None

    def writes(self, extra: str) -> bool:
        """Whether this is written beside the entry, or taken out."""
        return self.remove or extra in self.extras

    def srt_settings(self, client: Client) -> Path:
        """The file that tells srt what the server of this entry may do, where no run may write."""
        place = f"{self.root}\n{self.path(client)}"
        # Short, because srt has sockets in this folder.
        name = hashlib.sha256(place.encode()).hexdigest()[:12]
        return Path(self.machine.path("config")) / "pytest-mcp" / "sandbox" / name / "srt.json"

    @property
    def token(self) -> str | None:
        return self.machine.environment.get(TOKEN_VARIABLE) if self.url else None


class Installation(NamedTuple):
    """How the running program was installed and started."""

    script: Path
    python: Path
    prefix: Path
    # What a launcher must download.
    source: str
    search_path: str


def this_installation() -> Installation:
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


def server_command(running: Installation, *, portable: bool = False) -> list[str]:
    """The program that starts this copy of pytest-mcp, and its first arguments.

    It begins with an absolute path, because GUI programs do not have the `PATH` of a shell. A copy in a launcher's
    cache, which may be cleaned at any time, is started by the launcher (uvx, pipx), with the source to download.
    """
    parts = running.prefix.parts
    if any(part.startswith(UV_CACHES) for part in parts):
        launcher = ["uvx", "--from"]
    elif "pipx" in parts and "venvs" not in parts:
        launcher = ["pipx", "run", "--spec"]
    else:
        scripts = [running.script] if running.script.name in SCRIPTS else []
        scripts += [running.python.parent / name for name in SCRIPTS]
        # A client starts it in a project. Without -P Python would import a json.py from there instead of its own.
        by_python = [str(running.python), "-P", "-m", MODULE]
        here = next(([str(script)] for script in scripts if script.is_file()), by_python)
        return [SCRIPTS[0]] if portable else here
    program = shutil.which(launcher[0], path=running.search_path)
    if program is None:
        raise ConfigError(f"This pytest-mcp is in the cache of {launcher[0]}, which is not on the PATH.")
    # On other machines it has no path, and comes from the index if its source is a path here.
    origin = DISTRIBUTION if portable and Path(running.source).is_absolute() else running.source
    return [launcher[0] if portable else str(Path(program).absolute()), *launcher[1:], origin, SCRIPTS[0]]


def source(direct_url: Mapping[str, Any]) -> str:
    """Where it was installed from, as an argument for an installer. The input is the content of direct_url.json."""
    url = str(direct_url["url"])
    if version := direct_url.get("vcs_info"):
        return f"{version['vcs']}+{url}@{version['commit_id']}"
    return url2pathname(urlsplit(url).path) if url.startswith("file:") else url
