"""`cli/progress_bar.py`: whether a run has begun decides whether Ctrl-C lets its fixtures tear down."""

import anyio
import pytest

from pytest_mcp.cli.progress_bar import ProgressBar
from pytest_mcp.run.events import Hello
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.terminal import capabilities


@pytest.mark.anyio
async def test_what_a_child_said_since_its_report_was_last_read_counts() -> None:
    bar = ProgressBar(capabilities.screen({}), None)
    learned = []

    async def learn() -> None:
        learned.append(await bar.learn_whether_it_has_begun())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(learn)
        await anyio.wait_all_tasks_blocked()
        bar.update(Ledger(hello=Hello(python="3.11.0", executable="python", pytest="9.0.0", error=None)))

    assert learned == [True]


@pytest.mark.anyio
async def test_a_run_whose_child_says_nothing_has_not_begun() -> None:
    assert not await ProgressBar(capabilities.screen({}), None).learn_whether_it_has_begun()
