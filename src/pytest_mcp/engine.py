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
from pytest_mcp.api.reach import ChangedLines, Reach
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, ExplainEnvironment, Request, Survey
from pytest_mcp.api.results import DiscoverResult, ExecuteResult, ExplainResult
from pytest_mcp.config.model import Config, History
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
OnRun = Callable[[Run[ExecuteTests]], None]
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
    changed_lines: ChangedLines | None = None
    on_run: OnRun | None = None

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
        if isinstance(call.request, ExecuteTests) and call.request.coverage is not None and not collect_only:
            self.command = command.measured(self.command, call.changed_lines)

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
            changed_lines=self.call.changed_lines,
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


async def execute(
    request: ExecuteTests, config: Config, spare: Spare, on_progress: OnProgress, *, on_run: OnRun | None = None
) -> ExecuteResult:
    """`on_run` is given the whole run, of which the answer is a part."""
    reach = await _reach(request, config)
    if reach is not None and reach.changed == 0:
        return result.of_no_changes(reach, request)
    lines = await _changed_lines(request, config)
    call = Call(request, config, spare, on_progress, reach, lines, on_run)
    if config.history is not None:
        return await _execute_and_record(call, config.history)
    run = await _executed(call)
    ceiling = config.max_reply_bytes
    return await in_thread(lambda: budget.fit_execution(result.executed(run), request, ceiling=ceiling))


async def _executed(call: Call[ExecuteTests]) -> Run[ExecuteTests]:
    run = await _run(call, call.request.timeout or call.config.default_timeout)
    if call.on_run is not None:
        call.on_run(run)
    return run


async def _execute_and_record(call: Call[ExecuteTests], history: History) -> ExecuteResult:
    """The answer is the same as without a history, but for a notice if nothing can be recorded."""
    # Who records nothing does not load them.
    from pytest_mcp.history import recorder  # noqa: PLC0415
    from pytest_mcp.report.history import recorded  # noqa: PLC0415

    request, ceiling = call.request, call.config.max_reply_bytes
    with recorder.of(history).begin(call.config) as recording:
        run = await _executed(call)
        report = await in_thread(partial(result.executed, run))
        past = await _remarks(report, call.config, history)
        told = replace(report, notices=[*report.notices, *past, *recording.notices()])
        answer = await in_thread(partial(budget.fit_execution, told, request, ceiling=ceiling))
        recording.keep(lambda origin, code: recorded.rows(run, report, origin, code), run.ledger.executed_functions)
    return answer


async def _remarks(report: result.Report, config: Config, history: History) -> list[str]:
    """What recorded runs say of the failures; nothing if that takes too long."""
    from pytest_mcp.history import remarks  # noqa: PLC0415

    groups = [[failure.node_id for failure in group.members] for group in report.groups]
    if groups:
        with anyio.move_on_after(remarks.LONGEST_WAIT):
            return await in_thread(partial(remarks.look, history, config.root, groups))
    return []


async def finish_recording(config: Config) -> str | None:
    """Wait, for a limited time, until everything is recorded; why not, if something is not."""
    if config.history is None:
        return None
    from pytest_mcp.history import recorder  # noqa: PLC0415

    return await recorder.of(config.history).finish()


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
    return await in_thread(lambda: environment.explained(trial, host.look(config)))


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
    examined = await in_thread(partial(reach.examine, changes, config.root))
    if config.history is None or not config.history.map:
        return examined.reach
    from pytest_mcp.history import affected  # noqa: PLC0415

    return await affected.narrow(examined, changes, config)


async def _changed_lines(request: ExecuteTests, config: Config) -> ChangedLines | None:
    """The lines whose coverage is asked for; None if it is not only that of changed lines."""
    if request.coverage != "changed":
        return None
    from pytest_mcp.changes import changed_lines  # noqa: PLC0415 - as above
    from pytest_mcp.changes.repository import CannotTell, Refused  # noqa: PLC0415

    ref = request.changed if isinstance(request.changed, str) else None
    try:
        return await changed_lines.of_change(config, ref)
    except Refused as error:
        raise InvalidParams([Fault("coverage", str(error), "no_changes", request.coverage)]) from error
    except CannotTell as error:
        return ChangedLines(ref or "the default branch", None, str(error))


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
    folder = interpreter.pointed_at(call.places, call.config.root)
    if run.ledger.no_coverage is not None:
        fix = advice.addition("coverage", candidate, call.config.root, folder)
        return Trial(candidate, tuple(rejected), doubted, no_result.without_coverage(run, fix))
    missing = run.ledger.no_xdist
    if missing is None or missing.installed:
        return Trial(candidate, tuple(rejected), doubted, no_result.diagnose(run))
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
        fix=advice.remedy(config.root, rejected, folder=folder),
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
