"""Run a call in the first interpreter that has pytest."""

import math
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic

from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.errors import CallError, ExecutionFailed, RunFacts
from pytest_mcp.api.requests import Survey
from pytest_mcp.config.model import Config
from pytest_mcp.environment import readiness
from pytest_mcp.environment.surroundings import surroundings
from pytest_mcp.process import interruption
from pytest_mcp.process.background import in_thread
from pytest_mcp.python import interpreter, project_root, remedies, user_dirs
from pytest_mcp.python.interpreter import LEAST_PYTEST, LEAST_PYTHON, Candidate
from pytest_mcp.report import no_result
from pytest_mcp.run.attempt import Asked, Attempt, Call, Deadline, command_of, environment_of
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Asked_co, Project, Run


@dataclass(frozen=True)
class Trial(Generic[Asked_co]):
    """Without an error there is a run with a result. With one, there may be no run and no chosen Python."""

    chosen: Candidate | None
    rejected: tuple[Candidate, ...]
    run: Run[Asked_co] | None
    error: CallError | None


async def run(call: Call[Asked], time_limit: int) -> Trial[Asked]:
    """Run in the first interpreter that has pytest, and find out what became of targets that did not run."""
    trial = await try_interpreters(call, time_limit)
    run = trial.run if trial.error is None else None
    if run is not None and (no_result.lost_its_targets(run) or no_result.lost_its_division(run)):
        return await _with_lost_targets(call, run, trial)
    return trial


async def try_interpreters(call: Call[Asked], time_limit: int) -> Trial[Asked]:
    """Run in the first interpreter that has pytest. Raises if nothing is to be run in this root."""
    if (refusal := await in_thread(partial(project_root.refusal, call.config.root))) is not None:
        raise ExecutionFailed("environment", f"pytest execution failed: {refusal}", RunFacts())
    rejected: list[Candidate] = []
    folder = interpreter.pointed_at(call.places, call.config.root)
    deadline = Deadline.after(time_limit)
    async for candidate in interpreter.candidates(call.config, folder):
        # One limit for all of them: a repository may bring many that only take time.
        if candidate.problem is not None or deadline.left <= 0:
            rejected.append(candidate.rejected(candidate.problem or "was not tried: the time limit had passed"))
            continue
        command = command_of(call, candidate, collects_only=call.collects_only)
        try:
            run = await Attempt(call, candidate, deadline, command).run(rejected)
        except ExecutionFailed as error:
            return Trial(candidate, tuple(rejected), None, error)
        if (useless := _rejected(candidate, run)) is not None:
            rejected.append(useless)
            continue
        return await in_thread(partial(_judged, call, run, candidate, rejected))
    if (by := interruption.signal_that_stopped()) is not None:
        return Trial(None, tuple(rejected), None, no_result.interrupted_before(by))
    nothing = await in_thread(partial(_no_interpreter, rejected, call.config, folder))
    return Trial(None, tuple(rejected), None, nothing)


def _judged(call: Call[Asked], run: Run[Asked], candidate: Candidate, rejected: list[Candidate]) -> Trial[Asked]:
    config, ledger = call.config, run.ledger
    folder = interpreter.pointed_at(call.places, config.root)
    fix, search_path = None, user_dirs.search_path(config.environment)
    # `explain_environment` gives it as its next step.
    if ledger.collection_failures and not isinstance(run.request, Survey):
        around = surroundings(config, candidate.python, folder)
        fix = readiness.help_with(ledger.collection_failures[0], run, around)
    doubts = tuple(interpreter.doubts(candidate, rejected, call.places, config))

    def addition(package: str) -> Sentence:
        return remedies.addition(package, candidate, config.root, folder, search_path)

    error: CallError | None
    if ledger.no_coverage is not None:
        error = no_result.not_installed(run, "coverage needs coverage.py", addition("coverage"))
    elif ledger.no_xdist is not None and not ledger.no_xdist.installed:
        error = no_result.not_installed(run, "workers need pytest-xdist", addition("pytest-xdist"))
    else:
        error = no_result.diagnose(run)
    return Trial(candidate, tuple(rejected), replace(run, doubts=doubts, fix=fix), error)


async def _with_lost_targets(call: Call[Asked], run: Run[Asked], trial: Trial[Asked]) -> Trial[Asked]:
    """Collect once more in one process: either a target is not there, or it is known what left it out."""
    assert trial.chosen is not None
    deadline = Deadline.after(max(1, run.time_limit - math.ceil(run.exit.duration)), named=run.time_limit)
    quiet = replace(call, project=Project(call.config, call.project.spare))
    command = command_of(quiet, trial.chosen, collects_only=True)
    try:
        again = await Attempt(quiet, trial.chosen, deadline, command).run([])
    except ExecutionFailed as unable:
        return replace(trial, error=unable)
    error = await in_thread(partial(no_result.diagnose, again))
    collected = again.ledger
    ledger = replace(
        run.ledger,
        left_out={**run.ledger.left_out, **collected.left_out},
        compared=collected.compared,
        divided=collected.divided,
    )
    return replace(trial, run=replace(run, ledger=ledger), error=error)


def _rejected(candidate: Candidate, run: Run[Asked]) -> Candidate | None:
    """The candidate with its problem, if it cannot run the project's tests."""
    hello = run.ledger.hello
    if run.exit.reason == "interrupted" or run.exit.stopped_by:
        return None
    if hello is None:
        return None if run.exit.reason != "exited" or run.exit.report != "unwritten" else _not_started(candidate, run)
    if re.match(r"3\.[0-7]\.", hello.python):
        return candidate.rejected(f"is Python {hello.python}, and {LEAST_PYTHON} or newer is needed")
    if hello.pytest is None:
        return candidate.rejected(f"pytest cannot be imported: {hello.error}", lacks_pytest=True)
    if re.match(r"[1-6]\.", hello.pytest):
        problem = f"has pytest {hello.pytest}, and {LEAST_PYTEST} or newer is needed"
        return candidate.rejected(problem, has_old_pytest=True)
    return None


def _not_started(candidate: Candidate, run: Run[Asked]) -> Candidate:
    said = run.exit.stderr.strip().splitlines()[-1:] or [f"exit code {run.exit.code}, signal {run.exit.signal}"]
    # Our launcher is one to a Python that is too old to read it.
    hint = f" (Python {LEAST_PYTHON} or newer is needed)" if said[0].startswith("SyntaxError") else ""
    return candidate.rejected(f"cannot be started: {said[0]}{hint}")


def _no_interpreter(rejected: list[Candidate], config: Config, folder: Path) -> ExecutionFailed:
    tried = [candidate.line for candidate in rejected]
    if not tried:
        tried = [f"No environment was found: {folder} has no .venv or venv up to the root, and none is active."]
    return ExecutionFailed(
        "environment",
        f"pytest execution failed: no usable Python with pytest was found for the project in {config.root}",
        RunFacts(environment=environment_of(config, None, Ledger(), rejected)),
        details=tried,
        fix=remedies.remedy(
            config.root, rejected, folder=folder, search_path=user_dirs.search_path(config.environment)
        ),
    )
