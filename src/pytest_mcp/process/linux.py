"""What only Linux can do for us: subreapers, parent death signals, /proc, and waiting without reaping.

No other module of `execution` makes such a call. Every caller has another way for a system without it:
`become_subreaper` returns False there, and `process_tree` asks `ps`. Standard library only.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Collection, Iterator

# With the value 1 it switches all of this off, which shows on Linux what happens elsewhere. The server hands it on to
# supervisors; it reaches no test.
SWITCH = "PYTEST_MCP_PORTABLE"
IS_USED = sys.platform.startswith("linux") and os.environ.get(SWITCH) != "1"
HANDED_ON = {name: os.environ[name] for name in (SWITCH,) if name in os.environ}
PROC = "/proc"
ZOMBIE = b"Z"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# The largest pid on Linux.
MOST_PROCESSES = 4 * 1024 * 1024
# Loaded once, because nothing can be loaded safely between fork and exec.
_LIBC = ctypes.CDLL(None)


def become_subreaper() -> bool:
    """Orphans below this process become its children from now on. Linux only, and not where that is forbidden."""
    return IS_USED and _prctl(PR_SET_CHILD_SUBREAPER, 1)


def ask_for_a_signal_at_the_parents_end(number: int) -> None:
    if IS_USED:
        _prctl(PR_SET_PDEATHSIG, number)


def _prctl(option: int, value: int) -> bool:
    return bool(_LIBC.prctl(option, value) == 0)


class Adopted:
    """For a subreaper: orphaned descendants become children of this process."""

    def __init__(self, child: int) -> None:
        self.child = child

    def note(self) -> None:
        pass

    def alive(self) -> set[int]:
        # /proc may be hidden or not mounted, and then shows nothing.
        return descendants(os.getpid()) or _children_since(self.child)


def descendants(of: int, *, sparing: Collection[int] = ()) -> set[int]:
    """Every live descendant of a process, except those spared and their descendants."""
    parents = {pid: parent for pid, (parent, state) in _table().items() if state != ZOMBIE}
    found: set[int] = set()
    front = {of}
    while front:
        front = {pid for pid, parent in parents.items() if parent in front and pid not in sparing} - found
        found |= front
    return found


def zombies(of: int) -> set[int]:
    """The children of a process that have ended and were not waited for."""
    return {pid for pid, (parent, state) in _table().items() if parent == of and state == ZOMBIE}


def _table() -> dict[int, tuple[int, bytes]]:
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


def wait_without_reaping(child: int) -> None:
    """Until it has ended; its pid stays valid."""
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)


def _is_a_living_child(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False
