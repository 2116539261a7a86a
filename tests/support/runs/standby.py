"""Calls with a spare in sight: the engine without a server, so that a test can see what waits."""

from pathlib import Path
from typing import Any

from pytest_mcp import engine
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.config.model import Config
from pytest_mcp.process.spare import Spare
from pytest_mcp.run.run import Project
from tests.support.leftovers import children
from tests.support.workbench import Workbench


async def execute(bench: Workbench, spare: Spare, *, config: Config | None = None, **arguments: Any) -> ExecuteResult:
    request, project = ExecuteTests(**arguments), Project(config or bench.config, spare)
    with spare.during_a_call():
        known = await engine.execute(request, project)
    return engine.answer(known, request, project.config)


def waiting_child(spare: Spare) -> int | None:
    """The number of the spare's child, once it has made itself ready and left the project's folder."""
    if spare.started is None:
        return None
    for worker in children(spare.started.supervisor.pid):
        for number in children(worker):
            if Path(f"/proc/{number}/cwd").readlink() == Path("/"):
                return number
    return None
