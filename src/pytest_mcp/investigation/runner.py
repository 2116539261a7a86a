"""Run chosen tests in a fresh process, as often as an investigation needs, until its deadline.

In come node ids in the order in which they are to run; out comes the run, whatever became of it. What the runs of an
investigation are is decided in `investigate`, what one of them says about the test in `outcome`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from pytest_mcp.api.requests import MAX_NODE_IDS, ExecuteTests
from pytest_mcp.config.model import Config
from pytest_mcp.engine import Attempt, Call, Deadline
from pytest_mcp.environments import interpreter
from pytest_mcp.environments.interpreter import Candidate
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.run import Run
from pytest_mcp.execution.command import Command
from pytest_mcp.execution.job import Trace
from pytest_mcp.execution.spare import Spare

# A run that would have less time than this is not started.
LEAST_SECONDS = 1


class OutOfTime(Exception):
    """The deadline has passed; nothing was started."""


def _ignore(_ledger: Ledger) -> None:
    pass


@dataclass(frozen=True)
class Runner:
    """Runs tests of the project in `config.root` with the Python that was chosen for it."""

    config: Config
    chosen: Candidate
    deadline: Deadline
    # Set in the environment of every run, over what the operator's has.
    variables: Mapping[str, str] = field(default_factory=dict)
    # Further options for pytest. Only options that the project's plugins are known to have.
    options: tuple[str, ...] = ()
    on_progress: Callable[[Ledger], None] = _ignore

    def with_variables(self, **variables: str) -> "Runner":
        return replace(self, variables={**self.variables, **variables})

    def with_options(self, *options: str) -> "Runner":
        return replace(self, options=(*self.options, *options))

    def within(self, seconds: float) -> "Runner":
        """The same, with at most so much time for all that it runs from now on."""
        moment = min(self.deadline.moment, anyio.current_time() + max(LEAST_SECONDS, seconds))
        return replace(self, deadline=replace(self.deadline, moment=moment))

    def at(self, root: Path) -> "Runner":
        """The same, for a copy of the project in another folder."""
        return replace(self, config=self.config._replace(root=root))

    async def run(
        self, ids: Sequence[str] | None, *, paths: Sequence[str] = (), trace: Trace | None = None
    ) -> Run[ExecuteTests]:
        """Run exactly these tests in this order, in one process. None: all tests that pytest finds.

        `paths` are the files and folders that pytest collects (and imports); without any, the files of the ids.
        Raises OutOfTime, or ExecutionFailed if the machine cannot start processes.
        """
        if ids is not None and not paths:
            paths = list(dict.fromkeys(node_id.partition("::")[0] for node_id in ids))
        request = self.request(*paths)
        return await self._attempt(request, {"ids": None if ids is None else [*ids], "trace": trace})

    async def run_as_asked(self, node_ids: Sequence[str]) -> Run[ExecuteTests]:
        """As `execute_tests` would run these `node_ids`."""
        return await self._attempt(self.request(*node_ids), {})

    def request(self, *targets: str) -> ExecuteTests:
        """More targets than a call may name stand for everything."""
        named = {"node_ids": list(targets)} if 0 < len(targets) <= MAX_NODE_IDS else {}
        return ExecuteTests.model_validate({**named, "show_capture": False}, context=self.config.bounds)

    async def _attempt(self, request: ExecuteTests, job: Mapping[str, Any]) -> Run[ExecuteTests]:
        if self.deadline.left < LEAST_SECONDS:
            raise OutOfTime
        config = self.config._replace(environment={**self.config.environment, **self.variables})
        # Never the server's spare: it was started in another environment, and the next call can use it.
        spare = Spare(wanted=False, fingerprint=interpreter.state)
        call = Call(request, config, spare, self.on_progress)
        attempt = Attempt(call, self.chosen, self.deadline, collect_only=False)
        attempt.command = self._completed(attempt.command, job)
        return await attempt.run([])

    def _completed(self, command: Command, job: Mapping[str, Any]) -> Command:
        merged: Any = {**command.job, **job, "args": [*self.options, *command.job["args"]]}
        return replace(command, job=merged)
