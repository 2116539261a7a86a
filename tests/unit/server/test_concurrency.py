"""Turns in order, and the end of all of them at once."""

import anyio
import pytest

from pytest_mcp.api.errors import ExecutionFailed
from pytest_mcp.server.concurrency import Calls
from tests.support.waiting import PATIENCE


async def test_turns_are_given_in_the_order_of_asking_and_never_too_many_at_once() -> None:
    calls = Calls(at_once=2)
    order: list[int] = []
    told: list[int] = []
    running: set[int] = set()

    async def call(number: int) -> None:
        async with calls.one(told.append):
            order.append(number)
            running.add(number)
            assert len(running) <= 2
            await anyio.lowlevel.checkpoint()
            running.discard(number)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(call, number)

    assert order == list(range(20))
    assert calls.scopes == []
    assert told[:3] == [0, 1, 2]


async def test_the_end_reaches_what_runs_what_waits_and_what_comes_later() -> None:
    calls = Calls(at_once=1)
    ended: list[str] = []
    told: list[int] = []

    async def call(name: str) -> None:
        with pytest.raises(ExecutionFailed) as error:
            async with calls.one(told.append):
                await anyio.sleep_forever()
        assert error.value.data["error_type"] == "interrupted"
        ended.append(name)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for name in ("runs", "waits"):
                tasks.start_soon(call, name)
            await anyio.wait_all_tasks_blocked()
            calls.end()
        await call("comes later")

    assert sorted(ended) == ["comes later", "runs", "waits"]
