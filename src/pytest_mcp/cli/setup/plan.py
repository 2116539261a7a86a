"""What `pytest-mcp setup` is to do: what was typed, this machine, and where the files of a client are on it."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from pytest_mcp.cli.setup.clients import Client, Level
from pytest_mcp.cli.setup.settings_file import SettingsError, real
from pytest_mcp.config.model import TOKEN_VARIABLE, ConfigError
from pytest_mcp.python import files


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
    # What is to be written beside the entry, without an offer: the names of the flags.
    extras: frozenset[str] = frozenset()
    # The address of a server on HTTP, if the client is not to start one.
    url: str | None = None

    @property
    def token(self) -> str | None:
        return self.machine.environment.get(TOKEN_VARIABLE) if self.url else None
