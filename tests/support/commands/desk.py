"""A home and a project in which `pytest-mcp setup` is typed."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.captured import captured
from tests.support.commands.preloaded import typed
from tests.support.waiting import PATIENCE

COMMAND = [sys.executable, "-m", "pytest_mcp"]
SERVER = str(Path(sys.executable).parent / "pytest-mcp")


@dataclass(frozen=True)
class Desk:
    """A home folder and a project, both empty."""

    home: Path
    project: Path

    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.home / "bin"), "HOME": str(self.home), "LANG": "C.UTF-8"}

    def typed(
        self, *arguments: str, cwd: Path | None = None, options: Sequence[str] = ()
    ) -> "subprocess.CompletedProcess[str]":
        return typed(*options, "setup", *arguments, cwd=cwd or self.project, env=self.environment())

    def typed_behind(self, before: Sequence[str], *arguments: str) -> "subprocess.CompletedProcess[str]":
        """With a command before ours that changes what we may do."""
        return captured([*before, *COMMAND, "setup", *arguments], cwd=self.project, env=self.environment())

    def answered(self, answer: bytes | signal.Signals, *arguments: str, then: bytes = b"\n\n\n\n") -> tuple[int, str]:
        """At a terminal: the exit code, and all that was to be read there. `then` answers what is asked next."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, "setup", *arguments],
            cwd=self.project,
            env=self.environment(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        ) as process:
            os.close(theirs)
            said = read_until(ours, b"[Y/n] ")
            if isinstance(answer, signal.Signals):
                process.send_signal(answer)
            # Behind a signal it wakes a program that had not begun to read yet; the signal still comes first.
            with contextlib.suppress(OSError):
                os.write(ours, answer + then if isinstance(answer, bytes) else b"\n")
            said += read_until(ours, None)
            process.wait(PATIENCE)
        os.close(ours)
        return process.returncode, said.decode()

    def files(self) -> dict[str, bytes]:
        folder = self.home.parent
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def servers(self, name: str = ".mcp.json") -> dict[str, dict[str, object]]:
        servers = json.loads((self.project / name).read_text(encoding="utf-8"))["mcpServers"]
        assert isinstance(servers, dict)
        return servers


def read_until(terminal: int, words: bytes | None) -> bytes:
    said = b""
    while words is None or words not in said:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # the other side has closed the terminal
            return said
        if not more:
            return said
        said += more
    return said
