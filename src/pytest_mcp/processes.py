"""Which processes descend from one, and signals to all of them. Standard library only.

Used by the supervisor, which has nothing else on its path, and by the server for what a supervisor
that was killed leaves behind. Linux is read from /proc; elsewhere `ps` is asked.
"""

import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Collection, Iterable

ON_LINUX = sys.platform.startswith("linux")
ZOMBIE = b"Z"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# ps answers at once, or the machine is beyond help.
PS_SECONDS = 5.0


def become_subreaper() -> ctypes.CDLL | None:
    """Orphans below this process become its children from now on. Linux only; returns libc there."""
    if not ON_LINUX:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    return libc


def descendants(of: int, *, group: int | None = None, sparing: Collection[int] = ()) -> set[int]:
    """Everything alive below a process, except what is spared and what is below that.

    Without a subreaper an orphan's parent is gone, but it keeps its process group: `group` finds it.
    """
    if ON_LINUX:
        parents = {pid: parent for pid, (parent, state) in _linux_table().items() if state != ZOMBIE}
    else:
        parents = _listed_parents(of, group)
    found: set[int] = set()
    front = {of}
    while front:
        front = {pid for pid, parent in parents.items() if parent in front and pid not in sparing} - found
        found |= front
    return found


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def zombies(of: int) -> set[int]:
    """The children of a process that have ended and that nobody has waited for. Linux only."""
    return {pid for pid, (parent, state) in _linux_table().items() if parent == of and state == ZOMBIE}


def _linux_table() -> dict[int, tuple[int, bytes]]:
    """Every process with its parent and its state."""
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as handle:
                # The second field is the program's name in parentheses and may hold anything.
                state, parent = handle.read().rpartition(b")")[2].split()[:2]
                table[int(name)] = (int(parent), state)
    return table


def _listed_parents(of: int, group: int | None) -> dict[int, int]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid="], capture_output=True, text=True, timeout=PS_SECONDS, check=False
    ).stdout
    rows = [tuple(int(field) for field in line.split()) for line in listing.splitlines()]
    return {pid: of if own_group == group else parent for pid, parent, own_group in rows}
