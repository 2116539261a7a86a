"""The only module that starts processes. It knows nothing of pytest.

In come a command and a time limit; out come, while it runs, the lines of its report, and at the end
how it ended and what it printed. The child itself is started, bounded and ended by a `supervisor`; a
run is over when that one has answered, and closing its control pipe is the only order it knows. So
nothing is left of a run however it ends, and whether or not the server is there to see it.
"""

import errno
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import Process

from pytest_mcp.background import alongside
from pytest_mcp.command import Command
from pytest_mcp.events import Exit

# How much of each output stream is kept from its beginning, and as much from its end.
KEPT_OUTPUT = 256 * 1024
# How often a running child's report is looked at; only progress waits for it, never the answer.
POLL_SECONDS = 0.1
# What a supervisor may take to end everything after it was told to.
STOP_SECONDS = 8.0
# One line of the report; longer ones can only be garbage.
LONGEST_LINE = 64 * 1024 * 1024
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
    rest: bytes = b""

    def read(self) -> None:
        while chunk := os.pread(self.descriptor, _CHUNK, self.offset):
            self.offset += len(chunk)
            *lines, self.rest = (self.rest + chunk).split(b"\n")
            for line in filter(None, lines):
                self.on_line(line)
            if len(self.rest) > LONGEST_LINE:
                self.rest = b""

    async def follow(self) -> None:
        while True:
            self.read()
            await anyio.sleep(POLL_SECONDS)


async def run(command: Command, *, time_limit: float, on_line: Callable[[bytes], None]) -> Exit:
    """Start the command, hand on the lines of its report, and see it to its end."""
    with _run_folder(command.job, on_line) as (folder, report):
        order = {
            "argv": [*command.argv, str(folder)],
            "cwd": str(command.cwd),
            "env": dict(command.env),
            "time_limit": time_limit,
            "kept_output": KEPT_OUTPUT,
            "folder": str(folder),
        }
        async with alongside(report.follow()):
            answer = await _supervised(order)
        report.read()
    return _exit(answer)


async def _supervised(order: dict[str, Any]) -> dict[str, Any]:
    """Let a supervisor carry out the order; on cancellation, wait until it has ended everything."""
    try:
        supervisor = await anyio.open_process(
            [sys.executable, "-I", "-S", str(_SUPERVISOR)], stdin=PIPE, stdout=PIPE, stderr=None, start_new_session=True
        )
    except OSError as error:
        raise SpawnError(str(error.strerror or error), None) from error
    try:
        return await _answer(supervisor, json.dumps(order).encode())
    finally:
        with anyio.CancelScope(shield=True):
            await _end(supervisor)


async def _answer(supervisor: Process, order: bytes) -> dict[str, Any]:
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    try:
        await supervisor.stdin.send(order + b"\n")
        said = b"".join([chunk async for chunk in supervisor.stdout])
        answer = json.loads(said)
    except (anyio.BrokenResourceError, ValueError):
        # Somebody killed it, and with it the child, which dies when its supervisor does.
        return {"status": -signal.SIGKILL, "reason": "lost", "duration": 0.0, "stdout": "", "stderr": "", "strays": 0}
    assert isinstance(answer, dict)
    return answer


async def _end(supervisor: Process) -> None:
    assert supervisor.stdin is not None
    await supervisor.stdin.aclose()
    with anyio.move_on_after(STOP_SECONDS):
        await supervisor.wait()
    if supervisor.returncode is None:
        supervisor.kill()
    await supervisor.aclose()


def _exit(answer: dict[str, Any]) -> Exit:
    if "spawn_error" in answer:
        raise SpawnError(answer["spawn_error"], answer["errno"])
    status = answer["status"]
    ended = status is not None
    return Exit(
        code=status if ended and status >= 0 else None,
        signal=_signal_name(-status) if ended and status < 0 else None,
        timed_out=answer["reason"] == "timeout",
        duration=answer["duration"],
        stdout=answer["stdout"].replace("\r\n", "\n"),
        stderr=answer["stderr"].replace("\r\n", "\n"),
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


@contextmanager
def _run_folder(job: Any, on_line: Callable[[bytes], None]) -> Iterator[tuple[Path, Report]]:
    """A private folder with the job and the empty report; the supervisor removes it too, should we die first."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="pytest-mcp-"))
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        descriptor = os.open(folder / "report", os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SpawnError(f"the temporary folder cannot be used: {error}", None) from error
    try:
        yield folder, Report(descriptor, on_line)
    finally:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)
