"""Where the settings files of clients are: in a project, or the user's own.

In comes a client; out come the file that is meant and whether it may be changed.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from pytest_mcp.cli.setup.client import Client, Level, Machine
from pytest_mcp.cli.setup.editing.config_file import ConfigFileError, real


def this_machine() -> Machine:
    """Raises RuntimeError if the user has no home folder."""
    return Machine(sys.platform, Path.home(), os.environ)


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

    @property
    def bounds(self) -> frozenset[Path]:
        """Folders that are not the clients': `setup` deletes empty ones only below them."""
        machine = self.machine
        folders = {machine.home, machine.config, machine.applications, machine.editor_config}
        return frozenset({*map(Path, folders), *([self.root] if self.root else [])})

    def found(self, program: str) -> str | None:
        return shutil.which(program, path=self.machine.environment.get("PATH"))


def exists(path: PurePath) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        return False
