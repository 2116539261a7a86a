"""The only module that starts processes. It knows nothing of pytest.

In come a command and a time limit; out come, while it runs, the lines of its report, and at the end
how it ended and what it printed. The child itself is started, bounded and ended by a `supervisor`; a
run is over when that one has answered, and closing its control pipe is the only order to stop that it
knows. So nothing is left of a run however it ends, and whether or not the server is there to see it.

A child may also be started ahead of its job, and then waits for it. When that is done is decided in `spare`.
Another program that is only asked something has no job and no report; what it is asked is decided in `query`.
"""

import asyncio
import errno
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import Process

from pytest_mcp.events.model import Exit, ReportState
from pytest_mcp.execution import run_folder
from pytest_mcp.execution.background import alongside
from pytest_mcp.execution.command import Command, Launch
from pytest_mcp.execution.reaper import orphanage
from pytest_mcp.execution.report_file import REPORT_LIMIT, OnLine, report_of
from pytest_mcp.execution.run_folder import Folder, FolderError
from pytest_mcp.execution.time_budget import OVERTIME_SECONDS, STOP_SECONDS

# How much of each output stream is kept from its beginning, and as much from its end.
KEPT_OUTPUT = 256 * 1024
# A child that has nothing more to do and does not exit is killed after this.
LINGER_SECONDS = 10.0
# A supervisor that is told to stop and does not go within this time may have been stopped itself: it is continued.
PROMPT_SECONDS = 0.2
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
# The program itself is at fault, not the machine.
_UNUSABLE = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR, errno.EPERM})


class SpawnError(Exception):
    """It could not be started; `unusable` tells that the program is to blame, not the machine."""

    def __init__(self, why: str, number: int | None) -> None:
        super().__init__(why)
        self.unusable = number in _UNUSABLE


@dataclass(frozen=True)
class Started:
    """A supervisor and the folder of its run; with a child that waits for its job, or without one yet."""

    supervisor: Process
    folder: Folder
    launch: Launch
    waits: bool = False

    @property
    def is_alive(self) -> bool:
        return self.supervisor.returncode is None


def prepare() -> None:
    """Once in a process that serves, before the first run: end what others leave, remove what others left."""
    orphanage.open()
    run_folder.remove_abandoned()


async def run(
    command: Command,
    *,
    time_limit: float,
    on_line: OnLine,
    finished: anyio.Event | None = None,
    spare: Started | None = None,
) -> Exit:
    """Start the command, hand on the lines of its report, and see it to its end.

    Whoever reads the lines sets `finished` when they say that the child has nothing more to do. A spare
    that came to nothing before its first word costs nothing but the time of another start.
    """
    done = finished or anyio.Event()
    if spare is not None and (ended := await _carry_out(spare, command, time_limit, on_line, done)):
        return ended
    ended = await _carry_out(await _start(command.launch), command, time_limit, on_line, done)
    assert ended is not None
    return ended


async def start_ahead(launch: Launch) -> Started:
    """A child that makes itself ready and waits for its job."""
    started = await _start(launch)
    assert started.supervisor.stdin is not None
    try:
        await started.supervisor.stdin.send(_order_for_a_job(started, time_limit=None))
    except BaseException:
        with anyio.CancelScope(shield=True):
            await end(started)
        raise
    return replace(started, waits=True)


async def ask(launch: Launch, *, time_limit: float, kept_output: int) -> Exit:
    """Run a program that has no job and reports nothing: how it ended and what it printed."""
    started = await _start(launch)
    try:
        return _exit(await _answer(started, _order(launch, launch.argv, time_limit, kept_output), time_limit))
    finally:
        with anyio.CancelScope(shield=True):
            await end(started)


async def end(started: Started) -> None:
    """End everything of it, however much that is."""
    supervisor = started.supervisor
    assert supervisor.stdin is not None
    await supervisor.stdin.aclose()
    with anyio.move_on_after(PROMPT_SECONDS):
        await supervisor.wait()
    _wake(supervisor)
    with anyio.move_on_after(STOP_SECONDS):
        await supervisor.wait()
    if supervisor.returncode is None:
        supervisor.kill()
        await supervisor.wait()
    await supervisor.aclose()
    orphanage.supervisors.discard(supervisor.pid)
    if supervisor.returncode != 0:
        await orphanage.end_orphans()
    started.folder.remove()


async def _start(launch: Launch) -> Started:
    """A supervisor without a child."""
    orphanage.unborn += 1
    try:
        folder = run_folder.make()
        try:
            supervisor = await _supervisor(folder, launch)
        except BaseException:
            folder.remove()
            raise
        orphanage.supervisors.add(supervisor.pid)
    except FolderError as error:
        raise _no_folder(error) from error
    except OSError as error:
        raise SpawnError(str(error.strerror or error), None) from error
    finally:
        orphanage.unborn -= 1
    return Started(supervisor, folder, launch)


async def _supervisor(folder: Folder, launch: Launch) -> Process:
    return await anyio.open_process(
        [sys.executable, "-I", "-S", str(_SUPERVISOR), str(folder.path)],
        stdin=PIPE,
        stdout=PIPE,
        stderr=None,
        # The child's, not the server's: a test can read the environment of its parent.
        env=dict(launch.env),
        start_new_session=True,
        # With it goes the folder's lock, which it holds as long as it lives.
        pass_fds=(folder.descriptor,),
    )


def _no_folder(error: FolderError) -> SpawnError:
    return SpawnError(f"the temporary folder cannot be used: {error}", None)


async def _carry_out(
    started: Started, command: Command, time_limit: float, on_line: OnLine, finished: anyio.Event
) -> Exit | None:
    """How the child ended, or None for one started ahead that was gone before it had begun."""
    try:
        with report_of(started.folder, command.job, on_line) as report:
            overdue = _stop_when_overdue(started.supervisor, finished)
            async with alongside(report.follow()), alongside(overdue):
                order = _order_to_go(time_limit) if started.waits else _order_for_a_job(started, time_limit=time_limit)
                answer = await _answer(started, order, time_limit)
            await report.read_rest()
            state = report.state
    except FolderError as error:
        if started.waits:
            # Somebody has cleared the temporary folder while it waited.
            return None
        raise _no_folder(error) from error
    finally:
        with anyio.CancelScope(shield=True):
            await end(started)
    if started.waits and _came_to_nothing(answer, report.lines, state):
        return None
    return replace(_exit(answer), report=state)


def _came_to_nothing(answer: dict[str, Any], lines: int, state: ReportState) -> bool:
    """Whether a spare was gone before it had begun; its first word it may say while it dies with its supervisor."""
    match answer.get("reason"):
        case "timeout":
            return False
        case "lost":
            return lines <= 1 and state != "truncated"
    return state == "unwritten"


async def _stop_when_overdue(supervisor: Process, finished: anyio.Event) -> None:
    await finished.wait()
    await anyio.sleep(LINGER_SECONDS)
    assert supervisor.stdin is not None
    await supervisor.stdin.aclose()


def _order_for_a_job(started: Started, *, time_limit: float | None) -> bytes:
    """The child is told where its job lies; without a time limit it waits for one."""
    return _order(started.launch, (*started.launch.argv, str(started.folder.path)), time_limit, KEPT_OUTPUT)


def _order(launch: Launch, argv: tuple[str, ...], time_limit: float | None, kept_output: int) -> bytes:
    order = {
        "argv": argv,
        "cwd": str(launch.cwd),
        "env": dict(launch.env),
        "time_limit": time_limit,
        "kept_output": kept_output,
        "report_limit": REPORT_LIMIT,
    }
    return json.dumps(order).encode() + b"\n"


def _order_to_go(time_limit: float) -> bytes:
    return json.dumps({"time_limit": time_limit}).encode() + b"\n"


async def _answer(started: Started, order: bytes, time_limit: float) -> dict[str, Any]:
    """Give the order; what the supervisor says in the end, or what its silence means."""
    supervisor = started.supervisor
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    nothing = {"stdout": "", "stderr": "", "left_out": 0, "strays": 0, "left": 0}
    silence = {"status": -signal.SIGKILL, "duration": time_limit, **nothing}
    # One that a test has stopped keeps no time; continued, it can still tell what there was.
    at_the_limit = asyncio.get_running_loop().call_later(time_limit, _wake, supervisor)
    with anyio.move_on_after(time_limit + OVERTIME_SECONDS):
        try:
            await supervisor.stdin.send(order)
            said = b"".join([chunk async for chunk in supervisor.stdout])
            answer: dict[str, Any] = json.loads(said)
        except (anyio.BrokenResourceError, ValueError):
            # Somebody killed it, and with it the child, which dies when its supervisor does.
            return {**silence, "reason": "lost"}
        finally:
            at_the_limit.cancel()
        return answer
    # Somebody stops it again and again. It is killed on the way out.
    return {**silence, "reason": "timeout"}


def _wake(supervisor: Process) -> None:
    # Not by its own method, which looks for the exit status first and takes it away from asyncio.
    if supervisor.returncode is None:
        with suppress(OSError):
            os.kill(supervisor.pid, signal.SIGCONT)


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
        left_out=answer["left_out"],
        left=answer["left"],
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
