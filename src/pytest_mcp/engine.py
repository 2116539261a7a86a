"""The spine: request → command → process → events → result.

One call from its validated request to its answer, or to the error it is answered with. Everything
here is the order of things; each thing itself is done in the module that is named for it.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, ExplainEnvironment, Request, Survey
from pytest_mcp.api.results import DiscoverResult, ExecuteResult, ExplainResult
from pytest_mcp.config.model import Config
from pytest_mcp.environments import advice, ambiguity, host, interpreter
from pytest_mcp.environments.interpreter import Candidate
from pytest_mcp.events import decode
from pytest_mcp.events import model as events
from pytest_mcp.events.ledger import Ledger, Run
from pytest_mcp.execution import command, process
from pytest_mcp.execution.background import in_thread
from pytest_mcp.execution.spare import Spare
from pytest_mcp.execution.supervision import SpawnError
from pytest_mcp.report import budget, discovery, no_result, result
from pytest_mcp.report.environment import explain as environment
from pytest_mcp.report.environment.attempt import Trial

LAUNCHER = Path(__file__).parent / "child" / "launcher.py"

Asked = TypeVar("Asked", bound=Request)
OnProgress = Callable[[Ledger], None]


@dataclass(frozen=True)
class Deadline:
    """When a call is to be over, and the limit that was asked for: an error names that one, not what was left."""

    limit: int
    moment: float

    @classmethod
    def after(cls, seconds: int, *, named: int | None = None) -> "Deadline":
        return cls(named or seconds, anyio.current_time() + seconds)

    @property
    def left(self) -> int:
        return math.ceil(self.moment - anyio.current_time())


async def execute(request: ExecuteTests, config: Config, spare: Spare, on_progress: OnProgress) -> ExecuteResult:
    run = await _run(request, config, spare, request.timeout or config.default_timeout, on_progress)
    ceiling = config.max_reply_bytes
    return await in_thread(lambda: budget.fit_execution(result.executed(run), request, ceiling=ceiling))


async def discover(request: DiscoverTests, config: Config, spare: Spare, on_progress: OnProgress) -> DiscoverResult:
    run = await _run(request, config, spare, config.default_timeout, on_progress)
    ceiling = config.max_reply_bytes
    return await in_thread(lambda: discovery.fit_discovery(result.discovered(run), request, ceiling=ceiling))


def interrupted(request: Request, config: Config, ledger: Ledger, *, seconds: float, by: str) -> ExecutionFailed:
    """What is known of a run that was cancelled by whoever had asked for it."""
    ended = events.Exit(code=None, signal=None, reason="stopped", duration=seconds, stdout="", stderr="")
    run = Run(request, ledger, ended, (), config.default_timeout, _environment(config, None, ledger, []))
    return no_result.interrupted(run, by)


async def explain(_request: ExplainEnvironment, config: Config, spare: Spare, on_progress: OnProgress) -> ExplainResult:
    """Whatever keeps the tests from running is what was asked for, so here it is no error."""
    trial = await _try(Survey(), config, spare, config.default_timeout, on_progress)
    return await in_thread(lambda: environment.explained(trial, host.look(config)))


async def _run(request: Asked, config: Config, spare: Spare, time_limit: int, on_progress: OnProgress) -> Run[Asked]:
    """The run has a result, or this raises why not."""
    trial = await _try(request, config, spare, time_limit, on_progress)
    if trial.error is not None:
        raise trial.error
    assert trial.run is not None
    assert trial.chosen is not None
    if no_result.lost_its_targets(trial.run):
        await _look_for_targets(trial.run, config, spare, trial.chosen)
    return trial.run


async def _try(request: Asked, config: Config, spare: Spare, time_limit: int, on_progress: OnProgress) -> Trial[Asked]:
    """Run in the first interpreter that has pytest."""
    rejected: list[Candidate] = []
    places = [target.path for _, target in request.targets]
    folder = interpreter.pointed_at(places, config.root)
    deadline = Deadline.after(time_limit)
    async for candidate in interpreter.candidates(config, folder):
        # One limit for all of them: a repository may bring many that do nothing but take their time.
        if candidate.problem is not None or deadline.left <= 0:
            rejected.append(candidate.rejected(candidate.problem or "was not tried: the time limit had passed"))
            continue
        try:
            run = await _attempt(request, config, spare, candidate, deadline, on_progress, rejected)
        except ExecutionFailed as error:
            return Trial(candidate, tuple(rejected), None, error)
        if problem := _unusable(run):
            rejected.append(candidate.rejected(problem, lacks_pytest=run.ledger.hello is not None))
            continue
        return await in_thread(partial(_judged, run, candidate, rejected, places, config))
    nothing = await in_thread(partial(_no_interpreter, rejected, config, folder))
    return Trial(None, tuple(rejected), None, nothing)


def _judged(
    run: Run[Asked], candidate: Candidate, rejected: list[Candidate], places: list[Path], config: Config
) -> Trial[Asked]:
    doubted = replace(run, doubts=tuple(ambiguity.of_choice(candidate, rejected, places, config)))
    return Trial(candidate, tuple(rejected), doubted, no_result.diagnose(run))


async def _attempt(
    request: Asked,
    config: Config,
    spare: Spare,
    candidate: Candidate,
    deadline: Deadline,
    on_progress: OnProgress,
    rejected: list[Candidate],
    *,
    collect_only: bool = False,
) -> Run[Asked]:
    built = command.build(
        request,
        config,
        candidate.python,
        launcher=LAUNCHER,
        own_prefix=Path(sys.prefix),
        collect_only=collect_only or isinstance(request, DiscoverTests),
    )
    ledger = Ledger()
    finished = anyio.Event()

    def on_line(line: bytes) -> None:
        if (record := decode.parse(line)) is not None:
            ledger.take(record)
            on_progress(ledger)
            if isinstance(record.event, events.Hello) and record.event.pytest is not None:
                spare.prefer(built.launch)
            if ledger.returned is not None and anyio.current_time() < deadline.moment:
                finished.set()

    try:
        started = await spare.take(built.launch)
        ended = await process.run(built, time_limit=deadline.left, on_line=on_line, finished=finished, spare=started)
    except SpawnError as error:
        if not error.unusable:
            facts = RunFacts(command=built.reproduction, environment=_environment(config, candidate, ledger, rejected))
            raise ExecutionFailed("spawn_failure", f"Failed to spawn pytest subprocess: {error}", facts) from error
        ended = events.Exit(
            code=None,
            signal=None,
            reason="exited",
            duration=0.0,
            stdout="",
            stderr=str(error),
            report="unwritten",
        )
    if ended.reason in ("stopped", "timeout") and finished.is_set() and ledger.returned is not None:
        # It had nothing more to do, in time, and did not exit: the code is the one that it would have exited with.
        ended = replace(ended, reason="stopped", code=ledger.returned.exit_status & 0xFF, signal=None)
    environment = _environment(config, candidate, ledger, rejected)
    return Run(request, ledger, ended, built.reproduction, deadline.limit, environment)


async def _look_for_targets(run: Run[Asked], config: Config, spare: Spare, candidate: Candidate) -> None:
    """Collect once more in one process. Raises if a target is not there, else adds what left it out to the ledger."""
    deadline = Deadline.after(max(1, run.time_limit - math.ceil(run.exit.duration)), named=run.time_limit)
    again = await _attempt(run.request, config, spare, candidate, deadline, lambda _: None, [], collect_only=True)
    if error := await in_thread(partial(no_result.diagnose, again)):
        raise error
    run.ledger.left_out.update(again.ledger.left_out)
    run.ledger.compared = again.ledger.compared


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
        RunFacts(environment=_environment(config, None, Ledger(), rejected)),
        details=tried,
        fix=advice.remedy(config.root, rejected, folder=folder),
    )


def _environment(
    config: Config, candidate: Candidate | None, ledger: Ledger, rejected: list[Candidate]
) -> dict[str, Any]:
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
