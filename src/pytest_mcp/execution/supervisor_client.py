"""The server's side of one supervisor: start it, give it an order, wait for its answer, end it. Nothing of pytest.

In come a launch and an order; out comes how the child ended. The supervisor starts, bounds and ends the child, and
closing its stdin is the order to stop at once. So nothing is left of a run however it ends, even if the
server is killed. What it is ordered to do is decided in `process`.
"""

import asyncio
import errno
import os
import signal
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from subprocess import PIPE
from typing import Literal

import anyio
from anyio.abc import Process

from pytest_mcp.events.exit import Exit
from pytest_mcp.execution.background import alongside, to_the_end
from pytest_mcp.execution.folder import run_folder
from pytest_mcp.execution.folder.run_folder import Folder, FolderError
from pytest_mcp.execution.messages import Answer, Go, Interrupt, NotStarted, Start, decode_answer, encode
from pytest_mcp.execution.reaper import reaper
from pytest_mcp.execution.start import first_order
from pytest_mcp.execution.start.adopted import Adopted
from pytest_mcp.execution.start.early import Early
from pytest_mcp.execution.start.launch import Launch
from pytest_mcp.execution.stop_timeouts import OVERTIME_SECONDS, STOP_SECONDS

# Set by a command that can be interrupted: when this event comes, the child of its run gets SIGINT and some time to
# clean up. A client's call has none, it is cancelled.
interruption: ContextVar[anyio.Event | None] = ContextVar("interruption", default=None)
# A supervisor that is told to stop and does not exit within this time may have been stopped itself: it is continued.
PROMPT_SECONDS = 0.2
# The program itself is at fault, not the machine.
_UNUSABLE = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR, errno.EPERM})


class SpawnError(Exception):
    """It could not be started. `unusable` means that the program is the cause, not the machine."""

    def __init__(self, why: str, number: int | None = None) -> None:
        super().__init__(why)
        self.unusable = number in _UNUSABLE


@dataclass(frozen=True)
class Started:
    """A supervisor and the folder of its run. If it `waits`, it has a child that waits for its job."""

    supervisor: Process
    folder: Folder
    launch: Launch
    waits: bool = False

    @property
    def is_alive(self) -> bool:
        return self.supervisor.returncode is None


async def start(launch: Launch) -> Started:
    """A supervisor without a child."""
    reaper.starting += 1
    try:
        folder = run_folder.make()
        try:
            # Cancelled half-way, asyncio would kill the first of the two processes, and wait without a limit for the
            # end of pipes that the second keeps open.
            supervisor, cancelled = await to_the_end(_open(folder, launch))
        except BaseException:
            folder.remove()
            raise
        reaper.supervisors.add(supervisor.pid)
    except FolderError as error:
        raise no_folder(error) from error
    except OSError as error:
        raise SpawnError(str(error.strerror or error)) from error
    finally:
        reaper.starting -= 1
    started = Started(supervisor, folder, launch)
    if cancelled is not None:
        with anyio.CancelScope(shield=True):
            await end(started)
        raise cancelled
    return started


def adopt(early: Early) -> Started:
    """A child that was started before there was an event loop. Whoever adopts it must end it."""
    assert early.launch is not None
    early.is_adopted = True
    reaper.supervisors.add(early.supervisor.pid)
    return Started(Adopted(early.supervisor), early.folder, early.launch, waits=True)


def no_folder(error: FolderError) -> SpawnError:
    return SpawnError(f"the temporary folder cannot be used: {error}")


async def answer(started: Started, order: Start | Go, time_limit: float) -> Exit | NotStarted:
    """Send the order and wait for the answer; without one, what that means."""
    supervisor = started.supervisor
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    # One that a test has stopped does not notice the time limit; continued, it can still report what there was.
    at_the_limit = asyncio.get_running_loop().call_later(time_limit, _continue, supervisor)
    with anyio.move_on_after(time_limit + OVERTIME_SECONDS):
        try:
            await supervisor.stdin.send(encode(order))
            async with alongside(_pass_on_interruption(supervisor)):
                return _received(decode_answer(b"".join([chunk async for chunk in supervisor.stdout])))
        except (anyio.BrokenResourceError, ValueError):
            # It was killed, and with it the child, which dies when its supervisor does.
            return _without_answer("lost", time_limit)
        finally:
            at_the_limit.cancel()
    # Something stops it again and again. `end` kills it.
    return _without_answer("timeout", time_limit)


async def end(started: Started) -> None:
    """End the supervisor and every process of its run, and remove the folder."""
    supervisor = started.supervisor
    assert supervisor.stdin is not None
    await supervisor.stdin.aclose()
    with anyio.move_on_after(PROMPT_SECONDS):
        await supervisor.wait()
    _continue(supervisor)
    with anyio.move_on_after(STOP_SECONDS):
        await supervisor.wait()
    if supervisor.returncode is None:
        supervisor.kill()
        await supervisor.wait()
    await supervisor.aclose()
    reaper.supervisors.discard(supervisor.pid)
    if supervisor.returncode != 0:
        await reaper.end_orphans(str(started.folder.path))
    started.folder.remove()


async def _pass_on_interruption(supervisor: Process) -> None:
    if (event := interruption.get()) is None:
        return
    await event.wait()
    assert supervisor.stdin is not None
    order: Interrupt = {"kind": "interrupt"}
    # It has ended meanwhile, or was told to stop at once.
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await supervisor.stdin.send(encode(order))


async def _open(folder: Folder, launch: Launch) -> Process:
    return await anyio.open_process(
        first_order.supervisor(folder.path),
        stdin=PIPE,
        stdout=PIPE,
        stderr=None,
        env=first_order.variables(launch.env),
        start_new_session=True,
        # The folder's lock: held as long as the supervisor lives.
        pass_fds=(folder.descriptor,),
    )


def _continue(supervisor: Process) -> None:
    # Not by its own method, which polls for the exit status first and takes it away from asyncio.
    if supervisor.returncode is None:
        with suppress(OSError):
            os.kill(supervisor.pid, signal.SIGCONT)


def _received(said: Answer) -> Exit | NotStarted:
    if said["kind"] == "not_started":
        return said
    status = said["status"]
    return Exit(
        code=status if status is not None and status >= 0 else None,
        signal=_signal_name(-status) if status is not None and status < 0 else None,
        reason=said["reason"],
        duration=said["duration"],
        stdout=said["stdout"].replace("\r\n", "\n"),
        stderr=said["stderr"].replace("\r\n", "\n"),
        strays=said["strays"],
        left_out=said["left_out"],
        left=said["left"],
    )


def _without_answer(reason: Literal["lost", "timeout"], time_limit: float) -> Exit:
    return Exit(code=None, signal="SIGKILL", reason=reason, duration=time_limit, stdout="", stderr="")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
