"""One real commit that changed source and tests: what `check_change` says of it, and whether that is so.

A vacuous test is planted beside the commit's own: it must be told. Some mutants are tried once more on disk, in a fresh
process, with all tests that run their lines: the verdicts must be the same.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import anyio

from bench.suspects.repositories import Repository, git
from pytest_mcp.changed.base_tree import plain_copy
from pytest_mcp.changed.project_files import is_of_tests, is_test
from pytest_mcp.config.model import Config, Options, configure
from pytest_mcp.investigation.base import find_base
from pytest_mcp.investigation.runner import Runner, deadline_of_runs
from pytest_mcp.proof.answer import proof_answer
from pytest_mcp.proof.change import find_change, numbers
from pytest_mcp.proof.check import ProofFindings, check
from pytest_mcp.proof.result import CheckChange
from pytest_mcp.proof.trials import FreshTrials
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.run import Project
from pytest_mcp.tools import dump

SECONDS = 240
# Commits that are looked at, and what the chosen ones change: so many lines of source, files in all.
SEARCHED, LINES, FILES = 600, range(2, 120), 12
PLANTED = "test_that_was_planted"
VACUOUS = f"\n\ndef {PLANTED}():\n    total = sum([1, 2])\n    assert total == 3\n"
# Mutants of one commit that are tried on disk too.
ON_DISK = 6


@dataclass(frozen=True)
class ProvenCommit:
    library: str
    commit: str
    holdout: bool
    answer: dict[str, object]
    # Of the whole answer, and of a plain run of the tests that the change reaches.
    seconds: float
    plain_seconds: float
    # What was planted is told to pass at the base; None if its file has no test that could be reached.
    planted_seen: bool | None
    # Verdicts of forks that are those of fresh processes, and those that are not, in words.
    agreed: int
    wrong: list[str]


def chosen(repository: Repository, most: int) -> Iterator[str]:
    """The newest commits that change both source and tests, neither much."""
    for commit in git(repository.project, "log", "--no-merges", "--format=%H", f"-n{SEARCHED}", "HEAD").split():
        rows = [
            line.split("\t") for line in git(repository.project, "show", "--numstat", "--format=", commit).splitlines()
        ]
        python = [(row[0], row[2]) for row in rows if len(row) == 3 and row[2].endswith(".py") and row[0] != "-"]
        added = sum(
            int(number) for number, path in python if not is_of_tests(path) and path.startswith(repository.source)
        )
        if added in LINES and len(rows) <= FILES and any(is_test(path) and int(number) for number, path in python):
            yield commit
            most -= 1
        if not most:
            return


async def measured(repository: Repository, commit: str) -> ProvenCommit:
    repository.check_out(commit)
    files = git(repository.project, "show", "--name-only", "--diff-filter=AM", "--format=", commit).splitlines()
    planted = next(path for path in files if is_test(path) and path.endswith(".py"))
    with (repository.project / planted).open("a", encoding="utf-8") as handle:
        handle.write(VACUOUS)
    config = configured(repository)
    started = anyio.current_time()
    request = CheckChange.model_validate({"base": f"{commit}^", "timeout": SECONDS}, context=config.bounds)
    findings = await check(request, Project(config))
    seconds = anyio.current_time() - started
    answer = proof_answer(findings)
    seen = findings.at_base.get(f"{planted}::{PLANTED}")
    agreed, wrong = await on_disk(config, repository, commit, findings)
    return ProvenCommit(
        repository.name,
        commit[:10],
        repository.holdout,
        dump(answer),
        round(seconds, 1),
        round(await plain_seconds(config, repository, findings), 1),
        None if seen is None else seen.seen == "passes",
        agreed,
        wrong,
    )


def configured(repository: Repository) -> Config:
    path = str(repository.project / repository.import_root)
    given = Options(root=str(repository.project), python=str(repository.python))
    return configure(given, {**os.environ, "PYTHONPATH": path})


def runner_of(config: Config, repository: Repository) -> Runner:
    return Runner(config, Candidate(repository.python, ""), deadline_of_runs(3600), anyio.current_time() + 3600)


async def plain_seconds(config: Config, repository: Repository, findings: ProofFindings) -> float:
    files = [*dict.fromkeys(each.partition("::")[0] for each in findings.trials.probed)]
    if not files:
        return 0.0
    run = await runner_of(config, repository).run_as_asked(files)
    return run.exit.duration


async def on_disk(
    config: Config, repository: Repository, commit: str, findings: ProofFindings
) -> tuple[int, list[str]]:
    trials = findings.trials
    judged = [place for place in trials.places("killed", "survived") if not trials.tried[place].why.startswith("it")]
    # Survivors first: a fork errs by them.
    places = sorted(judged, key=lambda place: trials.tried[place].outcome != "survived")[:ON_DISK]
    found = await find_base(config, f"{commit}^", deadline_of_runs(60))
    if not places or found.repository is None or found.base is None:
        return 0, []
    change = await find_change(found.repository, found.base)
    sources = {path: (change.now[path] or "").encode() for path in change.lines()}
    agreed, wrong = 0, []
    async with plain_copy(found.repository) as tree:
        fresh = FreshTrials(runner_of(config, repository).at(tree.top, instead_of=tree.checkout), sources)
        for place in places:
            mutant, tried = trials.mutants[place], trials.tried[place]
            lines = set(range(mutant.first, mutant.last + 1))
            passed = [each for each in trials.probed.values() if each.outcome == "passed"]
            tests = [each.id for each in passed if lines & numbers(each.lines.get(mutant.file, ""))]
            runner = fresh.runner.within(60 + 8 * sum(trials.probed[test].seconds for test in tests))
            failed = await fresh.failed(runner, mutant, tests)
            if (failed is not None) == (tried.outcome == "killed"):
                agreed += 1
            elif failed is None or await fresh.failed(runner, None, tests) is None:
                where = f"{PurePosixPath(mutant.file).name}:{mutant.line}"
                wrong.append(f"{where} {mutant.before} -> {mutant.after}: {tried.outcome} in a fork, on disk not")
    return agreed, wrong
