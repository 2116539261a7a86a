"""Starting, bounding and ending processes, with tiny real children. POSIX only, as the server is."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from pytest_mcp.process import process, start
from pytest_mcp.process.interruption import Interruption, of_call
from pytest_mcp.process.job import Command, Exit, Launch, SpawnError
from tests.support.leftovers import children
from tests.support.runs.children import JOB, command, remains
from tests.support.waiting import PATIENCE, processes_in, until


async def run(folder: Path, source: str, *, time_limit: float = 60, lines: list[bytes] | None = None) -> Exit:
    seen = [] if lines is None else lines
    return await process.run(command(folder, source), time_limit=time_limit, on_line=seen.append)


async def test_the_report_the_output_and_the_exit_code_come_back(folder: Path) -> None:
    source = """
import json, os, sys
run = sys.argv[1]
job = json.load(open(os.path.join(run, "job.json")))
with open(os.path.join(run, "report"), "a") as report:
    report.write("\\n".join(["one", "", json.dumps(job), "unfinished"]))
os.write(1, b"\\xff out \\xc3\\xa9\\r\\n"); print("err", file=sys.stderr); print(repr(sys.stdin.read()))
sys.exit(7)
"""
    lines: list[bytes] = []

    ended = await run(folder, source, lines=lines)

    assert lines == [b"one", json.dumps(JOB).encode()]
    assert (ended.code, ended.signal, ended.timed_out) == (7, None, False)
    assert (ended.stdout, ended.stderr) == ("\\xff out é\n''\n", "err\n")
    assert remains(folder) == []


async def test_an_interrupted_child_cleans_up_before_it_ends(folder: Path) -> None:
    source = """
import signal, sys, time
def clean_up(*_):
    open("cleaned up", "w").close()
    sys.exit(2)
signal.signal(signal.SIGINT, clean_up)
open("ready", "w").close()
time.sleep(600)
"""
    ended: list[Exit] = []
    current = Interruption()
    of_call.set(current)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: _append(ended, run(folder, source)))
        await until((folder / "ready").exists)
        current.ask()

    assert [(each.reason, each.code, each.signal) for each in ended] == [("interrupted", 2, None)]
    assert (folder / "cleaned up").exists()
    assert remains(folder) == []


async def _append(ended: list[Exit], running: Awaitable[Exit]) -> None:
    ended.append(await running)


async def let_it_start(steps: int) -> None:
    """A few steps of the event loop; then, as on a busy machine, none until the supervisor is two processes."""
    before, end = children(os.getpid()), time.monotonic() + PATIENCE
    for _ in range(steps):
        await asyncio.sleep(0)
    started = children(os.getpid()) - before
    while started and not any(children(pid) for pid in started):
        assert time.monotonic() < end


async def cancelled_as_a_task(folder: Path, steps: int) -> None:
    running = asyncio.create_task(run(folder, "import time; time.sleep(600)"))
    await let_it_start(steps)
    running.cancel()
    await asyncio.wait([running])


async def cancelled_by_its_scope(folder: Path, steps: int) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, folder, "import time; time.sleep(600)")
        await let_it_start(steps)
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("cancelled", [cancelled_as_a_task, cancelled_by_its_scope])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 7])
async def test_cancelling_while_a_supervisor_is_started_neither_hangs_nor_leaves_anything(
    folder: Path, steps: int, cancelled: Callable[[Path, int], Awaitable[None]]
) -> None:
    """The background work of a server is cancelled as a task, a call by its scope."""
    with anyio.fail_after(60):
        await cancelled(folder, steps)

    assert processes_in(folder) == []
    assert remains(folder) == []


async def test_floods_are_kept_as_head_and_tail_with_the_count_of_what_is_missing(folder: Path) -> None:
    source = "import sys\nprint('first')\nfor _ in range(5000): sys.stdout.write('x' * 10_000)\nprint('last')"

    ended = await run(folder, source)

    assert ended.stdout.startswith("first\n")
    assert ended.stdout.endswith("xlast\n")
    left_out = 50_000_000 + len("first\nlast\n") - 2 * start.KEPT_OUTPUT
    assert f"[... {left_out} bytes left out ...]" in ended.stdout
    assert ended.left_out == left_out
    assert len(ended.stdout) < 2 * start.KEPT_OUTPUT + 100


@pytest.mark.parametrize("program", ["nowhere", "", "text"])
async def test_a_program_that_cannot_be_started_is_told_from_a_machine_that_cannot(folder: Path, program: str) -> None:
    (folder / "text").write_text("no program")
    (folder / "text").chmod(0o755)
    launch = Launch(argv=(str(folder / program),), cwd=folder, env={})
    unusable = Command(launch=launch, job=JOB, reproduction=())

    with pytest.raises(SpawnError) as error:
        await process.run(unusable, time_limit=5, on_line=lambda _: None)

    assert error.value.unusable
    assert remains(folder) == []


async def test_a_machine_without_room_for_a_thread_is_at_fault_and_nothing_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start_none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    before = children(os.getpid())
    monkeypatch.setattr(threading.Thread, "start", start_none)

    with pytest.raises(SpawnError) as error:
        await run(folder, "pass")

    assert not error.value.unusable
    assert children(os.getpid()) == before
    assert remains(folder) == []


async def test_a_program_that_is_asked_for_bytes_gets_its_stdin_and_loses_none_of_its_stdout(folder: Path) -> None:
    launch = Launch(("/bin/sh", "-c", "cat; echo why >&2; exit 3"), folder, {})
    given = b"\xff\0\r\n" * 1_000_000

    ended, output = await process.ask_for_bytes(launch, given, time_limit=60, most=len(given))

    assert output == given
    assert (ended.code, ended.reason, ended.stdout, ended.stderr) == (3, "exited", "", "why\n")
    assert remains(folder) == []


@pytest.mark.parametrize("script", ["cat", "cat; exec sleep 600"])
async def test_one_that_writes_more_than_it_may_is_ended(folder: Path, script: str) -> None:
    launch = Launch(("/bin/sh", "-c", script), folder, {"PATH": os.defpath})

    ended, output = await process.ask_for_bytes(launch, b"x" * 1001, time_limit=60, most=1000)

    assert (ended.reason, output) == ("overflow", b"")
    assert processes_in(folder) == []
    assert remains(folder) == []
