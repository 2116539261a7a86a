"""The time of an investigation: for its runs, and for all of it."""

from pathlib import Path

import anyio
import pytest

from pytest_mcp.config.model import Options, configure
from pytest_mcp.investigation.runner import OutOfTime, Runner, deadline_of_runs
from pytest_mcp.process.supervisor_protocol import OVERTIME_SECONDS
from pytest_mcp.python.interpreter import Candidate
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("seconds", "kept"), [(240, OVERTIME_SECONDS), (10, 2.0)])
async def test_runs_must_end_so_early_that_ending_them_does_not_delay_the_answer(seconds: int, kept: float) -> None:
    earliest = anyio.current_time() + seconds - kept
    deadline = deadline_of_runs(seconds)

    assert earliest <= deadline.moment <= anyio.current_time() + seconds - kept
    assert deadline.limit == seconds


async def test_nothing_goes_on_when_all_of_it_must_be_over(tmp_path: Path) -> None:
    config = configure(Options(root=str(tmp_path)), {})
    runner = Runner(config, Candidate(Path("python"), ""), deadline_of_runs(240), end=anyio.current_time())

    with anyio.fail_after(PATIENCE), pytest.raises(OutOfTime), runner.in_time():
        await anyio.sleep_forever()
