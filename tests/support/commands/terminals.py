"""A command on a real terminal, or at the end of a pipe, and what is seen of it."""

import os
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from tests.support.captured import captured
from tests.support.commands.preloaded import typed
from tests.support.paths import ROOT
from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench

# Makes the terminal that it is given its own, as a shell does, so that keys become signals; then becomes the command.
LOGIN = "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, '-m', 'pytest_mcp', *sys.argv[1:]])"
SGR = re.compile("\x1b\\[[0-9;]*m")
CHUNK = 65536


def environment_of(bench: Workbench, **more: str) -> dict[str, str]:
    """Temporary files go beside the project, so that what is left of a run can be seen."""
    temporary = bench.root.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    return {**bench.config.environment, "TMPDIR": str(temporary), **more}


def remains(bench: Workbench) -> list[str]:
    return [entry.name for entry in (bench.root.parent / "tmp").iterdir()]


def settings_of(bench: Workbench) -> list[str]:
    return [f"--root={bench.root}", f"--python={bench.python}"]


def piped(
    bench: Workbench, *arguments: str, cwd: Path = Path("/"), **environment: str
) -> "subprocess.CompletedProcess[str]":
    """The command with these arguments, and with neither output on a terminal."""
    return typed(*settings_of(bench), *arguments, cwd=cwd, env=environment_of(bench, **environment))


def example(bench: Workbench, script: str, *arguments: str, path: str = "") -> "subprocess.CompletedProcess[str]":
    """A script of examples/scale, with our command on its path, and with programs of this folder."""
    folders = filter(None, [str(Path(sys.executable).parent), path, "/usr/bin", "/bin"])
    settings = {"PATH": os.pathsep.join(folders), "PYTEST_MCP_PYTHON": str(bench.python)}
    return captured(
        [ROOT / "examples" / "scale" / script, *arguments],
        cwd=bench.root,
        env=environment_of(bench, **settings),
        timeout=PATIENCE,
    )


class Terminal:
    """One command in the foreground of a terminal of its own."""

    def __init__(self, bench: Workbench, *arguments: str, columns: int = 80, **environment: str) -> None:
        self.master, terminal = os.openpty()
        self.resize(columns)
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOGIN, *settings_of(bench), *arguments],
            cwd="/",
            env=environment_of(bench, **{"TERM": "xterm", **environment}),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        self.received = b""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    @property
    def text(self) -> str:
        return self.received.decode("utf-8", "replace")

    @property
    def rows(self) -> list[str]:
        """What a person sees in the end, without colours."""
        return [row.split("\r\x1b[K")[-1] for row in SGR.sub("", self.text).split("\r\n")]

    @property
    def drawn(self) -> list[str]:
        """Every state of the one line that is drawn again and again."""
        return re.findall("\r\x1b\\[K([^\r\n]+)", self.text)

    def resize(self, columns: int) -> None:
        termios.tcsetwinsize(self.master, (24, columns))

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert self._read(end), self.text

    def end(self) -> int:
        """All that is still to come, and the exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(end):
            pass
        return self.process.wait(PATIENCE)

    def _read(self, end: float) -> bool:
        """Some more; False when there will be none."""
        readable, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
        assert readable, f"nothing came any more: {self.text}"
        try:
            chunk = os.read(self.master, CHUNK)
        except OSError:  # how Linux tells that nobody has the other end any more
            return False
        self.received += chunk
        return bool(chunk)
