"""A project whose server starts in srt or in bubblewrap, as `pytest-mcp setup --sandbox` has written it."""

import json
import os
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.commands.desk import COMMAND
from tests.support.workbench import python_of

ENGINES = ("srt", "bwrap")
# srt shows no folder behind a link to a folder.
PYTHON = python_of("coverage-7").parent.resolve() / "python"
# The folders of both, set by `make sandbox`: the programs that srt needs, and srt itself.
PROGRAMS, SRT = os.environ.get("SANDBOX_PROGRAMS", "/usr/bin"), os.environ.get("SANDBOX_SRT", "")


@dataclass(frozen=True)
class Caged:
    engine: str
    home: Path
    project: Path

    @property
    def environment(self) -> dict[str, str]:
        path = [PROGRAMS, *([SRT] if self.engine == "srt" else []), "/usr/bin", "/bin"]
        libraries = os.environ.get("LD_LIBRARY_PATH", "")
        return {"PATH": os.pathsep.join(path), "HOME": str(self.home), "LANG": "C.UTF-8", "LD_LIBRARY_PATH": libraries}

    @property
    def command(self) -> list[str]:
        """What the client starts."""
        entry = json.loads((self.project / ".mcp.json").read_bytes())["mcpServers"]["pytest"]
        return [entry["command"], *entry["args"]]

    def typed(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*COMMAND, f"--python={PYTHON}", *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )

    def set_up(self, *flags: str, options: Sequence[str] = ()) -> None:
        # Unpacked programs are not where the system's are.
        unpacked = [f"--sandbox-write={PROGRAMS}/../.."] if not Path(PROGRAMS).is_relative_to("/usr") else []
        self.typed(*options, "setup", "claude-code", "--sandbox", "--yes", *unpacked, *flags)


def caged(engine: str, folder: Path) -> Caged:
    cage = Caged(engine, folder / "home", folder / "home" / "project")
    cage.project.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", cage.project], check=True)
    cage.set_up()
    return cage


def own_address() -> str | None:
    """One of this machine that is not loopback, if it has a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        has_route = datagrams.connect_ex(("192.0.2.1", 9)) == 0
        return str(datagrams.getsockname()[0]) if has_route else None
