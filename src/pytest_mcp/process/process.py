"""Run one command to its end. It knows nothing of pytest.

In come a command and a time limit; out come the lines of its report while it runs and, at the end, how it ended and
what it printed. A child may also be started ahead of its job, and then waits for it: `spare` decides when. A program
that is only asked something has no job and no report: `query` decides what it is asked. How a supervisor is started
and ended is decided in `start` and `supervisor_client`.
"""

import os
from contextlib import suppress
from dataclasses import replace

import anyio

from pytest_mcp.process import interruption, run_folder, start, supervisor_client
from pytest_mcp.process.background import alongside
from pytest_mcp.process.exit import Exit, ReportState
from pytest_mcp.process.job import Command
from pytest_mcp.process.launch import Launch, SpawnError
from pytest_mcp.process.messages import Go, NotStarted, Start
from pytest_mcp.process.report_file import OnLine, output_of, report_of
from pytest_mcp.process.run_folder import FolderError
from pytest_mcp.process.start import Started, Waiting

# How much is kept of the beginning of a stderr that is read only when a program fails, and as much of its end.
COMPLAINT = 4 * 1024
# A child that has nothing more to do and does not exit is killed after this.
LINGER_SECONDS = 10.0


def prepare() -> None:
    """Once in a process that serves, before the first run: end orphaned processes, remove abandoned folders."""
    supervisor_client.reaper.open()
    run_folder.remove_abandoned()


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
            await supervisor_client.send(started, start.order_for_a_job(started, launch, time_limit=None))
    except BaseException:
        await supervisor_client.end(started)
        raise
    return Waiting.of(started, launch, environment)


async def ask(launch: Launch, *, time_limit: float, kept_output: int) -> Exit:
    """Run a program that has no job and reports nothing: how it ended and what it printed."""
    started = start.supervisor(launch.env)
    try:
        order = start.order(launch, time_limit, kept_output)
        return _began(await supervisor_client.answer(started, order, time_limit))
    finally:
        await supervisor_client.end(started)


async def ask_for_bytes(launch: Launch, given: bytes, *, time_limit: float, most: int) -> tuple[Exit, bytes]:
    """Run a program with this stdin: how it ended and all of its stdout, which can be long and need not be text.

    If that is more than `most` bytes, the reason is `overflow`.
    """
    started = start.supervisor(launch.env)
    try:
        with output_of(started.folder, given) as output:
            order = start.order(launch, time_limit, COMPLAINT)
            order |= {"report_limit": most, "redirected": True}
            answer = await supervisor_client.answer(started, order, time_limit)
            ended, size = _began(answer), os.fstat(output).st_size
            if size > most:
                return replace(ended, reason="overflow"), b""
            return ended, os.pread(output, size, 0)
    finally:
        await supervisor_client.end(started)


async def _carry_out(
    started: Started, command: Command, time_limit: float, on_line: OnLine, finished: anyio.Event
) -> Exit | None:
    """How the child ended, or None for a spare that ended before it began."""
    try:
        with report_of(started.folder, command.job, on_line) as report:
            async with alongside(report.follow()), alongside(_stop_when_overdue(started, finished)):
                answer = await supervisor_client.answer(started, _order(started, command, time_limit), time_limit)
            await report.read_rest()
            state = report.state
    except FolderError:
        if isinstance(started, Waiting):
            # The temporary folder was cleared while it waited.
            return None
        raise
    finally:
        await supervisor_client.end(started)
    if isinstance(started, Waiting) and _came_to_nothing(answer, report.lines, state):
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


async def _stop_when_overdue(started: Started, finished: anyio.Event) -> None:
    await finished.wait()
    await anyio.sleep(LINGER_SECONDS)
    started.tell_to_stop()


def _order(started: Started, command: Command, time_limit: float) -> Start | Go:
    if isinstance(started, Waiting):
        return {"kind": "go", "time_limit": time_limit}
    return start.order_for_a_job(started, command.launch, time_limit=time_limit)
