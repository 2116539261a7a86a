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
    parents = _linux_parents() if ON_LINUX else _listed_parents(of, group)
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


def _linux_parents() -> dict[int, int]:
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as handle:
                # The second field is the program's name in parentheses and may hold anything.
                state, parent = handle.read().rpartition(b")")[2].split()[:2]
                if state != b"Z":
                    parents[int(name)] = int(parent)
    return parents


def _listed_parents(of: int, group: int | None) -> dict[int, int]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid="], capture_output=True, text=True, timeout=PS_SECONDS, check=False
    ).stdout
    rows = [tuple(int(field) for field in line.split()) for line in listing.splitlines()]
    return {pid: of if own_group == group else parent for pid, parent, own_group in rows}
