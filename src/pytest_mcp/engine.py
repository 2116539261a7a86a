"""The order of things in one call: request, run, result, answer.

In comes a validated request; out comes its answer, or the error it is answered with. Every step is done in the
module that is named for it.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_mcp.api.errors import ExecutionFailed, Fault, InvalidParams
from pytest_mcp.api.reach import ChangedLines, Reach
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, ExplainEnvironment, Request, Survey
from pytest_mcp.api.results import DiscoverResult, ExecuteResult, ExplainResult
from pytest_mcp.config.model import Config, History
from pytest_mcp.environments import host
from pytest_mcp.events.exit import Exit
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.run import Run
from pytest_mcp.execution import additions
from pytest_mcp.execution.background import in_thread
from pytest_mcp.execution.spare import Spare
from pytest_mcp.report import budget, discovery, no_result, result
from pytest_mcp.report.environment import explain as environment
from pytest_mcp.running import interpreters
from pytest_mcp.running.attempt import Call, OnProgress, OnRun, environment_of

if TYPE_CHECKING:
    from pytest_mcp.changes.differences import Look


async def execute(
    request: ExecuteTests, config: Config, spare: Spare | None, on_progress: OnProgress, *, on_run: OnRun | None = None
) -> ExecuteResult:
    """`on_run` is given the whole run, of which the answer is a part."""
    change = await _change(request, config)
    if change.reach is not None and change.reach.changed == 0:
        return result.of_no_changes(change.reach, request)
    call = Call(request, config, spare, on_progress, change.reach, change.lines, on_run)
    if config.history is not None:
        return await _execute_and_record(call, config.history, change.look)
    run = await _executed(call)
    ceiling = config.max_reply_bytes
    return await in_thread(lambda: budget.fit_execution(result.executed(run), request, ceiling=ceiling))


async def _executed(call: Call[ExecuteTests]) -> Run[ExecuteTests]:
    run = await interpreters.run(call, call.request.timeout or call.config.default_timeout)
    if call.on_run is not None:
        call.on_run(run)
    return run


async def _execute_and_record(call: Call[ExecuteTests], history: History, look: "Look | None") -> ExecuteResult:
    """The answer is the same as without a history, but for a notice if nothing can be recorded."""
    # Who records nothing does not load them.
    from pytest_mcp.history import recorder  # noqa: PLC0415
    from pytest_mcp.report.history import recorded  # noqa: PLC0415

    request, ceiling = call.request, call.config.max_reply_bytes
    with recorder.of(history).begin(call.config, look) as recording:
        run = await _executed(call)
        report = await in_thread(partial(result.executed, run))
        groups = [[failure.node_id for failure in group.members] for group in report.groups]
        past = await additions.awaited("recorded runs", recording.notices(groups), instead=[])
        told = replace(report, notices=[*report.notices, *past])
        answer = await in_thread(partial(budget.fit_execution, told, request, ceiling=ceiling))
        recording.keep(lambda origin, code: recorded.rows(run, report, origin, code))
    return answer


async def finish_recording(config: Config, *, is_awaited: bool = False) -> str | None:
    """Wait, for a limited time, until everything is recorded; why not, if something is not.

    Somebody who has typed a command waits longer than a client that has left.
    """
    if config.history is None:
        return None
    from pytest_mcp.history import recorder  # noqa: PLC0415

    return await recorder.of(config.history).finish(is_awaited=is_awaited)


async def discover(
    request: DiscoverTests, config: Config, spare: Spare | None, on_progress: OnProgress
) -> DiscoverResult:
    reach = (await _change(request, config)).reach
    if reach is not None and reach.changed == 0:
        return discovery.of_no_changes(reach)
    run = await interpreters.run(Call(request, config, spare, on_progress, reach), config.default_timeout)
    ceiling = config.max_reply_bytes
    return await in_thread(lambda: discovery.fit_discovery(result.discovered(run), request, ceiling=ceiling))


def interrupted(request: Request, config: Config, ledger: Ledger, *, seconds: float, by: str) -> ExecutionFailed:
    """What is known of a run that was cancelled by whoever had asked for it."""
    ended = Exit(code=None, signal=None, reason="stopped", duration=seconds, stdout="", stderr="")
    run = Run(request, ledger, ended, (), config.default_timeout, environment_of(config, None, ledger, []))
    return no_result.interrupted(run, by)


async def explain(
    request: ExplainEnvironment, config: Config, spare: Spare | None, on_progress: OnProgress
) -> ExplainResult:
    """What keeps the tests from running is the answer here, not an error."""
    survey = Call(Survey.of(request), config, spare, on_progress)
    trial = await interpreters.try_interpreters(survey, config.default_timeout)
    python = trial.chosen.python if trial.chosen else None
    folder = None if request.path is None else request.path.path
    return await in_thread(lambda: environment.explained(trial, host.look(config, python, folder)))


@dataclass(frozen=True)
class _Change:
    """What the change that a request names can reach, and its lines, as far as it asks for them."""

    reach: Reach | None = None
    lines: ChangedLines | None = None
    look: "Look | None" = None


async def _change(request: Request, config: Config) -> _Change:
    by_lines = isinstance(request, ExecuteTests) and request.coverage == "changed"
    if request.changed is None and not by_lines:
        return _Change()
    # No other call needs them, and they take time to load.
    from pytest_mcp.changes import changed_lines, differences, reach  # noqa: PLC0415
    from pytest_mcp.changes.git_commands import CannotTell, Refused  # noqa: PLC0415

    ref = request.changed if isinstance(request.changed, str) else None
    try:
        look = await differences.of_ref(config, ref, lines=by_lines)
    except Refused as error:
        name, value = ("coverage", "changed") if request.changed is None else ("changed", request.changed)
        raise InvalidParams([Fault(name, str(error), "no_changes", value)]) from error
    except CannotTell as error:
        since, why = ref or "the default branch", str(error)
        unknown = None if request.changed is None else Reach(since, None, reason=why)
        return _Change(unknown, ChangedLines(since, None, why) if by_lines else None)
    reached = None
    if request.changed is not None:
        reached = await in_thread(partial(reach.of_changes, look.changes, config.root))
    return _Change(reached, changed_lines.added(look) if by_lines else None, look)
