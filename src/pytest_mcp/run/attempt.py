"""One run of a call in one interpreter. Whether it has a result is decided in `report`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import anyio

from pytest_mcp.api.errors import ExecutionFailed, RunEnvironment, RunFacts
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, Request
from pytest_mcp.config.model import Config
from pytest_mcp.process import process
from pytest_mcp.process.confinement import confinement
from pytest_mcp.process.job import Command, Exit, Job, SpawnError
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run import command, decode, events
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Asked_co, ChangedLines, Project, Reach, Run

Asked = TypeVar("Asked", bound=Request)
# Why a process has ended that did not exit by itself.
_ON_OUR_ORDER = ("stopped", "interrupted", "timeout")
# An interpreter that cannot be executed, as if it had exited at once.
_NOT_STARTED = Exit(code=None, signal=None, reason="exited", duration=0.0, stdout="", stderr="", report="unwritten")


@dataclass(frozen=True)
class Deadline:
    """When a call must be over, and the limit that was asked for: an error names that one, not what was left."""

    limit: int
    moment: float

    @classmethod
    def after(cls, seconds: int, *, named: int | None = None) -> "Deadline":
        return cls(named or seconds, anyio.current_time() + seconds)

    @property
    def left(self) -> float:
        return self.moment - anyio.current_time()


@dataclass(frozen=True)
class Call(Generic[Asked_co]):
    """What was asked of which project, and what of it has changed, if that was asked too."""

    request: Asked_co
    project: Project
    reach: Reach | None = None
    changed_lines: ChangedLines | None = None

    @property
    def config(self) -> Config:
        return self.project.config

    @property
    def collects_only(self) -> bool:
        return isinstance(self.request, DiscoverTests)

    @property
    def places(self) -> list[Path]:
        return [target.path for _, target in self.request.targets]


class Attempt(Generic[Asked_co]):
    """One run of a call in one interpreter: what the child has reported so far, and how it ends."""

    def __init__(self, call: Call[Asked_co], chosen: Candidate, deadline: Deadline, command: Command) -> None:
        self.call = call
        self.chosen = chosen
        self.deadline = deadline
        self.ledger = Ledger()
        self.finished = anyio.Event()
        self.tested_in_time = False
        self.command = command

    async def run(self, rejected: Sequence[Candidate]) -> Run[Asked_co]:
        """Raises ExecutionFailed if the machine cannot start processes."""
        try:
            ended = self._as_finished(await self._process())
        except SpawnError as error:
            if not error.unusable:
                facts = RunFacts(command=self.command.reproduction, environment=self._environment(rejected))
                raise ExecutionFailed("spawn_failure", f"Failed to spawn pytest subprocess: {error}", facts) from error
            ended = replace(_NOT_STARTED, stderr=str(error))
        return Run(
            self.call.request,
            self.ledger,
            ended,
            self.command.reproduction,
            self.deadline.limit,
            self._environment(rejected),
            shard=self.call.config.shard,
            reach=self.call.reach,
            changed_lines=self.call.changed_lines,
            max_memory=self.call.config.max_memory,
            sandbox=confinement(self.call.config.root),
        )

    async def _process(self) -> Exit:
        spare = self.call.project.spare
        return await process.run(
            self.command,
            time_limit=self.deadline.left,
            on_line=self._take,
            finished=self.finished,
            spare=await spare.take(self.command.launch) if spare is not None else None,
        )

    def _take(self, line: bytes) -> None:
        record = decode.parse(line)
        if record is None:
            return
        self.ledger.take(record)
        project = self.call.project
        project.on_progress(self.ledger)
        if project.spare is not None and isinstance(record.event, events.Hello) and record.event.pytest is not None:
            project.spare.launch = self.command.launch
        if anyio.current_time() < self.deadline.moment:
            self.tested_in_time = self.ledger.measuring is not None
            if self.ledger.returned is not None:
                self.finished.set()

    def _as_finished(self, ended: Exit) -> Exit:
        """If it had nothing more to do, in time, and did not exit: with the code that it would have exited with."""
        returned = self.ledger.returned
        if ended.timed_out and self.tested_in_time and self.ledger.measuring is not None and returned is None:
            # The results of the tests do not wait for coverage.
            return replace(ended, reason="stopped", code=self.ledger.measuring.exit_status & 0xFF, signal=None)
        if returned is None or not self.finished.is_set() or ended.reason not in _ON_OUR_ORDER:
            return ended
        code = returned.exit_status & 0xFF
        if ended.reason == "interrupted" and ended.code == code:
            return ended  # a session that Ctrl-C ended, and a process that exited after it
        return replace(ended, reason="stopped", code=code, signal=None, stopped_by=None)

    def _environment(self, rejected: Sequence[Candidate]) -> RunEnvironment:
        return environment_of(self.call.config, self.chosen, self.ledger, rejected)


def command_of(call: Call[Asked], chosen: Candidate, *, collects_only: bool) -> Command:
    whole = command.build(
        call.request, call.config, chosen.python, own_prefix=Path(sys.prefix), collect_only=collects_only
    )
    job: Job = {**whole.job}
    if call.reach is not None:
        job["files"], job["unreached"] = list(call.reach.files), list(call.reach.unreached)
    if isinstance(call.request, ExecuteTests) and call.request.coverage is not None and not collects_only:
        job["coverage"] = {"changed": None if call.changed_lines is None else call.changed_lines.ranges}
    return replace(whole, job=job)


def environment_of(
    config: Config, candidate: Candidate | None, ledger: Ledger, rejected: Sequence[Candidate]
) -> RunEnvironment:
    return RunEnvironment(
        root=str(config.root),
        interpreter=None if candidate is None else str(candidate.python),
        candidates=[other.described() for other in rejected],
        python=ledger.hello.python if ledger.hello else None,
        pytest=ledger.hello.pytest if ledger.hello else None,
        config_file=_config_file(ledger),
    )


def _config_file(ledger: Ledger) -> str | None:
    """As pytest names it; if it could not even read the file, as it was found."""
    if ledger.configured is not None:
        return ledger.configured.inifile
    return ledger.usage_fault.configuration if ledger.usage_fault else None
