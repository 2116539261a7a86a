"""`make recording`: record docs/demo.svg, the animated picture in the README, from the real commands.

Everything in it is typed into a real terminal, in a copy of examples/shop with its own home folder. Only the paths of
this machine are replaced. Needs pyte, a terminal emulator, from its own environment.
"""

import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pyte

from scripts.terminal_svg import Cell, Frame, Row, draw

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "demo.svg"
COLUMNS, LINES = 100, 30
PROMPT = "$ "
# Each command, and how many seconds its result is shown.
SCENES = (
    ("pytest-mcp doctor", 4.0),
    ("pytest-mcp run", 6.0),
    ("sed -i 's/^VAT = 0.2/VAT = Decimal(\"0.2\")/' shop/cart.py && pytest-mcp run", 4.0),
)
SECONDS_A_KEY = 0.04
# Screens that follow within this many seconds are merged.
BLINK = 0.08
# A longer pause without output is shortened to this.
LONGEST_PAUSE = 0.6
# A command that takes longer has failed.
PATIENCE = 60


class Stage:
    """A recorded screen: everything that is written to it becomes frames."""

    def __init__(self) -> None:
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.frames: list[Frame] = []

    def write(self, data: bytes, seconds: float) -> None:
        self.stream.feed(data)
        rows = tuple(self._rows())
        if self.frames and self.frames[-1].rows == rows:
            self.frames[-1] = Frame(rows, self.frames[-1].seconds + seconds)
        else:
            self.frames.append(Frame(rows, seconds))

    def _rows(self) -> Iterator[Row]:
        for index in range(LINES):
            line = self.screen.buffer[index]
            cells = [Cell(line[x].data or " ", line[x].fg, line[x].bold) for x in range(COLUMNS)]
            while cells and not cells[-1].character.strip():
                cells.pop()
            yield tuple(cells)


def main() -> int:
    stage = Stage()
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-recording-") as folder:
        project = Path(folder) / "shop"
        shutil.copytree(ROOT / "examples" / "shop", project, ignore=shutil.ignore_patterns("__pycache__"))
        (project / ".venv").symlink_to(ROOT / ".envs" / "demo", target_is_directory=True)
        for command, pause in SCENES:
            type_(stage, command)
            perform(stage, command, project)
            stage.write(b"", pause)
            stage.write(b"\x1b[2J\x1b[H", 0.3)
    picture = draw(stage.frames[:-1], columns=COLUMNS, title="pytest-mcp in a terminal")
    if str(ROOT) in picture:
        print("The picture contains a path of this machine; nothing was written.", file=sys.stderr)
        return 1
    TARGET.write_text(picture, encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(stage.frames)} frames, {TARGET.stat().st_size // 1024} KB")
    return 0


def type_(stage: Stage, command: str) -> None:
    stage.write(PROMPT.encode(), 0.5)
    for key in command:
        stage.write(key.encode(), SECONDS_A_KEY)
    stage.write(b"\r\n", 0.2)


def perform(stage: Stage, command: str, project: Path) -> None:
    """Run the command in its own terminal and record its output."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {
        "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}/usr/bin:/bin",
        "HOME": str(project.parent),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=project,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        for data, seconds in filmed(ours):
            stage.write(renamed(data, project), min(seconds, LONGEST_PAUSE))
    finally:
        os.close(ours)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


def renamed(data: bytes, project: Path) -> bytes:
    """Replace the paths of this machine by those of an ordinary user."""
    for place, name in ((project, "/home/me/shop"), (ROOT / ".venv", "/home/me/.local/share/pytest-mcp")):
        data = data.replace(str(place).encode(), name.encode())
    return data


def filmed(terminal: int) -> Iterator[tuple[bytes, float]]:
    """The output in pieces that a person can tell apart, each with the time until the next."""
    began = shown = time.monotonic()
    pending = b""
    while time.monotonic() < began + PATIENCE:
        ready, _, _ = select.select([terminal], [], [], BLINK)
        try:
            chunk = os.read(terminal, 65536) if ready else None
        except OSError:  # on Linux: the other end is closed
            break
        if chunk == b"":
            break
        pending += chunk or b""
        now = time.monotonic()
        if pending and now - shown >= BLINK:
            yield pending, now - shown
            pending, shown = b"", now
    yield pending, BLINK


if __name__ == "__main__":
    sys.exit(main())
