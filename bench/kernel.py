"""Processor time and memory of a server and its descendants, from Linux's /proc."""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pytest_mcp.process.process_tree import descendants

PROC = Path("/proc")
# The resident set now, and its peak.
Memory = Literal["VmRSS", "VmHWM"]

# The kernel counts processor time in hundredths of a second. A process that uses none for ten of them is idle.
QUIET_SECONDS = 0.1
PAUSE_SECONDS = 0.02
# By then a server that uses a spare has started it.
SPARE_SECONDS = 0.5
# Starting a spare takes a second at most. After this, do not wait any longer.
REST_SECONDS = 10.0
# Reading the memory takes a few milliseconds of one core. A child's peak lasts longer than this interval.
LOOK_SECONDS = 0.1


def ticks(pids: Iterable[int]) -> int:
    """Processor time of these processes so far, user and system."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            # The third field follows the program's name, which may contain anything, in parentheses.
            fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total


def megabytes(pid: int, memory: Memory) -> float:
    """Zero for a process that has ended."""
    with suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(f"{memory}:"):
                return int(line.split()[1]) / 1024
    return 0.0


def megabytes_below(pid: int) -> float:
    """All descendants of this process. Shared pages are counted for each of them."""
    return sum(megabytes(child, "VmRSS") for child in descendants(pid))


def wait_for_rest(pid: int) -> None:
    """Return when the server has started its spare and both are idle, or when it seems to have none."""
    started = quiet_since = now = time.monotonic()
    seen: tuple[set[int], int] | None = None
    while now - started < REST_SECONDS:
        below = descendants(pid)
        state = below, ticks({pid} | below)
        now = time.monotonic()
        if state != seen:
            seen, quiet_since = state, now
        if now - quiet_since >= QUIET_SECONDS and (below or now - started >= SPARE_SECONDS):
            return
        time.sleep(PAUSE_SECONDS)


def wait_for_ends(pids: Iterable[int]) -> None:
    """Wait until these processes are gone: they must not use a core while something else is measured."""
    end = time.monotonic() + REST_SECONDS
    while time.monotonic() < end and any(is_running(pid) for pid in pids):
        time.sleep(PAUSE_SECONDS)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return megabytes(pid, "VmRSS") > 0


@dataclass
class Peaks:
    """The peak memory of a server, and of any one of its descendants, while it was watched."""

    pid: int
    server: float = 0.0
    child: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        self.server = max(self.server, megabytes(self.pid, "VmHWM"))
        self.child = max([self.child, *(megabytes(pid, "VmHWM") for pid in descendants(self.pid))])

    def watch(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            self.look()


@contextmanager
def watched(pid: int) -> Iterator[Peaks]:
    peaks = Peaks(pid)
    thread = threading.Thread(target=peaks.watch)
    thread.start()
    try:
        yield peaks
    finally:
        peaks.over.set()
        thread.join()
        peaks.look()
