"""How many tasks are kept, for how long and in how much memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import anyio
import mcp_types as types
from mcp import MCPError

from pytest_mcp.server.progress import Progress
from pytest_mcp.server.tasks import KEPT_SECONDS, Tasks

LONG = "x" * 1_000


def result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def at_once() -> types.CallToolResult:
    return result("at once")


class Gate:
    """Work that waits until it is let go."""

    def __init__(self, text: str = "late") -> None:
        self.text = text
        self.opened = anyio.Event()

    async def work(self) -> types.CallToolResult:
        await self.opened.wait()
        return result(self.text)


@asynccontextmanager
async def finished(tasks: Tasks, *gates: Gate) -> AsyncIterator[list[str]]:
    """The ids of tasks that ended in this order."""
    async with tasks.running():
        identities = []
        for gate in gates:
            handle = await tasks.answer(gate.work, Progress())
            assert isinstance(handle, dict)
            identities.append(handle["taskId"])
            gate.opened.set()
            await tasks.calls[identities[-1]].ended.wait()
        yield identities


async def test_the_oldest_answers_are_forgotten_when_they_take_too_much_memory() -> None:
    tasks = Tasks(after=0, longest=60, kept_bytes=5_000)

    async with finished(tasks, *[Gate(LONG) for _ in range(4)]) as identities:
        await tasks.answer(at_once, Progress())

        assert [identity for identity in identities if identity in tasks.calls] == identities[2:]


async def test_an_answer_is_forgotten_when_its_time_is_over() -> None:
    tasks = Tasks(after=0, longest=60)

    async with finished(tasks, Gate(), Gate()) as (first, second):
        tasks.calls[first].ended_at = datetime.now(UTC) - timedelta(seconds=KEPT_SECONDS + 1)
        await tasks.answer(at_once, Progress())

        assert (first in tasks.calls, second in tasks.calls) == (False, True)


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
