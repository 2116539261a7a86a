"""One forked copy of this process at a time, with limits: it runs something and reports it in a file of its own.

The project's code in it may do anything: close descriptors, hang, fork, fill disk and memory, kill its parent. So the
report is a file that is opened by its path, all of its processes are one group, which is killed when the fork is over,
and what it costs is limited: in time of the processor, which other processes cannot use up, and far wider on the clock.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import signal
import stat
import tempfile
import time
from contextlib import suppress
from typing import Any, Callable, NamedTuple

from channel import Channel

# Waiting for a fork, in seconds: most are over within milliseconds.
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.02
# The most that it may write into one file, and need of memory more than it was born with, in bytes.
MAX_FILE = 256 * 1024**2
MAX_MEMORY = 3 * 1024**3
# Beyond this no descriptor is looked at.
MAX_DESCRIPTOR = 1024

fork, waitpid, killpg, monotonic, sleep = os.fork, os.waitpid, os.killpg, time.monotonic, time.sleep

Say = Callable[..., Any]


class Limit(NamedTuple):
    """In seconds: of the processor, and on the clock."""

    cpu: float
    clock: float


class ForkEnd(NamedTuple):
    """What it reported, record by record; and how it ended: `done`, `died` or `late`."""

    records: list[dict[str, Any]]
    how: str


class Forks:
    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, "forks")
        os.makedirs(self.folder, exist_ok=True)
        self.count = 0
        self.offsets: dict[int, int] = {}

    def remember_offsets(self) -> None:
        """Of files that are open for reading: forks share them, and each must find them as they are now."""
        for descriptor in range(3, MAX_DESCRIPTOR):
            with suppress(OSError):
                is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
                if is_file and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                    self.offsets[descriptor] = os.lseek(descriptor, 0, os.SEEK_CUR)

    def run(self, work: Callable[[Say], None], limit: Limit) -> ForkEnd:
        """Raises OSError if there is no room for one more process."""
        self.count += 1
        report = os.path.join(self.folder, "%d" % self.count)
        os.mkdir(report + ".tmp")
        with open(report, "wb"):
            pass
        for descriptor, offset in self.offsets.items():
            with suppress(OSError):
                os.lseek(descriptor, offset, os.SEEK_SET)
        pid = fork()
        if pid == 0:
            self.become(report, work, limit)
        try:
            is_late = not self.has_ended(pid, limit)
        finally:
            with suppress(OSError):
                killpg(pid, signal.SIGKILL)
            shutil.rmtree(report + ".tmp", ignore_errors=True)
        records = read(report)
        os.unlink(report)
        is_done = bool(records) and records[-1]["k"] == "done"
        return ForkEnd(records, "done" if is_done else "late" if is_late else "died")

    def has_ended(self, pid: int, limit: Limit) -> bool:
        """False if it was stopped by one of its limits."""
        end, pause = monotonic() + limit.clock, FIRST_PAUSE
        while monotonic() < end:
            ended, status = waitpid(pid, os.WNOHANG)
            if ended:
                return not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)
            sleep(pause)
            pause = min(LONGEST_PAUSE, 1.2 * pause)
        with suppress(OSError):
            killpg(pid, signal.SIGKILL)
        waitpid(pid, 0)
        return False

    def become(self, report: str, work: Callable[[Say], None], limit: Limit) -> None:
        """In the fork. It ends without exit handlers, which are the parent's."""
        try:
            os.setpgid(0, 0)
            confine(limit)
            tempfile.tempdir = os.environ["TMPDIR"] = report + ".tmp"
            say = Channel(report).emit
            work(say)
            say("done")
        finally:
            os._exit(0)


def confine(limit: Limit) -> None:
    seconds = max(1, round(limit.cpu))
    # A project can catch the first signal; the second one kills.
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, MAX_FILE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + MAX_MEMORY),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (bound, hard if kind == resource.RLIMIT_CPU else bound))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)


def read(report: str) -> list[dict[str, Any]]:
    """Whole records only: the project's code can write into any file."""
    records = []
    with suppress(OSError), open(report, "rb") as handle:
        for line in handle.read(MAX_FILE).split(b"\n"):
            with suppress(ValueError):
                record = json.loads(line) if line else None
                if isinstance(record, dict) and isinstance(record.get("k"), str):
                    records.append(record)
    return records


def allow(seconds: float) -> None:
    """So much more time of the processor from now on, for what runs next in this fork."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = max(1, round(used.ru_utime + used.ru_stime + seconds))
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
