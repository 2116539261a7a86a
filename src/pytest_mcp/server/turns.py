"""When it is a call's turn: among the calls of its server, and on the cores of this machine, whose queue is in
`process/core_queue.py`.

A call that waits or runs when the server stops is answered with an error: without one, a client of the older protocol
would wait forever.
"""

import configparser
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
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
# Files with settings of pytest, and the tables or the section that they are in.
_TABLES = (
    ("pytest.toml", ("pytest",)),
    (".pytest.toml", ("pytest",)),
    ("pyproject.toml", ("tool", "pytest")),
    ("pyproject.toml", ("tool", "pytest", "ini_options")),
)
_SECTIONS = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_WORKERS = re.compile(r"(?<!\S)(?:-n|--numprocesses)[ =]?(auto|logical|\d{1,4})(?!\S)")


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
        late = f"No core was free for {self.need.patience:g} s, so it ran beside other calls, which takes longer."
        fewer = f"Only {held.cores} of {self.need.most} cores were free."
        is_fewer = held.cores < self.need.most
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
        yield Turn(project, held, need)


def need_of(tool: Tool, request: Arguments, config: Config) -> Need:
    # Shards of one suite run side by side on purpose.
    alone = tool.runs_tests and config.shard is None
    checkout = git_files.find(config.root) if alone else None
    place = str(checkout.top if checkout else config.root) if alone else None
    # A client gives up a little later than after the usual time limit, or one that it has set itself.
    patience = max(getattr(request, "timeout", None) or 0, config.default_timeout)
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
    """How many workers the project's own settings start. Settings in other places than its root are not seen."""
    words = [word for addopts in _addopts(root) for word in _WORKERS.findall(addopts)] or ["1"]
    return max(1, int(words[-1])) if words[-1].isdecimal() else "auto"


def _addopts(root: Path) -> Iterator[str]:
    for name, tables in _TABLES:
        addopts = files.table(files.toml(root / name), *tables).get("addopts", "")
        yield " ".join(files.strings(addopts)) or str(addopts)
    for name, section in _SECTIONS.items():
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        with suppress(configparser.Error):
            parser.read_string(files.text(root / name))
            yield parser.get(section, "addopts", fallback="") or ""


class Calls:
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
