"""Run one command to its end, by a supervisor. It knows nothing of pytest.

The supervisor starts, bounds and ends the child, and closing its stdin is the order to stop at once. So nothing is
left of a run however it ends, even if the server is killed. A child may also be started ahead of its job, and then
waits for it: `spare` decides when. A program that is only asked something has no job and no report. How a supervisor
is started and stopped is in `start`.
"""

import asyncio
import json
import os
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio

from pytest_mcp.process import interruption, process_tree, run_folder, start
from pytest_mcp.process import supervisor_protocol as protocol
from pytest_mcp.process.background import alongside, in_thread
from pytest_mcp.process.job import Command, Exit, Launch, ReportState, SpawnError
from pytest_mcp.process.report_file import OnLine, ReportReader, report_in
from pytest_mcp.process.run_folder import FolderError
from pytest_mcp.process.start import Supervision, Waiting
from pytest_mcp.process.supervisor_protocol import Go, NotStarted, Order, Reason, Start

# How much is kept of the beginning of a stderr that is read only when a program fails, and as much of its end.
COMPLAINT = 4 * 1024
# A child that has nothing more to do and does not exit is killed after this.
LINGER_SECONDS = 10.0
# The longest that ending orphans may take.
ORPHAN_SECONDS = 2.0
ORPHAN_PAUSE_SECONDS = 0.01
CHUNK = 65536


async def run(
    command: Command,
    *,
    time_limit: float,
    on_line: OnLine,
    finished: anyio.Event | None = None,
    spare: Waiting | None = None,
) -> Exit:
    """Start the command, pass on the lines of its report, and wait for its end.

    Whoever reads the lines sets `finished` when they say that the child has nothing more to do. If the spare
    ended before it began, the command is started again without one.
    """
    done = finished or anyio.Event()
    ended = None
    if spare is not None:
        ended = await _carry_out(spare, command, time_limit, on_line, done)
    if ended is None:
        ended = await _carry_out(start.supervisor(command.launch.env), command, time_limit, on_line, done)
    assert ended is not None
    by = interruption.signal_that_stopped()
    is_ended_by_it = by is not None and ended.reason in ("stopped", "lost")
    return replace(ended, code=None, signal=None, stopped_by=by) if is_ended_by_it else ended


async def start_ahead(launch: Launch, environment: object) -> Waiting:
    """A child that imports what every run needs and waits for its job."""
    started = start.supervisor(launch.env)
    try:
        # If the supervisor is gone already, nobody uses it.
        with suppress(OSError):
            await _send(started, start.order_for_a_job(started, launch, time_limit=None))
    except BaseException:
        await end(started)
        raise
    return Waiting(started.supervisor, started.folder, started.ended, launch, environment)


async def ask(launch: Launch, *, time_limit: float, kept_output: int) -> Exit:
    """Run a program that has no job and reports nothing: how it ended and what it printed."""
    started = start.supervisor(launch.env)
    try:
        return _began(await _answer(started, start.order(launch, time_limit, kept_output), time_limit))
    finally:
        await end(started)


async def ask_for_bytes(launch: Launch, given: bytes, *, time_limit: float, most: int) -> tuple[Exit, bytes]:
    """Run a program with this stdin: how it ended and all of its stdout, which can be long and need not be text.

    If that is more than `most` bytes, the reason is `overflow`.
    """
    started = start.supervisor(launch.env)
    try:
        with report_in(started.folder, "input", given) as output:
            order = start.order(launch, time_limit, COMPLAINT)
            order |= {"report_limit": most, "redirected": True}
            ended = _began(await _answer(started, order, time_limit))
            size = os.fstat(output).st_size
            return (replace(ended, reason="overflow"), b"") if size > most else (ended, os.pread(output, size, 0))
    finally:
        await end(started)


async def end(started: Supervision) -> None:
    """End the supervisor and every process of its run, and remove the folder; also if the call is cancelled."""
    with anyio.CancelScope(shield=True):
        # Before anything else: a run that starts processes without end may leave no room for a thread.
        started.tell_to_stop()
        await in_thread(started.stop)
        if started.supervisor.returncode != 0:
            await _reaper.end_orphans(str(started.folder.path))
        started.folder.remove()


async def _carry_out(
    started: Supervision, command: Command, time_limit: float, on_line: OnLine, finished: anyio.Event
) -> Exit | None:
    """How the child ended, or None for a spare that ended before it began."""
    order: Start | Go = {"kind": "go", "time_limit": time_limit}
    is_spare = isinstance(started, Waiting)
    if not is_spare:
        order = start.order_for_a_job(started, command.launch, time_limit=time_limit)
    try:
        with report_in(started.folder, "job.json", json.dumps(command.job).encode()) as descriptor:
            report = ReportReader(descriptor, on_line)
            async with alongside(report.follow()), alongside(_stop_when_overdue(started, finished)):
                answer = await _answer(started, order, time_limit)
            await report.read(has_ended=True)
            state = report.state
    except FolderError:
        if is_spare:
            # The temporary folder was cleared while it waited.
            return None
        raise
    finally:
        await end(started)
    if is_spare and _came_to_nothing(answer, report.lines, state):
        return None
    return replace(_began(answer), report=state)


def _came_to_nothing(answer: Exit | NotStarted, lines: int, state: ReportState) -> bool:
    """Whether a spare ended before it began. One that dies with its supervisor may have written its first line."""
    reason = answer.reason if isinstance(answer, Exit) else None
    if reason == "lost":
        return lines <= 1 and state != "truncated"
    return reason != "timeout" and state == "unwritten"


def _began(answer: Exit | NotStarted) -> Exit:
    if isinstance(answer, Exit):
        return answer
    raise SpawnError(answer["message"], answer["errno"])


async def _stop_when_overdue(started: Supervision, finished: anyio.Event) -> None:
    await finished.wait()
    await anyio.sleep(LINGER_SECONDS)
    started.tell_to_stop()


async def _answer(started: Supervision, order: Start | Go, time_limit: float) -> Exit | NotStarted:
    """Send the order and wait for the answer; without one, what that means."""
    # One that a test has stopped does not notice the time limit; continued, it can still report what there was.
    at_the_limit = asyncio.get_running_loop().call_later(time_limit, started.proceed)
    begun = anyio.current_time()
    # Unless something stops it again and again; then `end` kills it.
    reason: Reason = "timeout"
    with anyio.move_on_after(time_limit + protocol.OVERTIME_SECONDS):
        try:
            await _send(started, order)
            async with alongside(_pass_on_interruption(started)):
                answer: Any = protocol.decode_answer(await _printed(started))
            return answer if answer.pop("kind") == "not_started" else Exit(**answer)
        except (OSError, ValueError):
            # It was killed, and with it the child, which dies when its supervisor does.
            reason = "lost"
        finally:
            at_the_limit.cancel()
    seconds = min(time_limit, anyio.current_time() - begun)
    return Exit(code=None, signal="SIGKILL", reason=reason, duration=seconds, stdout="", stderr="")


async def _send(started: Supervision, order: Order) -> None:
    """Raises OSError or ValueError if it has ended or was told to stop. One that reads nothing blocks nobody else."""
    pipe = started.stdin.fileno()
    os.set_blocking(pipe, False)
    rest = protocol.encode(order)
    while rest:
        try:
            rest = rest[os.write(pipe, rest) :]
        except BlockingIOError:
            await anyio.wait_writable(pipe)


async def _pass_on_interruption(started: Supervision) -> None:
    if (current := interruption.of_call.get()) is None:
        return
    await current.asked.wait()
    if not current.forced.is_set():
        # It may have ended meanwhile.
        with suppress(OSError, ValueError):
            await _send(started, {"kind": "interrupt"})
        await current.forced.wait()
    started.tell_to_stop()


async def _printed(started: Supervision) -> bytes:
    pipe, printed = started.stdout.fileno(), bytearray()
    await anyio.wait_readable(pipe)
    while chunk := os.read(pipe, CHUNK):
        printed += chunk
        await anyio.wait_readable(pipe)
    return bytes(printed)


class Reaper:
    """Kills what a killed supervisor leaves behind. Any other supervisor leaves nothing.

    On Linux these are orphans that become children of the server, their subreaper. Elsewhere they are found by the
    folder of the run on their command line.
    """

    is_subreaper = False

    async def end_orphans(self, folder: str) -> None:
        """After the supervisor of the run in this folder was killed."""
        if not process_tree.HAS_LINUX:
            await in_thread(lambda: process_tree.end_named(folder, ORPHAN_SECONDS))
        own = os.getpid()
        end = time.monotonic() + ORPHAN_SECONDS
        while self.is_subreaper and time.monotonic() < end:
            orphans = process_tree.descendants(own, sparing=start.running)
            process_tree.end_all(orphans)
            # Some are zombies already: the child of a killed supervisor dies with it.
            dead = process_tree.zombies(own) - start.running
            for pid in dead:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if not orphans and not dead:
                return
            await anyio.sleep(ORPHAN_PAUSE_SECONDS)


# The state of this process, one subreaper for all runs.
_reaper = Reaper()


def prepare() -> None:
    """Once in a process that serves, before the first run: end orphaned processes, remove abandoned folders.

    It must start nothing but supervisors: every other process below it counts as an orphan.
    """
    _reaper.is_subreaper = process_tree.become_subreaper()
    run_folder.remove_abandoned()
