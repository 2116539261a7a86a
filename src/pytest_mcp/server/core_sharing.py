"""How a call shares the cores of this machine: what it needs of them, and what it is told while it waits.

The queue itself is in `process/core_queue.py`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from pytest_mcp.api.requests import Arguments, ExecuteTests
from pytest_mcp.config.model import CORES, Config
from pytest_mcp.process.core_queue import CoreQueue, Held, Need
from pytest_mcp.python import git_files, user_dirs
from pytest_mcp.run.run import OnProgress, Project, Steps
from pytest_mcp.tools import Tool

FOLDER = "pytest-mcp/cores"


@dataclass(frozen=True)
class Turn:
    """When it is a call's turn: the project with as many workers as there are cores for."""

    project: Project
    held: Held
    need: Need

    @property
    def notices(self) -> list[str]:
        """Known when the call has ended."""
        held, others = self.held, self.held.others
        runs = "Another run" if others == 1 else f"{others} other runs"
        disturbing = f"{runs} of this checkout went on at the same time: databases, ports and files can get mixed up."
        fewer = f"workers: auto found {held.cores} of {self.need.most} cores free."
        return [disturbing] * (others > 0) + [fewer] * (held.cores < self.need.most)


class PlaceInQueue:
    """Tells whoever follows a call how many are before it, each time that changes."""

    def __init__(self, on_progress: OnProgress) -> None:
        self.on_progress = on_progress
        self.ahead: int | None = None
        self.changes = 0

    def tell(self, ahead: int) -> None:
        if ahead != self.ahead:
            self.ahead, self.changes = ahead, self.changes + 1
            calls = f"{ahead or 'no'} call{'s' * (ahead != 1)} before it"
            self.on_progress(Steps(1 - 1 / (1 + self.changes), f"waiting for a core of this machine, {calls}"))


@asynccontextmanager
async def turn_of(tool: Tool, request: Arguments, project: Project, tell: Callable[[int], None]) -> AsyncIterator[Turn]:
    """Wait for the cores of a call, whose time begins after that, and hold them during the block."""
    config, need = project.config, need_of(tool, request, project.config)
    if not config.shares or not tool.takes_cores:
        yield Turn(project, Held(need.most), need)
        return
    queue = CoreQueue(user_dirs.runtime(config.environment) / FOLDER, CORES)
    async with queue.held(need, tell) as held:
        if need.least < need.most:
            project = replace(project, config=config._replace(max_workers=held.cores))
        yield Turn(project, held, need)


def need_of(tool: Tool, request: Arguments, config: Config) -> Need:
    # Shards of one suite run side by side on purpose.
    alone = tool.runs_tests and config.shard is None
    checkout = git_files.find(config.root) if alone else None
    place = str(checkout.top if checkout else config.root) if alone else None
    if not isinstance(request, ExecuteTests):
        return Need(checkout=place)
    most = config.max_workers
    if request.workers == "auto":
        return Need(1, min(CORES, most), checkout=place)
    workers = min(request.workers or 1, most)
    targets = [target for _, target in request.targets]
    is_one = len(targets) == 1 and targets[0].selector is not None
    return Need(workers, workers, may_pass=is_one and workers == 1, checkout=place)
