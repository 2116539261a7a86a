"""Which processes descend from one, and signals to all of them. Standard library only.

Used by the supervisor, and by the server for what a killed supervisor leaves behind. Linux: /proc. Elsewhere: `ps`.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, Protocol

ON_LINUX = sys.platform.startswith("linux")
PROC = "/proc"
ZOMBIE = b"Z"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# The largest pid on Linux.
MOST_PROCESSES = 4 * 1024 * 1024
# The timeout of `ps`, which normally answers at once.
PS_SECONDS = 1.0
# Between two runs of `ps` while a child runs: each takes about 10 ms.
SNAPSHOT_SECONDS = 0.5
# Loaded once, because nothing can be loaded safely between fork and exec.
_LIBC = ctypes.CDLL(None)


def become_subreaper() -> bool:
    """Orphans below this process become its children from now on. Linux only, and not where that is forbidden."""
    return ON_LINUX and _prctl(PR_SET_CHILD_SUBREAPER, 1)


def ask_for_a_signal_at_the_parents_end(number: int) -> None:
    if ON_LINUX:
        _prctl(PR_SET_PDEATHSIG, number)


def _prctl(option: int, value: int) -> bool:
    return bool(_LIBC.prctl(option, value) == 0)


class Tree(Protocol):
    """The descendants of one child of this process."""

    def note(self) -> None:
        """Remember which processes are there; called repeatedly while the child runs."""

    def alive(self) -> set[int]:
        """Those that are alive now; a negative number is a whole process group."""


class Adopted:
    """For a subreaper: orphaned descendants become children of this process."""

    def __init__(self, child: int) -> None:
        self.child = child

    def note(self) -> None:
        pass

    def alive(self) -> set[int]:
        # /proc may be hidden or not mounted, and then shows nothing.
        return descendants(os.getpid()) or _children_since(self.child)


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
    return Adopted(child) if adopts else Listed(child)


def descendants(of: int, *, sparing: Collection[int] = ()) -> set[int]:
    """Every live descendant of a process, except those spared and their descendants. Linux only."""
    parents = {pid: parent for pid, (parent, state) in _linux_table().items() if state != ZOMBIE}
    found: set[int] = set()
    front = {of}
    while front:
        front = {pid for pid, parent in parents.items() if parent in front and pid not in sparing} - found
        found |= front
    return found


def end_all(pids: Collection[int], *, known: Collection[int] = ()) -> None:
    """Stop all of them first, then kill: a stopped process cannot fork in between."""
    signal_all([pid for pid in pids if pid not in known], signal.SIGSTOP)
    signal_all(pids, signal.SIGKILL)


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def zombies(of: int) -> set[int]:
    """The children of a process that have ended and were not waited for. Linux only."""
    return {pid for pid, (parent, state) in _linux_table().items() if parent == of and state == ZOMBIE}


def _linux_table() -> dict[int, tuple[int, bytes]]:
    """Every process with its parent and its state, as far as /proc shows them."""
    table = {}
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir(PROC)):
            with contextlib.suppress(OSError, ValueError), open(f"{PROC}/{name}/stat", "rb") as handle:
                # The second field is the program's name in parentheses, which may contain anything.
                state, parent = handle.read().rpartition(b")")[2].split()[:2]
                table[int(name)] = (int(parent), state)
    return table


def _children_since(first: int) -> set[int]:
    """Own live children, adopted ones too: checks every pid that was given out since then."""
    return {pid for pid in _numbers_since(first) if _is_a_living_child(pid)}


def _numbers_since(first: int) -> Iterator[int]:
    newest = os.fork()
    if newest == 0:
        os._exit(0)
    os.waitpid(newest, 0)
    if newest > first:
        yield from range(first, newest)
        return
    # Pids have wrapped around.
    yield from range(first, MOST_PROCESSES)
    yield from range(2, newest)


def _is_a_living_child(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


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
    try:
        listing = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            timeout=PS_SECONDS,
            check=False,
        ).stdout.decode("ascii", "replace")
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = [line.split(None, 4) for line in listing.splitlines()]
    own = os.getpid()
    return {
        int(pid): Row(int(parent), int(group), began)
        for pid, parent, group, state, began in rows
        if int(pid) != own and int(group) != os.getpgrp() and not state.startswith("Z")
    }
