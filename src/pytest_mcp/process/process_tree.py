"""Which processes descend from one, and signals to all of them. Standard library only.

Used by the supervisor, and by the server for what a killed supervisor leaves behind. `linux` has what only Linux can
do; without it, `ps` is asked.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

from pytest_mcp.process import linux

# The timeout of `ps`, which normally answers at once.
PS_SECONDS = 1.0
# Between two runs of `ps` while a child runs: each takes about 10 ms.
SNAPSHOT_SECONDS = 0.5
# Between two attempts to kill what `ps` shows.
PAUSE_SECONDS = 0.01


class Tree(Protocol):
    """The descendants of one child of this process."""

    def note(self) -> None:
        """Remember which processes are there; called repeatedly while the child runs."""

    def alive(self) -> set[int]:
        """Those that are alive now; a negative number is a whole process group."""


class Row(NamedTuple):
    parent: int
    group: int
    began: str


class Listed:
    """Without a subreaper: what `ps` shows or has shown below the child, and the process groups of all of it.

    A process that leaves its parent and its group between two runs of `ps` is not found.
    """

    def __init__(self, child: int) -> None:
        self.groups = {child}
        self.known: dict[int, str] = {}
        self.next_look = 0.0

    def note(self) -> None:
        if time.monotonic() >= self.next_look:
            self.alive()
            self.next_look = time.monotonic() + SNAPSHOT_SECONDS

    def alive(self) -> set[int]:
        table = _listed()
        if not table:
            return {-group for group in self.groups if _has_members(group)}
        found = {pid for pid, row in table.items() if row.group in self.groups or self.known.get(pid) == row.began}
        while more := {pid for pid, row in table.items() if row.parent in found} - found:
            found |= more
        if found:
            # Only those that are alive: the pids of the others may be reused.
            self.known = {pid: table[pid].began for pid in found}
            self.groups = {table[pid].group for pid in found}
        return found


def tree(child: int, *, adopts: bool) -> Tree:
    return linux.Adopted(child) if adopts else Listed(child)


def end_named(word: str, seconds: float) -> None:
    """Kill every process with this word on its command line, with its process group and all below it, as `ps` shows."""
    end = time.monotonic() + seconds
    trees = [Listed(pid) for pid, line in _command_lines().items() if word in line]
    while (found := {pid for tree in trees for pid in tree.alive()}) and time.monotonic() < end:
        end_all(found)
        time.sleep(PAUSE_SECONDS)


def end_all(pids: Collection[int], *, known: Collection[int] = ()) -> None:
    """Stop all of them first, then kill: a stopped process cannot fork in between."""
    signal_all([pid for pid in pids if pid not in known], signal.SIGSTOP)
    signal_all(pids, signal.SIGKILL)


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _listed() -> dict[int, Row]:
    """What `ps` shows, without this process and without zombies; empty if there is no `ps`."""
    rows = [line.split(None, 4) for line in _ps("pid=,ppid=,pgid=,stat=,lstart=")]
    own = os.getpid()
    return {
        int(pid): Row(int(parent), int(group), began)
        for pid, parent, group, state, began in rows
        if int(pid) != own and int(group) != os.getpgrp() and not state.startswith("Z")
    }


def _command_lines() -> dict[int, str]:
    rows = [line.split(None, 1) for line in _ps("pid=,args=")]
    return {int(pid): line for pid, line in (row for row in rows if len(row) == 2) if int(pid) != os.getpid()}


def _ps(columns: str) -> list[str]:
    """A line for each process; none if there is no `ps`."""
    try:
        return (
            subprocess.run(
                ["ps", "-A", "-ww", "-o", columns],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
                timeout=PS_SECONDS,
                check=False,
            )
            .stdout.decode("utf-8", "replace")
            .splitlines()
        )
    except (OSError, subprocess.SubprocessError):
        return []
