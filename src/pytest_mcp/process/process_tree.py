"""Which processes descend from one, and signals to all of them. Standard library only.

Used by the supervisor, and by the server for what a killed supervisor leaves behind. Here is all that only Linux can
do for us: subreapers, parent death signals, /proc, and waiting without reaping. Every caller has another way for a
system without it: `become_subreaper` returns False there, and `ps` is asked.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias

# With the value 1 it switches off what only Linux can do, which shows what happens elsewhere. The server hands it on
# to supervisors; it reaches no test.
SWITCH = "PYTEST_MCP_PORTABLE"
HAS_LINUX = sys.platform.startswith("linux") and os.environ.get(SWITCH) != "1"
HANDED_ON = {name: os.environ[name] for name in (SWITCH,) if name in os.environ}
PROC = "/proc"
ZOMBIE = b"Z"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# The largest pid on Linux.
MAX_PROCESSES = 4 * 1024 * 1024
# Loaded once, because nothing can be loaded safely between fork and exec.
_LIBC = ctypes.CDLL(None)

# The timeout of `ps`, which normally answers at once.
PS_SECONDS = 1.0
# Between two runs of `ps` while a child runs: each takes about 10 ms.
SNAPSHOT_SECONDS = 0.5
# Between two attempts to kill what `ps` shows.
PAUSE_SECONDS = 0.01


def become_subreaper() -> bool:
    """Orphans below this process become its children from now on. Linux only, and not where that is forbidden."""
    return HAS_LINUX and _prctl(PR_SET_CHILD_SUBREAPER, 1)


def ask_for_a_signal_at_the_parents_end(number: int) -> None:
    if HAS_LINUX:
        _prctl(PR_SET_PDEATHSIG, number)


def _prctl(option: int, value: int) -> bool:
    return bool(_LIBC.prctl(option, value) == 0)


class Adopted:
    """The descendants of a child of a subreaper: orphaned ones become children of this process."""

    def __init__(self, child: int) -> None:
        self.child = child

    def note(self) -> None:
        """Nothing has to be remembered."""

    def alive(self) -> set[int]:
        # /proc may be hidden or not mounted, and then shows nothing.
        return descendants(os.getpid()) or {pid for pid in _numbers_since(self.child) if _is_a_living_child(pid)}


class ListedProcess(NamedTuple):
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
        """Remember which processes are there; called repeatedly while the child runs."""
        if time.monotonic() >= self.next_look:
            self.alive()
            self.next_look = time.monotonic() + SNAPSHOT_SECONDS

    def alive(self) -> set[int]:
        """Those that are alive now; a negative number is a whole process group."""
        table = _listed()
        if not table:
            return {-group for group in self.groups if _has_members(group)}
        pids = {pid for pid, row in table.items() if row.group in self.groups or self.known.get(pid) == row.began}
        while more := {pid for pid, row in table.items() if row.parent in pids} - pids:
            pids |= more
        if pids:
            # Only those that are alive: the pids of the others may be reused.
            self.known = {pid: table[pid].began for pid in pids}
            self.groups = {table[pid].group for pid in pids}
        return pids


Tree: TypeAlias = Adopted | Listed


def end_named(word: str, seconds: float) -> None:
    """Kill every process with this word on its command line, with its process group and all below it, as `ps` shows."""
    end = time.monotonic() + seconds
    trees = [Listed(pid) for pid, line in _command_lines().items() if word in line]
    while (pids := {pid for tree in trees for pid in tree.alive()}) and time.monotonic() < end:
        end_all(pids)
        time.sleep(PAUSE_SECONDS)


def end_all(pids: Collection[int], *, known: Collection[int] = ()) -> None:
    """Stop all of them first, then kill: a stopped process cannot fork in between."""
    _signal_all([pid for pid in pids if pid not in known], signal.SIGSTOP)
    _signal_all(pids, signal.SIGKILL)


def _signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def descendants(of: int, *, sparing: Collection[int] = ()) -> set[int]:
    """Every live descendant of a process, except those spared and their descendants."""
    parents = {pid: parent for pid, (parent, state) in _table().items() if state != ZOMBIE}
    below: set[int] = set()
    front = {of}
    while front:
        front = {pid for pid, parent in parents.items() if parent in front and pid not in sparing} - below
        below |= front
    return below


def ancestors() -> set[int]:
    """Every process above this one."""
    parents = {pid: parent for pid, (parent, _state) in _table().items()}
    if not parents:
        parents = {int(pid): int(parent) for pid, parent in (line.split() for line in _ps("pid=,ppid="))}
    above: set[int] = set()
    pid = os.getpid()
    while (pid := parents.get(pid, 0)) and pid not in above:
        above.add(pid)
    return above


def namespace() -> str:
    """Pids mean the same in processes of one namespace only."""
    try:
        return os.readlink(f"{PROC}/self/ns/pid")
    except OSError:
        return ""


def zombies(of: int) -> set[int]:
    """The children of a process that have ended and were not waited for."""
    return {pid for pid, (parent, state) in _table().items() if parent == of and state == ZOMBIE}


def _table() -> dict[int, tuple[int, bytes]]:
    """Every process with its parent and its state, as far as /proc shows them."""
    table = dict[int, tuple[int, bytes]]()
    if not _numbers_are_ours():
        return table
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir(PROC)):
            with contextlib.suppress(OSError, ValueError):
                table[int(name)] = _row(name)
    return table


def _row(name: str) -> tuple[int, bytes]:
    with open(f"{PROC}/{name}/stat", "rb") as handle:
        # The second field is the program's name in parentheses, which may contain anything.
        state, parent = handle.read().rpartition(b")")[2].split()[:2]
    return int(parent), state


def _numbers_are_ours() -> bool:
    """Not in a namespace of processes within that of /proc, as srt makes one: a signal would reach another process."""
    try:
        return os.readlink(f"{PROC}/self") == str(os.getpid())
    except OSError:
        return True


def _numbers_since(first: int) -> Iterator[int]:
    """Every pid that may have been given out since this one."""
    newest = os.fork()
    if newest == 0:
        os._exit(0)
    os.waitpid(newest, 0)
    if newest > first:
        yield from range(first, newest)
        return
    # Pids have wrapped around.
    yield from range(first, MAX_PROCESSES)
    yield from range(2, newest)


def _is_a_living_child(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def wait_without_reaping(child: int) -> None:
    """Until it has ended; its pid stays valid."""
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _listed() -> dict[int, ListedProcess]:
    """What `ps` shows, without this process and without zombies; empty if there is no `ps`."""
    rows = [line.split(None, 4) for line in _ps("pid=,ppid=,pgid=,stat=,lstart=")]
    return {
        int(pid): ListedProcess(int(parent), int(group), began)
        for pid, parent, group, state, began in rows
        if int(pid) != os.getpid() and int(group) != os.getpgrp() and not state.startswith("Z")
    }


def _command_lines() -> dict[int, str]:
    rows = [line.split(None, 1) for line in _ps("pid=,args=")]
    return {int(pid): line for pid, line in (row for row in rows if len(row) == 2) if int(pid) != os.getpid()}


def _ps(columns: str) -> list[str]:
    """A line for each process; none if there is no `ps`, which gets the numbers from /proc."""
    if not _numbers_are_ours():
        return []
    command = ["ps", "-A", "-ww", "-o", columns]
    environment = {**os.environ, "LC_ALL": "C"}
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    try:
        answer = subprocess.run(
            command, stdin=nothing, stdout=pipe, stderr=nothing, env=environment, timeout=PS_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return answer.stdout.decode("utf-8", "replace").splitlines()
