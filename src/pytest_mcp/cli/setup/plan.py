"""What `pytest-mcp setup` is to do: what was typed, and what was found out about this machine.

In comes a client; out come the file that is meant and whether it may be changed. What is written into it is decided in
`server_entry`.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from pytest_mcp.cli.setup.client import Client, Level, Machine
from pytest_mcp.cli.setup.config_file import ConfigFileError, real
from pytest_mcp.config.model import TOKEN_VARIABLE


@dataclass(frozen=True)
class Plan:
    machine: Machine
    root: Path | None
    user: bool
    remove: bool
    # Whether the entry names the program without its path.
    portable: bool
    confirmed: Literal["yes", "no", "ask", "cannot ask"]
    command: Sequence[str]
    flags: Sequence[str]
    limit: int
    # What is to be written beside the entry, without an offer: the names of the flags.
    extras: frozenset[str] = frozenset()
    # The address of a server on HTTP, if the client is not to start one.
    url: str | None = None

    @property
    def token(self) -> str | None:
        """The token of that server."""
        return self.machine.environment.get(TOKEN_VARIABLE) if self.url else None

    def level(self, client: Client) -> Level:
        return "user" if self.user or self.root is None or not client.project else "project"

    def path(self, client: Client) -> Path:
        """The client's file that exists, otherwise the one to create."""
        if self.root and self.level(client) == "project":
            paths: Sequence[PurePath] = [self.root / name for name in client.project]
        else:
            paths = client.user(self.machine)
        return next((Path(path) for path in paths if exists(path)), Path(paths[-1]))

    def checked_path(self, client: Client) -> Path:
        path = self.path(client)
        return self.checked(path) if self.level(client) == "project" else path

    def checked(self, path: Path) -> Path:
        """A file of the project. Symlinks in the user's own settings are followed; those in a project are refused.

        A repository could contain a symlink to any file, and we would change that file.
        """
        assert self.root is not None, "a project has a root"
        if real(path) != real(self.root) / path.relative_to(self.root):
            raise ConfigFileError(f"{path} leads to {real(path)}; symlinks in a project are not followed.")
        return path

    def found(self, program: str) -> str | None:
        return shutil.which(program, path=self.machine.environment.get("PATH"))


def exists(path: PurePath) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        return False
