"""Which calls of all servers and commands of a user run on the cores of this machine, and in which order.

A folder has a file for each core and one for each call. Whoever uses a core has its file locked, and so has a call its
own while it waits or runs. The kernel drops the locks of a process that ends, however it ends, so no core is lost; the
file of a call that nobody has locked is removed by whoever sees it. One core more than there are is only for calls
that may pass others: it takes nothing from those that wait.
"""

import fcntl
import json
import logging
import math
import os
import stat
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import anyio

from pytest_mcp.process import process_tree

# Between two looks at the queue of the first that waits; the others look less often, in the order of their places.
PAUSE_SECONDS = 0.02
MAX_PAUSE_SECONDS = 1.0
# Another process may take the new file of a call for an abandoned one before it is locked.
_ATTEMPTS = 3
_WAITS, _RUNS, _CORE, _PASS = "wait-", "run-", "core-", "pass"
# What a call's file can grow to: a line for each run of the same checkout that began meanwhile.
_MAX_BYTES = 64 * 1024
# File systems of other machines, where a lock may wait for a server that is down.
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "lustre", "gpfs", "beegfs", "fuse")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Need:
    """What a call needs. It starts with any number of cores between `least` and `most`."""

    least: int = 1
    most: int = 1
    # Whether it may use the core that is kept for short calls.
    may_pass: bool = False
    # What other runs should not use at the same time.
    checkout: str | None = None
    # In seconds. Whoever has waited for so long begins with what is free, and one core at least: clients give up.
    patience: float = math.inf


@dataclass
class Held:
    """The cores of one call. `cores` may be more than it has locked: where nothing can be shared, or inside a run."""

    cores: int
    # How many other runs of the same checkout were active at the same time; known when it has ended.
    others: int = 0
    # Whether it began because it had waited for too long.
    is_late: bool = False
    locks: list[int] = field(default_factory=list)

    def free(self) -> None:
        while self.locks:
            os.close(self.locks.pop())


@dataclass(frozen=True)
class CoreQueue:
    folder: Path
    # How many there are.
    cores: int

    @asynccontextmanager
    async def held(self, need: Need, tell: Callable[[int], None]) -> AsyncIterator[Held]:
        """Wait in turn and hold cores during the block. `tell` gets how many calls are before this one, while it waits.

        Where files cannot be locked nobody waits.
        """
        held = Held(need.most)
        async with AsyncExitStack() as ends:
            ends.callback(held.free)
            try:
                ticket = _Ticket.drawn(_usable(self.folder), need.checkout)
                await ends.enter_async_context(_until_over_or_cancelled(partial(ticket.end, held)))
                await self._wait(ticket, need, held, tell)
            except OSError as error:
                logger.info("the cores of this machine cannot be shared: %s", error)
            yield held

    async def _wait(self, ticket: "_Ticket", need: Need, held: Held, tell: Callable[[int], None]) -> None:
        end, is_nested = anyio.current_time() + need.patience, None
        while (cores := self._taken(need, held, ahead := ticket.ahead())) is None:
            # A run that waits for this call was there before it.
            is_nested = ticket.is_nested() if is_nested is None else is_nested
            if is_nested:
                cores = 1 + self._lock(need.most - 1, held)
                break
            if anyio.current_time() >= end:
                # Whoever waits before this call may have stopped, and what it waits for be free.
                cores = max(1, self._lock(need.most, held))
                held.is_late = cores > len(held.locks) or cores < need.least
                break
            tell(ahead)
            await anyio.sleep(min(PAUSE_SECONDS * (ahead + 1), MAX_PAUSE_SECONDS))
        held.cores = cores
        ticket.begin()

    def _taken(self, need: Need, held: Held, ahead: int) -> int | None:
        """How many cores were taken. Only the first that waits takes any: all that it needs at once, or none."""
        if not ahead:
            if (taken := self._lock(need.most, held)) >= min(need.least, self.cores):
                return max(taken, need.least)
            held.free()
        if need.may_pass and (lock := _locked(self.folder / _PASS)) is not None:
            held.locks.append(lock)
            return need.least
        return None

    def _lock(self, most: int, held: Held) -> int:
        # From the last on: processes with fewer cores use the first of them.
        for number in reversed(range(self.cores)):
            if len(held.locks) >= most:
                break
            if (lock := _locked(self.folder / f"{_CORE}{number}")) is not None:
                held.locks.append(lock)
        return len(held.locks)


@asynccontextmanager
async def _until_over_or_cancelled(end: Callable[[], None]) -> AsyncIterator[None]:
    """Call `end` after the block, but at once if the block is cancelled, whatever that has still to clean up.

    A call that is cancelled no longer counts as a run: its processes are gone in a moment.
    """

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            end()

    raised: BaseException | None = None
    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        try:
            yield
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - the group would wrap it
            raised = error
        waiting.cancel_scope.cancel()
    if raised is not None:
        raise raised


class _Ticket:
    """The file of one call. Its name says whether the call waits or runs, and since when, which is its place."""

    def __init__(self, path: Path, lock: int, checkout: str | None) -> None:
        self.path = path
        self.lock = lock
        self.checkout = checkout
        self.others: set[str] = set()

    @classmethod
    def drawn(cls, folder: Path, checkout: str | None) -> "_Ticket":
        for _ in range(_ATTEMPTS):
            # The clock of the machine, the same for all its processes.
            path = folder / f"{_WAITS}{time.monotonic_ns():020d}-{os.urandom(4).hex()}"
            if (lock := _locked(path)) is None:
                continue
            ticket = cls(path, lock, checkout)
            try:
                about = {"process": [process_tree.namespace(), os.getpid()], "checkout": checkout}
                os.write(lock, json.dumps(about).encode() + b"\n")
            except OSError:
                ticket.end()
                raise
            if os.fstat(lock).st_nlink:
                return ticket
            os.close(lock)
        raise BlockingIOError("another process removes every new file")

    def ahead(self) -> int:
        """How many calls that wait came before it."""
        return sum(_is_living(path) for path in self.path.parent.glob(f"{_WAITS}*") if path < self.path)

    def begin(self) -> None:
        """It runs from now on. What runs in the same checkout learns of it, and it of them."""
        self.path = self.path.rename(self.path.with_name(self.path.name.replace(_WAITS, _RUNS)))
        for other in self._runs():
            if self.checkout is not None and _about(other).get("checkout") == self.checkout:
                self.others.add(other.name)
                with suppress(OSError), os.fdopen(os.open(other, os.O_WRONLY | os.O_APPEND), "w") as file:
                    file.write(f"{self.path.name}\n")

    def is_nested(self) -> bool:
        """Whether a run waits for this process: one of its tests makes this call."""
        above = process_tree.ancestors()
        return any(self._process(path) in above for path in self._runs())

    def _process(self, path: Path) -> int:
        """Of another call; 0 if its pid means nothing here."""
        match _about(path).get("process"):
            case [namespace, int(pid)] if namespace == process_tree.namespace():
                return pid
        return 0

    def end(self, held: Held | None = None) -> None:
        """Remove it, and note how many other runs of the same checkout were active meanwhile."""
        with suppress(OSError):
            self.others.update(os.pread(self.lock, _MAX_BYTES, 0).decode("ascii", "replace").splitlines()[1:])
        with suppress(OSError):
            self.path.unlink()
        os.close(self.lock)
        if held is not None:
            held.others = len(self.others)

    def _runs(self) -> list[Path]:
        """The files of other calls that run. Those of all calls that are gone are removed."""
        paths = [path for path in self.path.parent.iterdir() if path.name.startswith((_WAITS, _RUNS))]
        return [path for path in paths if path != self.path and _is_living(path) and path.name.startswith(_RUNS)]


def _is_living(path: Path) -> bool:
    """Whether the call with this file is there. If it is gone, the file is removed."""
    try:
        lock = _locked(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    if lock is not None:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(lock)
    return lock is None


def _usable(folder: Path) -> Path:
    """Created, if it is not there. Raises OSError if it is not this user's own, or on another machine."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = folder.lstat()
    if state.st_uid != os.geteuid() or not stat.S_ISDIR(state.st_mode) or is_remote(state.st_dev):
        raise PermissionError(f"{folder} is not a folder of this user on this machine")
    return folder


@cache
def is_remote(device: int, mounts: Path = Path(process_tree.PROC, "self/mountinfo")) -> bool:
    """Whether the file system is one of another machine. Where nothing tells, it is not."""
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.split(" ", 3)[2] == number and line.partition(" - ")[2].startswith(_REMOTE) for line in lines)


def _locked(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int | None:
    """The descriptor of a file that nobody else has locked; None if somebody has."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return descriptor


def _about(path: Path) -> dict[str, object]:
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        about = json.loads(file.readline(_MAX_BYTES))
        return about if isinstance(about, dict) else {}
    return {}
