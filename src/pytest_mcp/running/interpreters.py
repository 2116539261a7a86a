"""Run a call in the first interpreter that has pytest.

In comes a call; out comes its run, or the error that says why there is none.
"""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_mcp.api.errors import ExecutionFailed, Fix, RunFacts
from pytest_mcp.api.requests import DiscoverTests, Survey
from pytest_mcp.config.model import Config
from pytest_mcp.environments import advice, ambiguity, host, interpreter, project_root, user_dirs
from pytest_mcp.environments.interpreter import Candidate
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.run import Run
from pytest_mcp.execution.background import in_thread
from pytest_mcp.report import no_result
from pytest_mcp.report.environment import readiness
from pytest_mcp.report.environment.attempt import Trial
from pytest_mcp.running.attempt import Asked, Attempt, Call, Deadline, environment_of


async def run(call: Call[Asked], time_limit: int) -> Run[Asked]:
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
    """Run in the first interpreter that has pytest. Raises if nothing is to be run in this root."""
    if (refusal := await in_thread(partial(project_root.refusal, call.config.root))) is not None:
        raise ExecutionFailed("environment", f"pytest execution failed: {refusal}", RunFacts())
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
    folder = interpreter.pointed_at(call.places, call.config.root)
    doubts = tuple(ambiguity.of_choice(candidate, rejected, call.places, call.config))
    doubted = replace(run, doubts=doubts, fix=_fix(run, candidate, call.config, folder))
    add = partial(_addition, chosen=candidate, config=call.config, folder=folder)
    if run.ledger.no_coverage is not None:
        return Trial(candidate, tuple(rejected), doubted, no_result.without_coverage(run, add("coverage")))
    missing = run.ledger.no_xdist
    if missing is None or missing.installed:
        return Trial(candidate, tuple(rejected), doubted, no_result.diagnose(run))
    return Trial(candidate, tuple(rejected), doubted, no_result.without_xdist(run, add("pytest-xdist")))


def _fix(run: Run[Asked], chosen: Candidate, config: Config, folder: Path) -> str | None:
    """`explain_environment` gives it as its next step."""
    ledger = run.ledger
    if isinstance(run.request, Survey) or ((ledger.items or ledger.tests) and not ledger.collection_failures):
        return None
    return readiness.help_with(run, host.look(config, chosen.python, folder))


def _addition(package: str, chosen: Candidate, config: Config, folder: Path) -> Fix:
    return advice.addition(package, chosen, config.root, folder, user_dirs.search_path(config.environment))


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
    if (hello is not None and hello.pytest is not None) or run.exit.reason == "interrupted":
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
        RunFacts(environment=dict(environment_of(config, None, Ledger(), rejected))),
        details=tried,
        fix=advice.remedy(config.root, rejected, folder=folder, search_path=user_dirs.search_path(config.environment)),
    )
