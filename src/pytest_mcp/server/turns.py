"""When it is a call's turn: among the calls of its server, and on the cores of this machine, whose queue is in
`process/core_queue.py`.

A call that waits or runs when the server stops is answered with an error: without one, a client of the older protocol
would wait forever.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Literal

import anyio

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.requests import Arguments, ExecuteTests
from pytest_mcp.config.model import CORES, Config
from pytest_mcp.process.core_queue import CoreQueue, Held, Need
from pytest_mcp.python import files, git_files, user_dirs
from pytest_mcp.run.run import OnProgress, Project, Steps
from pytest_mcp.tools import Tool

FOLDER = "pytest-mcp/cores"
# Files with settings of pytest, in its order, and whether one is used even if it has no addopts.
_SETTINGS = {
    **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"), True),
    **dict.fromkeys(("pyproject.toml", "tox.ini", "setup.cfg"), False),
}
# What is read of one, and the most lines of the setting itself.
MAX_SETTINGS = 64 * 1024
MAX_LINES = 50
_WORKERS = re.compile(r"(?<![\w-])(?:-n|--numprocesses)[\s\"',=]{0,8}(auto|logical|\d{1,4})\b")
# A client waits for a minute or so longer than the time limit: the call should still have most of that for itself.
SHARE_OF_PATIENCE = 0.5


@dataclass(frozen=True)
class Turn:
    """When it is a call's turn: the project with as many workers as there are cores for."""

    project: Project
    held: Held
    need: Need
    # Whether workers that the project starts by itself are what it needs the cores for.
    is_own: bool = False

    @property
    def notices(self) -> list[str]:
        """Known when the call has ended."""
        held, others = self.held, self.held.others
        runs = "Another run" if others == 1 else f"{others} other runs"
        disturbing = f"{runs} of this checkout went on at the same time: databases, ports and files can get mixed up."
        late = f"No core was free for {self.need.patience:g} s, so it ran beside other calls, which takes longer."
        fewer = f"Only {held.cores} of {self.need.most} cores were free."
        is_fewer = held.cores < self.need.most and not self.is_own
        return [disturbing] * (others > 0) + [late] * held.is_late + [fewer] * (is_fewer and not held.is_late)


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
            self.on_progress(Steps(1 - 1 / (1 + self.changes), f"waiting to start, {calls}"))


@asynccontextmanager
async def turn_of(tool: Tool, request: Arguments, project: Project, tell: Callable[[int], None]) -> AsyncIterator[Turn]:
    """Wait for the cores of a call, whose time begins after that, and hold them during the block."""
    config, need = project.config, need_of(tool, request, project.config)
    if not config.shares or not tool.takes_cores:
        yield Turn(project, Held(need.most), need)
        return
    queue = CoreQueue(user_dirs.runtime(config.environment) / FOLDER, CORES)
    async with queue.held(need, tell) as held:
        if held.cores < need.most:
            project = replace(project, config=config._replace(max_workers=held.cores))
        is_own = need.least > 1 and isinstance(request, ExecuteTests) and request.workers is None
        yield Turn(project, held, need, is_own=is_own)


def need_of(tool: Tool, request: Arguments, config: Config) -> Need:
    # Shards of one suite run side by side on purpose.
    alone = tool.runs_tests and config.shard is None
    checkout = git_files.find(config.root) if alone else None
    place = str(checkout.top if checkout else config.root) if alone else None
    patience = SHARE_OF_PATIENCE * max(getattr(request, "timeout", None) or 0, config.default_timeout)
    need = Need(checkout=place, patience=patience)
    if not isinstance(request, ExecuteTests):
        return need
    workers = workers_in_addopts(config.root) if request.workers is None else request.workers
    most = min(CORES if workers == "auto" else workers, config.max_workers)
    least = 1 if workers == "auto" else most
    targets = [target for _, target in request.targets]
    is_one = len(targets) == 1 and targets[0].selector is not None
    return replace(need, least=least, most=most, may_pass=is_one and least == 1)


def workers_in_addopts(root: Path) -> int | Literal["auto"]:
    """How many workers the project's own settings start; those in other places than its root are not seen.

    No parser is worth its time and its errors here: a wrong number makes a call wait longer, or share a core.
    """
    for name, counts_alone in _SETTINGS.items():
        content = files.text(root / name)[:MAX_SETTINGS]
        addopts = _addopts(content)
        if addopts or (content and counts_alone):
            word = ["1", *_WORKERS.findall(addopts)][-1]
            return max(1, int(word)) if word.isdecimal() else "auto"
    return 1


def _addopts(content: str) -> str:
    """The setting with the lines that it goes on in, which are indented; empty if there is none."""
    lines = content.splitlines()
    begin = next((number for number, line in enumerate(lines) if line.lstrip().startswith("addopts")), len(lines))
    following = takewhile(lambda line: line[:1].isspace(), lines[begin + 1 : begin + MAX_LINES])
    return "\n".join([*lines[begin : begin + 1], *following])


class CallSlots:
    def __init__(self, *, at_once: int) -> None:
        self.at_once = at_once
        # In the order in which they came: the first of them run, the others wait.
        self.scopes: list[anyio.CancelScope] = []
        self.moved = anyio.Event()
        self.ended = False

    @property
    def waiting(self) -> int:
        return max(0, len(self.scopes) - self.at_once)

    @asynccontextmanager
    async def one(self, tell: Callable[[int], None]) -> AsyncIterator[None]:
        """Wait for a turn, first come first served, and keep it during the block.

        `tell` gets how many calls are before this one, while it waits.
        """
        with anyio.CancelScope() as scope:
            self.scopes.append(scope)
            if self.ended:
                scope.cancel()
            try:
                await anyio.lowlevel.checkpoint()
                while (ahead := self.scopes.index(scope) - self.at_once) >= 0:
                    tell(ahead)
                    await self.moved.wait()
                yield
            finally:
                self.scopes.remove(scope)
                self.moved.set()
                self.moved = anyio.Event()
        if scope.cancelled_caught:
            raise shutting_down()

    def end(self) -> None:
        """End every call that waits or runs, and every later one as soon as it comes."""
        self.ended = True
        for scope in self.scopes:
            scope.cancel()


def shutting_down() -> ExecutionFailed:
    return ExecutionFailed(
        "interrupted",
        "pytest execution failed: the server is shutting down and stopped this run",
        RunFacts(),
        details=["Call again after it has restarted."],
    )
