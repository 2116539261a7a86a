"""Run one command to its end. It knows nothing of pytest.

In come a command and a time limit; out come the lines of its report while it runs and, at the end, how it ended and
what it printed. A child may also be started ahead of its job, and then waits for it: `spare` decides when. A program
that is only asked something has no job and no report: `query` decides what it is asked. How a supervisor is started
and ended is decided in `supervisor_client`.
"""

import os
from dataclasses import replace

import anyio
from anyio.abc import Process

from pytest_mcp.events.exit import Exit, ReportState
from pytest_mcp.execution import supervisor_client
from pytest_mcp.execution.background import alongside
from pytest_mcp.execution.command import Command
from pytest_mcp.execution.folder import run_folder
from pytest_mcp.execution.folder.report_file import OnLine, output_of, report_of
from pytest_mcp.execution.folder.run_folder import FolderError
from pytest_mcp.execution.messages import Go, NotStarted, Start, encode
from pytest_mcp.execution.reaper import reaper
from pytest_mcp.execution.start import first_order
from pytest_mcp.execution.start.launch import Launch
from pytest_mcp.execution.supervisor_client import SpawnError, Started

# How much is kept of the beginning of a stderr that is read only when a program fails, and as much of its end.
COMPLAINT = 4 * 1024
# A child that has nothing more to do and does not exit is killed after this.
LINGER_SECONDS = 10.0


def prepare() -> None:
    """Once in a process that serves, before the first run: end orphaned processes, remove abandoned folders."""
    reaper.open()
    run_folder.remove_abandoned()


async def run(
    command: Command,
    *,
    time_limit: float,
    on_line: OnLine,
    finished: anyio.Event | None = None,
    spare: Started | None = None,
) -> Exit:
    """Start the command, pass on the lines of its report, and wait for its end.

    Whoever reads the lines sets `finished` when they say that the child has nothing more to do. If the spare
    ended before it began, the command is started again without one.
    """
    done = finished or anyio.Event()
    if spare is not None and (ended := await _carry_out(spare, command, time_limit, on_line, done)):
        return ended
    ended = await _carry_out(await supervisor_client.start(command.launch), command, time_limit, on_line, done)
    assert ended is not None
    return ended


async def start_ahead(launch: Launch) -> Started:
    """A child that imports what every run needs and waits for its job."""
    started = await supervisor_client.start(launch)
    assert started.supervisor.stdin is not None
    order = first_order.for_a_job(launch, started.folder.path, time_limit=None)
    try:
        await started.supervisor.stdin.send(encode(order))
    except BaseException:
        with anyio.CancelScope(shield=True):
            await supervisor_client.end(started)
        raise
    return replace(started, waits=True)


async def ask(launch: Launch, *, time_limit: float, kept_output: int) -> Exit:
    """Run a program that has no job and reports nothing: how it ended and what it printed."""
    started = await supervisor_client.start(launch)
    try:
        order = first_order.of(launch, [*launch.argv], time_limit, kept_output)
        return _began(await supervisor_client.answer(started, order, time_limit))
    finally:
        with anyio.CancelScope(shield=True):
            await supervisor_client.end(started)


async def ask_for_bytes(launch: Launch, given: bytes, *, time_limit: float, most: int) -> tuple[Exit, bytes]:
    """Run a program with this stdin: how it ended and all of its stdout, which can be long and need not be text.

    If that is more than `most` bytes, the reason is `overflow`.
    """
    started = await supervisor_client.start(launch)
    try:
        with output_of(started.folder, given) as output:
            order = first_order.of(launch, [*launch.argv], time_limit, COMPLAINT)
            answer = await supervisor_client.answer(
                started, {**order, "report_limit": most, "redirected": True}, time_limit
            )
            ended, size = _began(answer), os.fstat(output).st_size
            if size > most:
                return replace(ended, reason="overflow"), b""
            return ended, os.pread(output, size, 0)
    except FolderError as error:
        raise supervisor_client.no_folder(error) from error
    finally:
        with anyio.CancelScope(shield=True):
            await supervisor_client.end(started)


async def _carry_out(
    started: Started, command: Command, time_limit: float, on_line: OnLine, finished: anyio.Event
) -> Exit | None:
    """How the child ended, or None for a spare that ended before it began."""
    try:
        with report_of(started.folder, command.job, on_line) as report:
            overdue = _stop_when_overdue(started.supervisor, finished)
            async with alongside(report.follow()), alongside(overdue):
                answer = await supervisor_client.answer(started, _order(started, time_limit), time_limit)
            await report.read_rest()
            state = report.state
    except FolderError as error:
        if started.waits:
            # The temporary folder was cleared while it waited.
            return None
        raise supervisor_client.no_folder(error) from error
    finally:
        with anyio.CancelScope(shield=True):
            await supervisor_client.end(started)
    if started.waits and _came_to_nothing(answer, report.lines, state):
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


async def _stop_when_overdue(supervisor: Process, finished: anyio.Event) -> None:
    await finished.wait()
    await anyio.sleep(LINGER_SECONDS)
    assert supervisor.stdin is not None
    await supervisor.stdin.aclose()


def _order(started: Started, time_limit: float) -> Start | Go:
    if started.waits:
        return {"kind": "go", "time_limit": time_limit}
    return first_order.for_a_job(started.launch, started.folder.path, time_limit=time_limit)
