"""The order of things in one call: request, command, process, events, result.

In comes a validated request; out comes its answer, or the error it is answered with. Every step is done in the
module that is named for it.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

import anyio

from pytest_mcp.api.errors import ExecutionFailed, Fault, InvalidParams, RunFacts
from pytest_mcp.api.reach import Reach
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, ExplainEnvironment, Request, Survey
from pytest_mcp.api.results import DiscoverResult, ExecuteResult, ExplainResult
from pytest_mcp.config.model import Config
from pytest_mcp.environments import advice, ambiguity, host, interpreter
from pytest_mcp.environments.interpreter import Candidate
from pytest_mcp.events import decode
from pytest_mcp.events import model as events
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.run import Asked_co, Exit, Run, RunEnvironment
from pytest_mcp.events.steps import Steps
from pytest_mcp.execution import command, process
from pytest_mcp.execution.background import in_thread
from pytest_mcp.execution.spare import Spare
from pytest_mcp.execution.supervision import SpawnError
from pytest_mcp.report import budget, discovery, no_result, result
from pytest_mcp.report.environment import explain as environment
from pytest_mcp.report.environment.attempt import Trial

Asked = TypeVar("Asked", bound=Request)
OnProgress = Callable[[Ledger | Steps], None]
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
    def left(self) -> int:
        return math.ceil(self.moment - anyio.current_time())


@dataclass(frozen=True)
class Call(Generic[Asked_co]):
    """What was asked, with the settings it is answered by, the spare child and whoever follows the progress."""

    request: Asked_co
    config: Config
    spare: Spare
    on_progress: OnProgress
    reach: Reach | None = None

    @property
    def places(self) -> list[Path]:
        return [target.path for _, target in self.request.targets]


class Attempt(Generic[Asked_co]):
    """One run of a call in one interpreter: what the child has reported so far, and how it ends."""

    def __init__(self, call: Call[Asked_co], chosen: Candidate, deadline: Deadline, *, collect_only: bool) -> None:
        self.call = call
        self.chosen = chosen
        self.deadline = deadline
        self.ledger = Ledger()
        self.finished = anyio.Event()
        whole = command.build(
            call.request, call.config, chosen.python, own_prefix=Path(sys.prefix), collect_only=collect_only
        )
        self.command = command.limited(whole, call.reach)

    async def run(self, rejected: Sequence[Candidate]) -> Run[Asked_co]:
        """Raises ExecutionFailed if the machine cannot start processes."""
        try:
            ended = self._as_finished(await self._process())
        except SpawnError as error:
            if not error.unusable:
                facts = RunFacts(command=self.command.reproduction, environment=dict(self._environment(rejected)))
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
        )

    async def _process(self) -> Exit:
        started = await self.call.spare.take(self.command.launch)
        return await process.run(
            self.command,
            time_limit=self.deadline.left,
            on_line=self._take,
            finished=self.finished,
            spare=started,
        )

    def _take(self, line: bytes) -> None:
        record = decode.parse(line)
        if record is None:
            return
        self.ledger.take(record)
        self.call.on_progress(self.ledger)
        if isinstance(record.event, events.Hello) and record.event.pytest is not None:
            self.call.spare.prefer(self.command.launch)
        if self.ledger.returned is not None and anyio.current_time() < self.deadline.moment:
            self.finished.set()

    def _as_finished(self, ended: Exit) -> Exit:
        """If it had nothing more to do, in time, and did not exit: with the code that it would have exited with."""
        returned = self.ledger.returned
        if returned is None or not self.finished.is_set() or ended.reason not in ("stopped", "timeout"):
            return ended
        return replace(ended, reason="stopped", code=returned.exit_status & 0xFF, signal=None)

    def _environment(self, rejected: Sequence[Candidate]) -> RunEnvironment:
        return _environment(self.call.config, self.chosen, self.ledger, rejected)


async def execute(request: ExecuteTests, config: Config, spare: Spare, on_progress: OnProgress) -> ExecuteResult:
    reach = await _reach(request, config)
    if reach is not None and reach.changed == 0:
        return result.of_no_changes(reach)
    run = await _run(Call(request, config, spare, on_progress, reach), request.timeout or config.default_timeout)
    ceiling = config.max_reply_bytes
    return await in_thread(lambda: budget.fit_execution(result.executed(run), request, ceiling=ceiling))


async def discover(request: DiscoverTests, config: Config, spare: Spare, on_progress: OnProgress) -> DiscoverResult:
    reach = await _reach(request, config)
    if reach is not None and reach.changed == 0:
        return discovery.of_no_changes(reach)
    run = await _run(Call(request, config, spare, on_progress, reach), config.default_timeout)
    ceiling = config.max_reply_bytes
    return await in_thread(lambda: discovery.fit_discovery(result.discovered(run), request, ceiling=ceiling))


def interrupted(request: Request, config: Config, ledger: Ledger, *, seconds: float, by: str) -> ExecutionFailed:
    """What is known of a run that was cancelled by whoever had asked for it."""
    ended = Exit(code=None, signal=None, reason="stopped", duration=seconds, stdout="", stderr="")
    run = Run(request, ledger, ended, (), config.default_timeout, _environment(config, None, ledger, []))
    return no_result.interrupted(run, by)


async def explain(_request: ExplainEnvironment, config: Config, spare: Spare, on_progress: OnProgress) -> ExplainResult:
    """What keeps the tests from running is the answer here, not an error."""
    trial = await try_interpreters(Call(Survey(), config, spare, on_progress), config.default_timeout)
    python = trial.chosen.python if trial.chosen else None
    return await in_thread(lambda: environment.explained(trial, host.look(config, python)))


async def _reach(request: Request, config: Config) -> Reach | None:
    """What the change that the request names can reach; None if it names none."""
    if request.changed is None:
        return None
    # No other call needs them, and they take time to load.
    from pytest_mcp.changes import differences, reach  # noqa: PLC0415
    from pytest_mcp.changes.repository import CannotTell, Refused  # noqa: PLC0415

    ref = request.changed if isinstance(request.changed, str) else None
    try:
        changes = await differences.since(config, ref)
    except Refused as error:
        raise InvalidParams([Fault("changed", str(error), "no_changes", request.changed)]) from error
    except CannotTell as error:
        return Reach(ref or "the default branch", None, reason=str(error))
    return await in_thread(partial(reach.of_changes, changes, config.root))


async def _run(call: Call[Asked], time_limit: int) -> Run[Asked]:
    """The run has a result, or this raises why not."""
    trial = await try_interpreters(call, time_limit)
    if trial.error is not None:
        raise trial.error
    assert trial.run is not None
    assert trial.chosen is not None
    if no_result.lost_its_targets(trial.run) or no_result.lost_its_division(trial.run):
        await _look_for_targets(call, trial.run, trial.chosen)
    return trial.run


async def try_interpreters(call: Call[Asked], time_limit: int) -> Trial[Asked]:
    """Run in the first interpreter that has pytest."""
    rejected: list[Candidate] = []
    folder = interpreter.pointed_at(call.places, call.config.root)
    deadline = Deadline.after(time_limit)
    collect_only = isinstance(call.request, DiscoverTests)
    async for candidate in interpreter.candidates(call.config, folder):
        # One limit for all of them: a repository may bring many that only take time.
        if candidate.problem is not None or deadline.left <= 0:
            rejected.append(candidate.rejected(candidate.problem or "was not tried: the time limit had passed"))
            continue
        try:
            run = await Attempt(call, candidate, deadline, collect_only=collect_only).run(rejected)
        except ExecutionFailed as error:
            return Trial(candidate, tuple(rejected), None, error)
        if problem := _unusable(run):
            rejected.append(candidate.rejected(problem, lacks_pytest=run.ledger.hello is not None))
            continue
        return await in_thread(partial(_judged, call, run, candidate, rejected))
    nothing = await in_thread(partial(_no_interpreter, rejected, call.config, folder))
    return Trial(None, tuple(rejected), None, nothing)


def _judged(call: Call[Asked], run: Run[Asked], candidate: Candidate, rejected: list[Candidate]) -> Trial[Asked]:
    doubted = replace(run, doubts=tuple(ambiguity.of_choice(candidate, rejected, call.places, call.config)))
    missing = run.ledger.no_xdist
    if missing is None or missing.installed:
        return Trial(candidate, tuple(rejected), doubted, no_result.diagnose(run))
    folder = interpreter.pointed_at(call.places, call.config.root)
    fix = advice.addition("pytest-xdist", candidate, call.config.root, folder)
    return Trial(candidate, tuple(rejected), doubted, no_result.without_xdist(run, fix))


async def _look_for_targets(call: Call[Asked], run: Run[Asked], candidate: Candidate) -> None:
    """Collect once more in one process. Raises if a target is not there, else adds what is missing to the ledger."""
    deadline = Deadline.after(max(1, run.time_limit - math.ceil(run.exit.duration)), named=run.time_limit)
    quiet = replace(call, on_progress=lambda _: None)
    again = await Attempt(quiet, candidate, deadline, collect_only=True).run([])
    if error := await in_thread(partial(no_result.diagnose, again)):
        raise error
    run.ledger.left_out.update(again.ledger.left_out)
    run.ledger.compared = again.ledger.compared
    run.ledger.divided = again.ledger.divided


def _unusable(run: Run[Asked]) -> str | None:
    """Why this interpreter cannot run the project's tests, if it cannot."""
    hello = run.ledger.hello
    if hello is not None and hello.pytest is not None:
        return None
    if hello is not None:
        return f"pytest cannot be imported: {hello.error}"
    if run.exit.reason != "exited" or run.exit.report != "unwritten":
        return None
    said = run.exit.stderr.strip().splitlines()[-1:] or [f"exit code {run.exit.code}, signal {run.exit.signal}"]
    return f"cannot be started: {said[0]}"


def _no_interpreter(rejected: list[Candidate], config: Config, folder: Path) -> ExecutionFailed:
    tried = [candidate.line for candidate in rejected]
    if not tried:
        tried = [f"No environment was found: {folder} has no .venv or venv up to the root, and none is active."]
    return ExecutionFailed(
        "environment",
        f"pytest execution failed: no usable Python with pytest was found for the project in {config.root}",
        RunFacts(environment=dict(_environment(config, None, Ledger(), rejected))),
        details=tried,
        fix=advice.remedy(config.root, rejected, folder=folder, search_path=config.environment.get("PATH", "")),
    )


def _environment(
    config: Config, candidate: Candidate | None, ledger: Ledger, rejected: Sequence[Candidate]
) -> RunEnvironment:
    return {
        "root": str(config.root),
        "interpreter": None if candidate is None else str(candidate.python),
        "candidates": [other.described() for other in rejected],
        "python": ledger.hello.python if ledger.hello else None,
        "pytest": ledger.hello.pytest if ledger.hello else None,
        "config_file": _config_file(ledger),
    }


def _config_file(ledger: Ledger) -> str | None:
    """As pytest names it; if it could not even read the file, as it was found."""
    if ledger.configured is not None:
        return ledger.configured.inifile
    return ledger.usage_fault.configuration if ledger.usage_fault else None
