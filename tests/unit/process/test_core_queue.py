"""Cores in turn, among calls of one process and of several."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import pytest

from pytest_mcp.process import core_queue, process_tree
from pytest_mcp.process.core_queue import CoreQueue, Held, Need
from tests.support.waiting import PATIENCE, until

ONE = Need()
# Holds cores and says so; with a word on stdin it lets them go.
HOLDER = """
import sys, anyio
from pathlib import Path
from pytest_mcp.process.core_queue import CoreQueue, Need
async def hold():
    async with CoreQueue(Path(sys.argv[1]), int(sys.argv[2])).held(Need(1, int(sys.argv[3])), lambda _ahead: None):
        print("has them", flush=True)
        sys.stdin.readline()
anyio.run(hold)
"""


@pytest.fixture
def queue(tmp_path: Path) -> CoreQueue:
    return CoreQueue(tmp_path / "cores", 2)


def calls_in(queue: CoreQueue) -> list[str]:
    return sorted(path.name.partition("-")[0] for path in queue.folder.iterdir() if path.name[0] in "rw")


class Waiter:
    """A call that holds what it got until it is told to end."""

    def __init__(self, queue: CoreQueue, need: Need = ONE) -> None:
        self.queue, self.need = queue, need
        self.told: list[int] = []
        self.held: Held | None = None
        self.may_end = anyio.Event()
        self.has_ended = anyio.Event()

    async def run(self) -> None:
        async with self.queue.held(self.need, self.told.append) as self.held:
            await self.may_end.wait()
        self.has_ended.set()

    def has_cores(self) -> bool:
        return self.held is not None

    def is_known(self) -> bool:
        return self.has_cores() or bool(self.told)

    async def end(self) -> Held:
        self.may_end.set()
        await self.has_ended.wait()
        assert self.held is not None
        return self.held


@pytest.fixture
def holder(queue: CoreQueue) -> Iterator["Starter"]:
    with ExitStack() as stack:
        yield Starter(queue, stack)


class Starter:
    def __init__(self, queue: CoreQueue, stack: ExitStack) -> None:
        self.queue, self.stack = queue, stack

    def start(self, most: int) -> "subprocess.Popen[str]":
        """Another process that holds so many cores."""
        command = [sys.executable, "-c", HOLDER, str(self.queue.folder), str(self.queue.cores), str(most)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.stack.enter_context(process)
        self.stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == "has them\n"
        return process


async def test_calls_start_in_the_order_in_which_they_came_and_hear_how_many_are_before_them(queue: CoreQueue) -> None:
    order: list[int] = []
    told: list[list[int]] = [[] for _ in range(6)]

    async def call(number: int) -> None:
        async with queue.held(ONE, told[number].append):
            order.append(number)
            await until(lambda: told[5] or len(order) > 2)

    def has_come(number: int) -> bool:
        return number in order or bool(told[number])

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(call, number)
                await until(partial(has_come, number))

    assert order == [0, 1, 2, 3, 4, 5]
    assert [each[:1] for each in told] == [[], [], [0], [1], [2], [3]]
    assert all(each == sorted(each, reverse=True) for each in told)
    assert calls_in(queue) == []


async def test_a_call_takes_all_cores_that_it_needs_at_once_and_auto_takes_what_is_free(queue: CoreQueue) -> None:
    first, both, auto = Waiter(queue), Waiter(queue, Need(2, 2)), Waiter(queue, Need(1, 2))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.run)
            await until(lambda: first.held)
            tasks.start_soon(both.run)
            await until(lambda: both.told)
            tasks.start_soon(auto.run)
            await until(lambda: auto.told)
            # One core is free, and the first that waits needs two.
            assert (both.held, auto.held) == (None, None)
            await first.end()
            await until(lambda: both.held)
            assert auto.held is None
            await both.end()
            await until(lambda: auto.held)
            assert (await auto.end()).cores == 2


async def test_one_call_at_a_time_may_pass_and_takes_nothing_from_those_that_wait(queue: CoreQueue) -> None:
    suites = [Waiter(queue, Need(1, 2)), Waiter(queue)]
    passing, second = Waiter(queue, Need(may_pass=True)), Waiter(queue, Need(may_pass=True))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for suite in suites:
                tasks.start_soon(suite.run)
                await until(suite.is_known)
            tasks.start_soon(passing.run)
            await until(lambda: passing.held)
            tasks.start_soon(second.run)
            await until(lambda: second.told)
            assert (suites[1].held, second.held) == (None, None)
            # What passes holds no core: the one that waits gets it.
            await suites[0].end()
            await until(lambda: suites[1].held)
            await until(lambda: second.held)
            for waiter in (suites[1], passing, second):
                await waiter.end()


async def test_who_waits_for_long_gets_a_core_though_others_pass_all_the_time(queue: CoreQueue) -> None:
    """Everybody who may pass only ever uses the core that is there for it."""
    busy, patient = Waiter(queue, Need(2, 2)), Waiter(queue)
    passed = 0

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:

            async def pass_on() -> None:
                nonlocal passed
                while patient.held is None:
                    async with queue.held(Need(may_pass=True), lambda _ahead: None):
                        passed += 1
                        await anyio.lowlevel.checkpoint()

            for each in (busy, patient):
                tasks.start_soon(each.run)
                await until(each.is_known)
            for _ in range(3):
                tasks.start_soon(pass_on)
            await until(lambda: passed > 20)
            assert patient.held is None
            await busy.end()
            await until(lambda: patient.held)
            await patient.end()


async def test_cores_of_a_killed_process_are_free_and_its_file_goes(queue: CoreQueue, holder: Starter) -> None:
    process = holder.start(2)
    waiter = Waiter(queue, Need(2, 2))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waiter.run)
            await until(lambda: waiter.told)
            os.kill(process.pid, signal.SIGKILL)
            await until(lambda: waiter.held)
            assert calls_in(queue) == ["run"]
            await waiter.end()

    assert calls_in(queue) == []


async def test_no_core_is_lost_by_any_number_of_kills(queue: CoreQueue, holder: Starter) -> None:
    rng = random.Random(11)

    for _ in range(8):
        processes = [holder.start(1) for _ in range(2)]
        rng.shuffle(processes)
        for process in processes:
            process.kill()
            process.wait(PATIENCE)
        async with queue.held(Need(2, 2), lambda _ahead: None) as held:
            assert len(held.locks) == 2

    assert calls_in(queue) == []


async def test_runs_of_one_checkout_learn_of_each_other_also_of_those_that_are_over(queue: CoreQueue) -> None:
    queue = CoreQueue(queue.folder, 4)
    here, there = Need(checkout="/here"), Need(checkout="/there")
    long, early, late, elsewhere, lone = (Waiter(queue, need) for need in (here, here, here, there, ONE))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for waiter in (long, early):
                tasks.start_soon(waiter.run)
                await until(waiter.has_cores)
            of_early = await early.end()
            for waiter in (late, elsewhere, lone):
                tasks.start_soon(waiter.run)
                await until(waiter.has_cores)
            others = [(await waiter.end()).others for waiter in (late, elsewhere, lone, long)]

    assert (of_early.others, others) == (1, [1, 0, 0, 2])


async def test_a_call_from_inside_of_a_run_does_not_wait_for_it(
    queue: CoreQueue, holder: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = holder.start(2)
    monkeypatch.setattr(process_tree, "ancestors", lambda: {process.pid})

    with anyio.fail_after(PATIENCE):
        async with queue.held(Need(1, 2), lambda _ahead: None) as held:
            assert held == Held(1)


async def test_a_cancelled_call_leaves_the_queue(queue: CoreQueue) -> None:
    first, second = Waiter(queue, Need(1, 2)), Waiter(queue)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks, anyio.create_task_group() as cancelled:
            tasks.start_soon(first.run)
            await until(lambda: first.held)
            cancelled.start_soon(second.run)
            await until(lambda: second.told)
            cancelled.cancel_scope.cancel()
            await first.end()

    assert calls_in(queue) == []
    assert second.held is None


async def test_a_call_is_no_run_any_more_from_the_moment_it_is_cancelled_but_keeps_its_cores(queue: CoreQueue) -> None:
    runs, is_cleaning_up, may_end = anyio.Event(), anyio.Event(), anyio.Event()

    async def cleaning_up() -> None:
        async with queue.held(Need(checkout="/here"), lambda _ahead: None):
            runs.set()
            try:
                await anyio.sleep_forever()
            finally:
                is_cleaning_up.set()
                with anyio.CancelScope(shield=True):
                    await may_end.wait()

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as cancelled:
            cancelled.start_soon(cleaning_up)
            await runs.wait()
            cancelled.cancel_scope.cancel()
            with anyio.move_on_after(PATIENCE, shield=True):
                await is_cleaning_up.wait()
                async with queue.held(Need(1, 2, checkout="/here"), lambda _ahead: None) as held:
                    assert held.cores == 1
            may_end.set()

    assert held.others == 0


async def test_whatever_a_call_raises_comes_out_of_the_block_as_it_was(queue: CoreQueue) -> None:
    with pytest.raises(ValueError, match="mine"):
        async with queue.held(ONE, lambda _ahead: None):
            raise ValueError("mine")

    assert calls_in(queue) == []


async def test_who_has_waited_for_as_long_as_it_may_begins_with_one_core(queue: CoreQueue) -> None:
    """So nobody starves, whatever the others do: those before it too have begun or are waiting for less."""
    busy = Waiter(queue, Need(2, 2))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(busy.run)
            await until(busy.has_cores)
            for _ in range(3):
                async with queue.held(Need(2, 2, patience=0.1), lambda _ahead: None) as held:
                    assert held == Held(1, is_late=True)
            assert not (await busy.end()).is_late

    assert calls_in(queue) == []


async def test_who_has_waited_behind_a_call_that_stopped_takes_the_free_cores(queue: CoreQueue) -> None:
    first = core_queue._Ticket.drawn(core_queue._usable(queue.folder), None)

    with anyio.fail_after(PATIENCE):
        async with queue.held(Need(1, 2, patience=0.1), lambda _ahead: None) as held:
            assert (held.cores, held.is_late, len(held.locks)) == (2, False, 2)
    first.end()


@pytest.mark.parametrize("state", ["a file", "not writable", "removed", "of another machine"])
async def test_where_nothing_can_be_locked_nobody_waits(
    queue: CoreQueue, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if state == "a file":
        queue.folder.write_text("")
    elif state == "not writable":
        monkeypatch.setattr(os, "open", _no_space)
    elif state == "of another machine":
        monkeypatch.setattr(core_queue, "is_remote", lambda _device: True)
    else:
        async with queue.held(ONE, lambda _ahead: None):
            for path in queue.folder.iterdir():
                path.unlink()
            queue.folder.rmdir()

    async with queue.held(Need(3, 3), lambda _ahead: None) as held:
        is_shared = bool(held.locks)

    assert held.cores == 3
    assert is_shared == (state == "removed")


def _no_space(*_given: object, **_named: object) -> int:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("kind", "is_remote"), [("nfs4", True), ("9p", True), ("ext4", False), ("overlay", False)])
def test_the_file_system_of_another_machine_is_known_by_its_kind(tmp_path: Path, kind: str, is_remote: bool) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n36 1 0:99 / /home rw,relatime shared:1 - {kind} where rw\n")

    assert core_queue.is_remote(os.makedev(0, 99), mounts) == is_remote
    assert not core_queue.is_remote(os.makedev(8, 1), mounts)
    assert not core_queue.is_remote(os.makedev(0, 99), tmp_path / "absent")


async def test_a_file_that_somebody_else_wrote_is_no_call(queue: CoreQueue) -> None:
    queue.folder.mkdir()
    for name, content in {"run-0": "[]\n", "run-1": "\xff", "wait-0": json.dumps({"process": 1})}.items():
        (queue.folder / name).write_bytes(content.encode("latin-1"))

    async with queue.held(Need(2, 2, checkout="/here"), lambda _ahead: None) as held:
        assert len(held.locks) == 2

    assert (held.others, calls_in(queue)) == (0, [])
