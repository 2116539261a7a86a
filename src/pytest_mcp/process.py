"""The only module that starts processes. It knows nothing of pytest.

In come a command and a time limit; out come, while it runs, the lines of its report, and at the end
how it ended and what it printed. The child itself is started, bounded and ended by a `supervisor`; a
run is over when that one has answered, and closing its control pipe is the only order it knows. So
nothing is left of a run however it ends, and whether or not the server is there to see it.
"""

import errno
import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import Process

from pytest_mcp import processes
from pytest_mcp.background import alongside
from pytest_mcp.command import Command
from pytest_mcp.events import Exit

# How much of each output stream is kept from its beginning, and as much from its end.
KEPT_OUTPUT = 256 * 1024
# A report that grows beyond this fills the disk with something that is no report; the run is ended.
REPORT_LIMIT = 512 * 1024 * 1024
# How often a running child's report is looked at; only progress waits for it, never the answer.
POLL_SECONDS = 0.1
# A child that has reported its end and does not go is ended after this.
LINGER_SECONDS = 5.0
# What a supervisor may take beyond the time limit to end everything and say so.
OVERTIME_SECONDS = 4.0
# What it may take to do so when it is told to stop.
STOP_SECONDS = 1.5
# What ending the orphans of a killed supervisor may take.
ORPHAN_SECONDS = 5.0
ORPHAN_PAUSE_SECONDS = 0.01
# One line of the report; longer ones can only be garbage.
LONGEST_LINE = 32 * 1024 * 1024
_CHUNK = 256 * 1024
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
# The program itself is at fault, not the machine.
_UNUSABLE = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR, errno.EPERM})


class SpawnError(Exception):
    """It could not be started; `unusable` tells that the program is to blame, not the machine."""

    def __init__(self, why: str, number: int | None) -> None:
        super().__init__(why)
        self.unusable = number in _UNUSABLE


@dataclass
class Report:
    """The file the child appends records to. Opened before the child starts, read as it grows."""

    descriptor: int
    on_line: Callable[[bytes], None]
    offset: int = 0
    pieces: list[bytes] = field(default_factory=list)
    length: int = 0

    async def read(self) -> None:
        """All that is there by now, in steps that let others run."""
        while self.offset < REPORT_LIMIT and (chunk := os.pread(self.descriptor, _CHUNK, self.offset)):
            self.offset += len(chunk)
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                self._end_line(end)
            self._keep(rest)
            await anyio.sleep(0)

    def _keep(self, piece: bytes) -> None:
        self.length += len(piece)
        # A line that is too long already is only counted, not kept.
        self.pieces = [*self.pieces, piece] if self.length <= LONGEST_LINE else []

    def _end_line(self, end: bytes) -> None:
        self._keep(end)
        line = b"".join(self.pieces)
        self.pieces, self.length = [], 0
        if line:
            self.on_line(line)

    async def follow(self) -> None:
        while True:
            await self.read()
            await anyio.sleep(POLL_SECONDS)


class Orphanage:
    """What a supervisor that was killed leaves behind comes to the server and is ended here.

    Only a process that serves and starts nothing but supervisors may `open` it: everything else
    that it finds below itself it takes for an orphan.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.supervisors: set[int] = set()
        # Supervisors that are being started: there already, but nobody knows their numbers yet.
        self.unborn = 0

    def open(self) -> None:
        self.is_open = processes.become_subreaper() is not None

    async def end_orphans(self) -> None:
        own = os.getpid()
        end = time.monotonic() + ORPHAN_SECONDS
        while self.is_open and time.monotonic() < end:
            if self.unborn:
                await anyio.sleep(ORPHAN_PAUSE_SECONDS)
                continue
            orphans = processes.descendants(own, sparing=self.supervisors)
            processes.signal_all(orphans, signal.SIGSTOP)
            processes.signal_all(orphans, signal.SIGKILL)
            # Some come to us dead already: the child of a killed supervisor dies with it.
            dead = processes.zombies(own) - self.supervisors
            for pid in dead:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if not orphans and not dead:
                return
            await anyio.sleep(ORPHAN_PAUSE_SECONDS)


orphanage = Orphanage()


async def run(
    command: Command, *, time_limit: float, on_line: Callable[[bytes], None], finished: anyio.Event | None = None
) -> Exit:
    """Start the command, hand on the lines of its report, and see it to its end.

    Whoever reads the lines sets `finished` when they say that the child has nothing more to do.
    """
    async with _supervisor(command.env) as (supervisor, folder):
        with _run_folder(folder, command.job, on_line) as report:
            order = {
                "argv": [*command.argv, str(folder)],
                "cwd": str(command.cwd),
                "env": dict(command.env),
                "time_limit": time_limit,
                "kept_output": KEPT_OUTPUT,
                "report_limit": REPORT_LIMIT,
            }
            overdue = _stop_when_overdue(supervisor, finished or anyio.Event())
            async with alongside(report.follow()), alongside(overdue):
                answer = await _answer(supervisor, order)
            await report.read()
    return _exit(answer)


@asynccontextmanager
async def _supervisor(env: Mapping[str, str]) -> AsyncIterator[tuple[Process, Path]]:
    """A waiting supervisor, and the folder it will remove. On the way out everything of it is ended.

    It is told of the folder before that exists, so that no moment to be killed at leaves one behind.
    """
    orphanage.unborn += 1
    try:
        folder = Path(tempfile.gettempdir(), f"pytest-mcp-{secrets.token_hex(8)}")
        supervisor = await anyio.open_process(
            [sys.executable, "-I", "-S", str(_SUPERVISOR), str(folder)],
            stdin=PIPE,
            stdout=PIPE,
            stderr=None,
            # The child's, not the server's: a test can read the environment of its parent.
            env=dict(env),
            start_new_session=True,
        )
    except OSError as error:
        raise SpawnError(str(error.strerror or error), None) from error
    else:
        orphanage.supervisors.add(supervisor.pid)
    finally:
        orphanage.unborn -= 1
    try:
        yield supervisor, folder
    finally:
        with anyio.CancelScope(shield=True):
            await _end(supervisor)


async def _stop_when_overdue(supervisor: Process, finished: anyio.Event) -> None:
    await finished.wait()
    await anyio.sleep(LINGER_SECONDS)
    assert supervisor.stdin is not None
    await supervisor.stdin.aclose()


async def _answer(supervisor: Process, order: dict[str, Any]) -> dict[str, Any]:
    """What the supervisor says in the end, or what its silence means."""
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    silence = {"status": -signal.SIGKILL, "duration": order["time_limit"], "stdout": "", "stderr": "", "strays": 0}
    with anyio.move_on_after(order["time_limit"] + OVERTIME_SECONDS):
        try:
            await supervisor.stdin.send(json.dumps(order).encode() + b"\n")
            said = b"".join([chunk async for chunk in supervisor.stdout])
            answer: dict[str, Any] = json.loads(said)
        except (anyio.BrokenResourceError, ValueError):
            # Somebody killed it, and with it the child, which dies when its supervisor does.
            return {**silence, "reason": "lost"}
        return answer
    # Somebody has stopped it, so that it keeps no time. It is killed on the way out.
    return {**silence, "reason": "timeout"}


async def _end(supervisor: Process) -> None:
    assert supervisor.stdin is not None
    await supervisor.stdin.aclose()
    with anyio.move_on_after(STOP_SECONDS):
        await supervisor.wait()
    if supervisor.returncode is None:
        supervisor.kill()
        await supervisor.wait()
    await supervisor.aclose()
    orphanage.supervisors.discard(supervisor.pid)
    if supervisor.returncode != 0:
        await orphanage.end_orphans()


def _exit(answer: dict[str, Any]) -> Exit:
    if "spawn_error" in answer:
        raise SpawnError(answer["spawn_error"], answer["errno"])
    status = answer["status"]
    ended = status is not None
    return Exit(
        code=status if ended and status >= 0 else None,
        signal=_signal_name(-status) if ended and status < 0 else None,
        reason=answer["reason"],
        duration=answer["duration"],
        stdout=answer["stdout"].replace("\r\n", "\n"),
        stderr=answer["stderr"].replace("\r\n", "\n"),
        strays=answer["strays"],
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


@contextmanager
def _run_folder(folder: Path, job: Any, on_line: Callable[[bytes], None]) -> Iterator[Report]:
    """A private folder with the job and the empty report. The supervisor removes it too, should we die first."""
    try:
        folder.mkdir(mode=0o700)
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        descriptor = os.open(folder / "report", os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SpawnError(f"the temporary folder cannot be used: {error}", None) from error
    try:
        yield Report(descriptor, on_line)
    finally:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)
