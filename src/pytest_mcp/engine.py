"""The order of things in one call: request, run, report, answer.

`execute` returns all that is known of a run, whatever became of it. `answer` makes of that what a client is sent: as
much as its limits leave, or the error that says why there is no result.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from pytest_mcp.api.errors import CallError, ExecutionFailed, Fault, InvalidParams
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, ExplainEnvironment, Request, Survey
from pytest_mcp.api.results import DiscoverResult, ExecuteResult, ExplainResult
from pytest_mcp.config.model import Config, History
from pytest_mcp.environment import interpreters
from pytest_mcp.environment.surroundings import surroundings
from pytest_mcp.process import additions, interruption
from pytest_mcp.process.background import in_thread
from pytest_mcp.report import budget, error_data, report
from pytest_mcp.report.report import Report
from pytest_mcp.run.attempt import Call, Deadline
from pytest_mcp.run.run import ChangedLines, Project, Reach

if TYPE_CHECKING:
    from pytest_mcp.changed.working_tree import TreeComparison
    from pytest_mcp.environment.interpreters import Trial
    from pytest_mcp.investigation.base import FoundBase


async def execute(request: ExecuteTests, project: Project) -> Report:
    try:
        return await _execute(request, project)
    except CallError as error:
        return report.report_without_run(error, project.config.shard)


async def _execute(request: ExecuteTests, project: Project) -> Report:
    config = project.config
    change = await _change(request, config)
    if change.reach is not None and change.reach.changed == 0:
        return report.report_without_changes(change.reach, request, config.shard)
    call = Call(request, project, change.reach, change.lines)
    if config.history is not None:
        return await _executed_and_recorded(call, config.history, change.comparison)
    return await _executed(call)


def answer(known: Report, request: ExecuteTests, config: Config) -> ExecuteResult:
    """What is sent of it. Raises the error of a run without a result, with an answer of what had been reported."""
    if known.problem is None:
        return budget.fit_execution(known, request, ceiling=config.max_reply_bytes)
    if not known.has_begun or not isinstance(known.problem, ExecutionFailed):
        raise known.problem
    asked = error_data.for_partial(known.problem, request)
    partial_answer = budget.fit_execution(known, asked, ceiling=budget.PARTIAL_BYTES)
    raise known.problem.with_facts(partial=partial_answer.model_dump())


async def _executed(call: Call[ExecuteTests]) -> Report:
    seconds, started = call.request.timeout or call.config.default_timeout, anyio.current_time()
    base = None if call.request.base is None else await _base(call, call.request.base, seconds)
    trial = await interpreters.run(call, seconds)
    if trial.run is not None:
        known = await in_thread(partial(report.execution_report, trial.run, trial.error))
        if base is None or trial.error is not None:
            return known
        left = seconds - (anyio.current_time() - started)
        return await _against_base(known, trial, call, base, max(1, int(left)))
    assert trial.error is not None, "there is a run, or the reason why there is none"
    return report.report_without_run(trial.error, call.config.shard)


async def _base(call: Call[ExecuteTests], ref: str, seconds: int) -> "FoundBase":
    """Before anything runs: a ref that names no commit is refused."""
    from pytest_mcp.investigation.base import find_base  # noqa: PLC0415 - few calls ask for it

    return await find_base(call.config, ref, Deadline.after(seconds))


async def _against_base(
    known: Report, trial: "Trial[ExecuteTests]", call: Call[ExecuteTests], base: "FoundBase", seconds: int
) -> Report:
    from pytest_mcp.investigation.against_base import against_base  # noqa: PLC0415
    from pytest_mcp.investigation.runner import Runner, deadline_of_runs  # noqa: PLC0415

    assert trial.run is not None
    assert trial.chosen is not None
    runner = Runner(call.config, trial.chosen, deadline_of_runs(seconds), anyio.current_time() + seconds)
    compared = await against_base(trial.run, runner, base)
    return replace(known, base=compared.groups, notices=[*known.notices, *compared.notices])


async def _executed_and_recorded(
    call: Call[ExecuteTests], history: History, comparison: "TreeComparison | None"
) -> Report:
    """The same as without a history, but for notices: what is recorded of the failures, or why nothing is."""
    # Who records nothing does not load them.
    from pytest_mcp.history.recorder import recorder_of  # noqa: PLC0415

    with recorder_of(history).begin(call.config, comparison) as recording:
        known = await _executed(call)
        if known.problem is not None:
            return known
        groups = await in_thread(lambda: [[failure.node_id for failure in group.members] for group in known.groups])
        past = await additions.awaited("recorded runs", recording.notices(groups), instead=[])
        recording.keep(call.request, known)
    return replace(known, past=past)


async def finish_recording(config: Config, *, is_awaited: bool = False) -> str | None:
    """Wait, for a limited time, until everything is recorded; why not, if something is not.

    Somebody who has typed a command waits longer than a client that has left.
    """
    if config.history is None:
        return None
    from pytest_mcp.history.recorder import recorder_of  # noqa: PLC0415

    return await recorder_of(config.history).finish(is_awaited=is_awaited)


async def discover(request: DiscoverTests, project: Project) -> DiscoverResult:
    from pytest_mcp.report import discovery  # noqa: PLC0415 - most calls execute tests

    config = project.config
    reach = (await _change(request, config)).reach
    if reach is not None and reach.changed == 0:
        return discovery.discovery_without_changes(reach)
    trial = await interpreters.run(Call(request, project, reach), config.default_timeout)
    if trial.error is not None:
        raise trial.error
    assert trial.run is not None, "there is a run, or the reason why there is none"
    whole = partial(discovery.whole_discovery, trial.run)
    return await in_thread(lambda: discovery.fit_discovery(whole(), request, ceiling=config.max_reply_bytes))


async def explain(request: ExplainEnvironment, project: Project) -> ExplainResult:
    """What keeps the tests from running is the answer here, not an error."""
    from pytest_mcp.environment.explain import explained  # noqa: PLC0415 - most calls execute tests

    config = project.config
    trial = await interpreters.try_interpreters(Call(Survey.covering(request), project), config.default_timeout)
    if trial.error is not None and interruption.signal_that_stopped() is not None:
        raise trial.error
    python = trial.chosen.python if trial.chosen else None
    folder = None if request.path is None else request.path.path
    return await in_thread(lambda: explained(trial, surroundings(config, python, folder)))


@dataclass(frozen=True)
class _Change:
    """What the change that a request names can reach, and its lines, as far as it asks for them."""

    reach: Reach | None = None
    lines: ChangedLines | None = None
    comparison: "TreeComparison | None" = None


async def _change(request: Request, config: Config) -> _Change:
    by_lines = isinstance(request, ExecuteTests) and request.coverage == "changed"
    if request.changed is None and not by_lines:
        return _Change()
    # No other call needs them, and they take time to load.
    from pytest_mcp.changed import working_tree  # noqa: PLC0415
    from pytest_mcp.changed.git_commands import CannotTell, ChangesRefused  # noqa: PLC0415
    from pytest_mcp.changed.reach import tests_reached  # noqa: PLC0415

    ref = request.changed if isinstance(request.changed, str) else None
    try:
        comparison = await working_tree.since_ref(config, ref, lines=by_lines)
        reached = None if request.changed is None else await tests_reached(comparison)
    except ChangesRefused as error:
        name, value = ("coverage", "changed") if request.changed is None else ("changed", request.changed)
        raise InvalidParams([Fault(name, str(error), "no_changes", value)]) from error
    except CannotTell as error:
        since, why = ref or "the default branch", str(error)
        unknown = None if request.changed is None else Reach(since, None, reason=why)
        return _Change(unknown, ChangedLines(since, None, why) if by_lines else None)
    return _Change(reached, comparison.added_lines() if by_lines else None, comparison)
