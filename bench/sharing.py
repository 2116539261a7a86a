"""`python -m bench.sharing [ROW ...]`: what servers that share the cores of a machine cost each other, and what stays.

Every ratio is of calls that take turns in one run of this script. The suites compute instead of sleeping, which is
worse for their neighbours. Nothing is saved.
"""

import argparse
import os
import random
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from bench.shell import Wrong
from pytest_mcp.config.model import CORES
from pytest_mcp.process.core_queue import CoreQueue, Need
from tests.support.protocol.hostile_server import HostileServer, within
from tests.support.protocol.raw_client import NoAnswer
from tests.support.protocol.task_clients import TaskServer
from tests.support.waiting import PATIENCE, processes_in

TESTS = 400
# Each test takes 50 ms, of which it sleeps or computes.
SLEEPING = "time.sleep(0.05)"
COMPUTING = "end = time.thread_time() + 0.05\n    while time.thread_time() < end: pass"
SUITE = f"""
import pytest, time
@pytest.mark.parametrize("number", range({TESTS}))
def test_some(number):
    {{}}
"""
TEN_MINUTES = "import pytest, time\n@pytest.mark.parametrize('n', range(600))\ndef test_long(n): time.sleep(1)\n"
ONE: dict[str, Any] = {"node_ids": ["test_one.py::test_one"]}
KINDS: list[dict[str, Any]] = [ONE, {"workers": "auto"}, {"path": "test_suite.py"}]
FLAGS = ("--timeout=1200", "--no-spare")
KILLED = 8


class User:
    """Servers of one user, each in a project of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.runtime = folder / "runtime"
        self.number = 0

    def server(self, work: str, *flags: str, kind: type[HostileServer] = HostileServer) -> HostileServer:
        self.number += 1
        base = self.folder / f"server-{self.number}"
        base.mkdir()
        server = kind(base, *flags, runtime=self.runtime)
        server.project({"test_suite.py": SUITE.format(work), "test_one.py": "def test_one(): pass\n"})
        self.stack.callback(server.close)
        return server.greeted()


@contextmanager
def user() -> Iterator[User]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        yield User(Path(folder).resolve(), stack)


def seconds_of(servers: Sequence[HostileServer], **arguments: Any) -> float:
    """Until the last of their suites is answered, all asked for at once."""
    started = time.perf_counter()
    calls = [server.begin(path="test_suite.py", **arguments) for server in servers]
    for server, call in zip(servers, calls, strict=True):
        answer = server.answer(call, limit=1200)
        if not isinstance(answer, dict) or answer["summary"]["passed"] != TESTS:
            raise Wrong(f"{answer}"[:500])
    return time.perf_counter() - started


def four_at_once(work: str, rounds: int) -> str:
    with user() as someone:
        servers = [someone.server(work, *FLAGS) for _ in range(4)]
        ratios = []
        for _ in range(rounds):
            in_turn = sum(seconds_of([server], workers="auto") for server in servers)
            ratios.append(seconds_of(servers, workers="auto") / in_turn)
        peak = max(server.memory("VmHWM") for server in servers) // 2**20
    return f"{shown(ratios)} of one after the other; {peak} MiB at most in a server"


def one_test(server: HostileServer, limit: float = 1200) -> float:
    started = time.perf_counter()
    answer = server.answer(server.begin(**ONE), limit=limit)
    if not isinstance(answer, dict) or answer["verdict"] != "passed":
        raise Wrong(f"{answer}"[:500])
    return time.perf_counter() - started


def one_among_four(work: str, rounds: int) -> str:
    with user() as someone:
        busy = [someone.server(work, *FLAGS) for _ in range(4)]
        asked = someone.server(work, "--timeout=1200")
        ratios, worst = [], 0.0
        one_test(asked)
        for _ in range(rounds):
            alone = statistics.median(one_test(asked) for _ in range(9))
            calls = [(server, server.begin(path="test_suite.py")) for server in busy]
            time.sleep(3)  # until as many as can run
            among = [one_test(asked) for _ in range(9)]
            ratios.append(statistics.median(among) / alone)
            worst = max(worst, max(among) / alone)
            for server, call in calls:
                server.cancel(call)
                within(PATIENCE, partial(is_idle, server))
    return f"{shown(ratios)} of alone; the slowest call {worst:.2f}"


def is_idle(server: HostileServer) -> bool:
    return not server.leftovers()


def warm_single(rounds: int) -> str:
    with user() as someone:
        shares, alone = (someone.server(SLEEPING, "--timeout=1200", *flags) for flags in ((), ("--no-share",)))
        ratios: dict[bool, list[float]] = {True: [], False: []}
        for number in range(50 * rounds):
            is_first = number % 2 == 0
            times = {}
            for server in (shares, alone) if is_first else (alone, shares):
                time.sleep(0.4)  # until each has its next process ready
                times[server] = one_test(server)
            ratios[is_first].append(times[shares] / times[alone])
    # Whoever comes second may be slower, so each order has its own median.
    ratio = statistics.geometric_mean(map(statistics.median, ratios.values()))
    return f"{ratio:.3f} of --no-share, of {50 * rounds} pairs"


def kills(count: int, seed: int = 7) -> str:
    """Servers that run suites are killed at random moments, each by a signal or by its client's end."""
    left, lock = [count], threading.Lock()

    def kill_servers(someone: User, rng: random.Random) -> None:
        server = someone.server(SLEEPING, *FLAGS)
        server.end(0)
        while True:
            with lock:
                if left[0] <= 0:
                    return
                left[0] -= 1
            again = type(server)(server.base, *FLAGS, runtime=someone.runtime).greeted()
            again.begin(**rng.choice(KINDS))
            time.sleep(rng.random() * 3)
            with suppress(NoAnswer):
                os.kill(again.pid, rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            again.end(PATIENCE)

    with user() as someone:
        random_numbers = [random.Random(seed + number) for number in range(KILLED)]
        threads = [threading.Thread(target=kill_servers, args=(someone, rng)) for rng in random_numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(5)
        processes = len(processes_in(someone.folder))
        folder = someone.runtime / "pytest-mcp" / "cores"
        cores = anyio.run(all_cores, folder)
        files = [path.name for path in folder.iterdir() if not path.name.startswith(("core-", "pass"))]
        last = someone.server(SLEEPING, *FLAGS)
        one_test(last)
        rests = [path for base in someone.folder.iterdir() for path in base.glob("tmp/pytest-mcp-run-*")]
    return f"{cores} of {CORES} cores free, {processes} processes, {len(files)} calls and {len(rests)} folders left"


async def all_cores(folder: Path) -> int:
    with anyio.move_on_after(PATIENCE):
        async with CoreQueue(folder, CORES).held(Need(CORES, CORES), lambda _ahead: None) as held:
            return len(held.locks)
    return 0


def cancelled_tasks(count: int, seed: int = 7) -> str:
    """A suite of ten minutes as a task, cancelled somewhere between its start and its eighth second."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        server = TaskServer(Path(folder).resolve(), "--task-after=0", "--timeout=1200").ready()
        for _ in range(count):
            server.project({"test_long.py": TEN_MINUTES})
            task = server.begun()
            time.sleep(rng.random() * 8)
            server.about("tasks/cancel", task)
            if (status := server.ended(task)["status"]) != "cancelled":
                raise Wrong(status)
            # No process, no file, and the next call is right.
            server.assert_unharmed()
        server.close()
    return f"{count} cancelled, 0 processes and 0 files left, every next call right"


def shown(ratios: Sequence[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}, {len(ratios)} rounds)"


ROWS: dict[str, Callable[[int], str]] = {
    "four-sleeping": lambda rounds: four_at_once(SLEEPING, rounds),
    "four-computing": lambda rounds: four_at_once(COMPUTING, rounds),
    "one-among-four": lambda rounds: one_among_four(SLEEPING, rounds),
    "one-among-four-computing": lambda rounds: one_among_four(COMPUTING, rounds),
    "warm-single": warm_single,
    "kills": lambda rounds: kills(100 * rounds),
    "tasks": lambda rounds: cancelled_tasks(7 * rounds - 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.sharing")
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for row in options.rows or ROWS:
        print(f"{row}: {ROWS[row](options.rounds)}", flush=True)


if __name__ == "__main__":
    main()
