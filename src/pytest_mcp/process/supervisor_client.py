"""What passes between the event loop and one supervisor: orders, its answer, its end. Nothing of pytest.

The supervisor starts, bounds and ends the child, and closing its stdin is the order to stop at once. So nothing is
left of a run however it ends, even if the server is killed. What it is ordered to do is decided in `process`, how it
is started and stopped in `start`.
"""

import asyncio
import os
import signal
import time
from contextlib import suppress
from typing import Literal

import anyio

from pytest_mcp.process import interruption, linux, process_tree, start
from pytest_mcp.process.background import alongside, in_thread
from pytest_mcp.process.exit import Exit
from pytest_mcp.process.messages import Answer, Go, NotStarted, Order, Start, decode_answer, encode
from pytest_mcp.process.start import Started
from pytest_mcp.process.stop_timeouts import OVERTIME_SECONDS

# The longest that ending orphans may take.
ORPHAN_SECONDS = 2.0
ORPHAN_PAUSE_SECONDS = 0.01
CHUNK = 65536


async def send(started: Started, order: Order) -> None:
    """Raises OSError or ValueError if it has ended or was told to stop. One that reads nothing blocks nobody else."""
    pipe = started.stdin.fileno()
    os.set_blocking(pipe, False)
    rest = encode(order)
    while rest:
        try:
            rest = rest[os.write(pipe, rest) :]
        except BlockingIOError:
            await anyio.wait_writable(pipe)


async def answer(started: Started, order: Start | Go, time_limit: float) -> Exit | NotStarted:
    """Send the order and wait for the answer; without one, what that means."""
    # One that a test has stopped does not notice the time limit; continued, it can still report what there was.
    at_the_limit = asyncio.get_running_loop().call_later(time_limit, started.proceed)
    with anyio.move_on_after(time_limit + OVERTIME_SECONDS):
        try:
            await send(started, order)
            async with alongside(_pass_on_interruption(started)):
                return _received(decode_answer(await _printed(started)))
        except (OSError, ValueError):
            # It was killed, and with it the child, which dies when its supervisor does.
            return _without_answer("lost", time_limit)
        finally:
            at_the_limit.cancel()
    # Something stops it again and again. `end` kills it.
    return _without_answer("timeout", time_limit)


async def end(started: Started) -> None:
    """End the supervisor and every process of its run, and remove the folder; also if the call is cancelled."""
    with anyio.CancelScope(shield=True):
        # Before anything else: a run that starts processes without end may leave no room for a thread.
        started.tell_to_stop()
        await in_thread(started.stop)
        if started.supervisor.returncode != 0:
            await reaper.end_orphans(str(started.folder.path))
        started.folder.remove()


async def _pass_on_interruption(started: Started) -> None:
    if (current := interruption.of_call.get()) is None:
        return
    await current.asked.wait()
    if not current.forced.is_set():
        # It may have ended meanwhile.
        with suppress(OSError, ValueError):
            await send(started, {"kind": "interrupt"})
        await current.forced.wait()
    started.tell_to_stop()


async def _printed(started: Started) -> bytes:
    pipe, printed = started.stdout.fileno(), bytearray()
    await anyio.wait_readable(pipe)
    while chunk := os.read(pipe, CHUNK):
        printed += chunk
        await anyio.wait_readable(pipe)
    return bytes(printed)


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


class Reaper:
    """Kills what a killed supervisor leaves behind. Any other supervisor leaves nothing.

    On Linux these are orphans that become children of the server, their subreaper. Elsewhere they are found by the
    folder of the run on their command line. Only a process that serves and starts nothing but supervisors may `open`
    it: every other process below it counts as an orphan.
    """

    def __init__(self) -> None:
        self.is_open = False

    def open(self) -> None:
        self.is_open = linux.become_subreaper()

    async def end_orphans(self, folder: str) -> None:
        """After the supervisor of the run in this folder was killed."""
        if not linux.IS_USED:
            await in_thread(lambda: process_tree.end_named(folder, ORPHAN_SECONDS))
        own = os.getpid()
        end = time.monotonic() + ORPHAN_SECONDS
        while self.is_open and time.monotonic() < end:
            orphans = linux.descendants(own, sparing=start.running)
            process_tree.end_all(orphans)
            # Some are zombies already: the child of a killed supervisor dies with it.
            dead = linux.zombies(own) - start.running
            for pid in dead:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if not orphans and not dead:
                return
            await anyio.sleep(ORPHAN_PAUSE_SECONDS)


# The state of this process, one subreaper for all runs: changed by `process.prepare` only.
reaper = Reaper()
