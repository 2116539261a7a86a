"""How many tasks are kept, for how long and in how much memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import anyio
import mcp_types as types
from mcp import MCPError

from pytest_mcp.run.ledger import Ledger
from pytest_mcp.server.progress import Progress
from pytest_mcp.server.tasks import KEPT_SECONDS, Tasks

LONG = "x" * 1_000


def result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


LATE = result("late")


async def at_once() -> types.CallToolResult:
    return result("at once")


class Gate:
    """Work that waits until it is let go."""

    def __init__(self, ending: types.CallToolResult | Exception = LATE) -> None:
        self.ending = ending
        self.opened = anyio.Event()

    async def work(self) -> types.CallToolResult:
        await self.opened.wait()
        if isinstance(self.ending, Exception):
            raise self.ending
        return self.ending


@asynccontextmanager
async def finished(tasks: Tasks, *gates: Gate) -> AsyncIterator[list[str]]:
    """The ids of tasks that ended in this order."""
    async with tasks.running():
        identities = []
        for gate in gates:
            progress = Progress()
            progress.update(Ledger())
            handle = await tasks.answer(gate.work, progress)
            assert isinstance(handle, dict)
            identities.append(handle["taskId"])
            gate.opened.set()
            await tasks.calls[identities[-1]].ended.wait()
        yield identities


async def test_the_oldest_answers_are_forgotten_when_they_take_too_much_memory() -> None:
    tasks = Tasks(after=0, longest=60, kept_bytes=len(LONG) * 3 // 2)

    async with finished(tasks, *[Gate(result(LONG)) for _ in range(4)]) as identities:
        await tasks.answer(at_once, Progress())

        assert [identity for identity in identities if identity in tasks.calls] == identities[2:]


async def test_an_answer_is_forgotten_when_its_time_is_over() -> None:
    tasks = Tasks(after=0, longest=60)

    async with finished(tasks, Gate(), Gate()) as (first, second):
        tasks.calls[first].created -= timedelta(seconds=60 + KEPT_SECONDS + 1)
        tasks.calls[first].ended_at = datetime.now(UTC) - timedelta(seconds=KEPT_SECONDS + 1)
        await tasks.answer(at_once, Progress())

        assert (first in tasks.calls, second in tasks.calls) == (False, True)


async def test_an_answer_is_kept_for_as_long_as_the_handle_said() -> None:
    tasks = Tasks(after=0, longest=3600)

    async with finished(tasks, Gate()) as (quick,):
        promised = timedelta(milliseconds=tasks.calls[quick].state()["ttlMs"])
        tasks.calls[quick].created -= promised - timedelta(seconds=60)
        tasks.calls[quick].ended_at = tasks.calls[quick].created
        await tasks.answer(at_once, Progress())

        assert quick in tasks.calls


async def test_a_call_that_has_waited_for_longer_than_was_expected_is_not_given_up() -> None:
    tasks, gate = Tasks(after=0, longest=60), Gate()

    async with tasks.running():
        handle = await tasks.answer(gate.work, Progress())
        assert isinstance(handle, dict)
        call = tasks.calls[handle["taskId"]]
        call.created -= timedelta(hours=5)

        assert call.state()["ttlMs"] >= (5 * 3600 + KEPT_SECONDS) * 1000


async def test_errors_and_pages_count_as_memory_and_what_a_run_was_is_not_kept() -> None:
    tasks = Tasks(after=0, longest=60)
    page = types.CallToolResult(content=[], _meta={"page": LONG})

    async with finished(tasks, Gate(MCPError(-32000, "failed", data=LONG)), Gate(page)) as identities:
        calls = [tasks.calls[identity] for identity in identities]

        assert all(len(LONG) < len(call.ending) < 2 * len(LONG) for call in calls)
        assert [(call.outcome, call.progress.latest) for call in calls] == [(None, None)] * 2


async def test_a_bug_fails_one_task_and_not_the_server() -> None:
    tasks = Tasks(after=0, longest=60)

    async with finished(tasks, Gate(ZeroDivisionError()), Gate()) as (broken, sound):
        states = [tasks.calls[identity].state() for identity in (broken, sound)]

    assert [state["status"] for state in states] == ["failed", "completed"]
    assert states[0]["error"]["code"] == -32603


async def test_beyond_the_most_unfinished_tasks_a_client_waits() -> None:
    tasks, gate = Tasks(after=0, longest=60, max_unfinished=1), Gate()

    async with tasks.running():
        handle = await tasks.answer(gate.work, Progress())
        answer = await tasks.answer(at_once, Progress())

    assert isinstance(handle, dict)
    assert answer == result("at once")


async def test_a_call_that_is_waited_for_ends_with_the_server() -> None:
    tasks, started = Tasks(after=60, longest=60), anyio.Event()
    caught: list[MCPError] = []

    async def work() -> types.CallToolResult:
        started.set()
        return await Gate().work()

    async def wait() -> None:
        try:
            await tasks.answer(work, Progress())
        except MCPError as error:
            caught.append(error)

    async with anyio.create_task_group() as group, tasks.running():
        group.start_soon(wait)
        await started.wait()

    assert [error.error.code for error in caught] == [-32000]
