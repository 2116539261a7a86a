import threading

import anyio
import pytest

from pytest_mcp.process.background import in_thread
from pytest_mcp.report import report
from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench


async def test_what_is_raised_in_a_thread_is_raised_where_it_is_waited_for() -> None:
    with pytest.raises(SystemExit):
        await in_thread(lambda: exit(1))


async def test_a_cancel_does_not_wait_for_the_thread() -> None:
    release = threading.Event()

    with anyio.fail_after(PATIENCE):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await in_thread(lambda: release.wait(2 * PATIENCE))

    assert scope.cancelled_caught
    release.set()


async def test_the_event_loop_is_free_while_an_answer_is_made(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making it waits here for what only the event loop does."""
    begun, answered, whole = threading.Event(), threading.Event(), report.execution_report

    def executed(*run: object) -> object:
        begun.set()
        assert answered.wait(PATIENCE)
        return whole(*run)  # type: ignore[arg-type]

    async def answer_others() -> None:
        while not begun.is_set():
            await anyio.sleep(0.01)
        answered.set()

    monkeypatch.setattr(report, "execution_report", executed)
    bench.write({"test_a.py": "def test_a(): pass\n"})

    async with anyio.create_task_group() as others:
        others.start_soon(answer_others)
        answer = await bench.execute()

    assert answer["verdict"] == "passed"
