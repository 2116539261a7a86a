"""The supervisor without what Linux gives it. POSIX only, as the server is."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from pytest_mcp.process import process, process_tree, start
from pytest_mcp.process.interruption import Interruption, of_call
from pytest_mcp.process.job import Exit
from tests.support.runs.children import STUBBORN, command, remains
from tests.support.waiting import PATIENCE, limits_until, processes_in, until

# The real supervisor, after a change to what it knows of the machine.
WRAPPER = """
import runpy, sys
sys.path.append({package!r})
from pytest_mcp.process import process_tree
{change}
runpy.run_path({script!r}, run_name="__main__")
"""
# No subreaper, no parent death signal; `ps` is there. It says when it has seen the child and both of its own.
ELSEWHERE = """
process_tree.HAS_LINUX = False
process_tree.SNAPSHOT_SECONDS = 0
def note(self, note=process_tree.Listed.note):
    note(self)
    if len(self.known) == 3:
        open({seen!r}, "w").close()
process_tree.Listed.note = note
"""
WITHOUT_PS = "process_tree.HAS_LINUX = False\nprocess_tree._listed = dict"
STOPPED = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
SHORT_GRACE = "from pytest_mcp.process import supervisor_protocol; supervisor_protocol.INTERRUPT_SECONDS = 0.1"
# Its interruption reaches a child that has had the time to ignore it.
TO_ONE_THAT_IGNORES_IT = """
import os, signal, time
def kill(pid, number, kill=os.kill):
    while number == signal.SIGINT and not os.path.exists({ready!r}):
        time.sleep(0.01)
    kill(pid, number)
os.kill = kill
"""
HIDDEN_PROC = "process_tree.PROC = '/nowhere'"
SLEEPER = "[sys.executable, '-c', 'import time; time.sleep(600)']"
# One in its own group and one in another session, and an end when both have been seen.
SEEN = f"""
import os, subprocess, sys, time
subprocess.Popen({SLEEPER})
subprocess.Popen({SLEEPER}, start_new_session=True, env={{}})
while not os.path.exists("seen"): time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def _no_subreaper() -> None:
    """If another test has made this process a subreaper, what is killed here would stay as its zombie."""
    process_tree._prctl(process_tree.PR_SET_CHILD_SUBREAPER, 0)


async def run_with(change: str, source: str, folder: Path, monkeypatch: pytest.MonkeyPatch, limit: float = 60) -> Exit:
    script = Path(process.__file__).with_name("supervisor.py")
    wrapper = folder.parent / "wrapper.py"
    text = WRAPPER.format(package=str(script.parents[2]), script=str(script), change=change)
    wrapper.write_text(text, encoding="utf-8")
    monkeypatch.setattr(start, "_SUPERVISOR", wrapper)
    return await process.run(command(folder, source), time_limit=limit, on_line=lambda _: None)


@pytest.mark.parametrize("ending", ["", "time.sleep(600)"], ids=["exit", "timeout"])
async def test_without_linux_the_group_and_what_was_seen_below_the_child_are_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    change = ELSEWHERE.format(seen=str(folder / "seen"))

    for limit in limits_until(folder / "seen"):
        ended = await run_with(change, SEEN + ending, folder, monkeypatch, limit=limit if ending else 60)

    assert processes_in(folder) == []
    assert remains(folder) == []
    assert (ended.strays, ended.left) == (2, 0)
    assert ended.timed_out is bool(ending)


async def test_without_linux_and_without_ps_the_group_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = await run_with(WITHOUT_PS, f"import subprocess, sys; subprocess.Popen({SLEEPER})", folder, monkeypatch)

    assert processes_in(folder) == []
    # Not `left`: a zombie keeps its group until whoever inherits it has waited for it, which is not ours to hurry.
    assert (ended.code, ended.strays) == (0, 1)


async def test_a_hidden_proc_keeps_nothing_alive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = await run_with(HIDDEN_PROC, STUBBORN, folder, monkeypatch)

    assert processes_in(folder) == []
    assert remains(folder) == []
    assert (ended.code, ended.strays, ended.left) == (0, 3, 0)


def test_no_number_of_a_process_is_taken_from_the_proc_of_another_namespace() -> None:
    """In srt, /proc shows each process by another number than the one that a signal needs."""
    code = "from pytest_mcp.process import process_tree; print(process_tree._table(), process_tree._listed())"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--pid", "--fork", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.stderr.startswith("unshare"):
        pytest.skip("a user may not make namespaces here")

    assert done.stdout == "{} {}\n"


async def test_one_that_is_stopped_before_it_reads_an_order_that_no_pipe_holds_is_continued_at_the_time_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else waits for it meanwhile: the time limit is noticed."""
    for number in range(5):
        monkeypatch.setenv(f"LONG_{number}", "x" * 100_000)

    with anyio.fail_after(PATIENCE):
        ended = await run_with(STOPPED, "import os; print(len(os.environ['LONG_4']))", folder, monkeypatch, limit=3)

    assert (ended.code, ended.stdout) == (0, "100000\n")
    assert remains(folder) == []


async def test_one_that_ends_before_it_has_read_its_order_is_a_run_that_was_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        monkeypatch.setenv(f"LONG_{number}", "x" * 100_000)

    ended = await run_with("sys.exit(0)", "pass", folder, monkeypatch)
    ahead = await process.start_ahead(command(folder, "pass").launch, None)
    await until(lambda: not ahead.is_alive)
    await process.end(ahead)

    assert ended.reason == "lost"
    # As long as it took, and not as long as it was allowed to take.
    assert ended.duration < 60
    assert remains(folder) == []


async def test_one_that_ignores_its_interruption_is_killed_with_all_it_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interruption is there before the child is: it comes with the first order, and is not lost."""
    current = Interruption()
    current.ask()
    of_call.set(current)

    change = f"{SHORT_GRACE}\n{TO_ONE_THAT_IGNORES_IT.format(ready=str(folder / 'ready'))}"
    source = f"{STUBBORN}\nopen('ready', 'w').close()\ntime.sleep(600)"

    ended = await run_with(change, source, folder, monkeypatch)

    assert (ended.reason, ended.code) == ("interrupted", None)
    assert processes_in(folder) == []
    assert remains(folder) == []
