"""One real commit that changed source and tests: what `check_change` says of it, and whether that is so.

A vacuous test is planted beside the commit's own: it must be told. Some mutants are tried once more on disk, in a fresh
process, with all tests that run their lines: the verdicts must be the same.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
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
from pytest_mcp.proof.change import find_change
from pytest_mcp.proof.check import check
from pytest_mcp.proof.findings import ProofFindings
from pytest_mcp.proof.mutants import Mutant
from pytest_mcp.proof.result import CheckChange
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.report.coverage import lines_in
from pytest_mcp.run.run import Project
from pytest_mcp.tools import dump

SECONDS = 240
# Commits that are looked at, and what the chosen ones change: so many lines of source, files in all.
SEARCHED, LINES, FILES = 600, range(2, 120), 12
PLANTED = "test_that_was_planted"
VACUOUS = f"\n\ndef {PLANTED}():\n    total = sum([1, 2])\n    assert total == 3\n"
# Mutants of one commit that are tried on disk too.
ON_DISK = 8


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
    files = [*dict.fromkeys(each.id.partition("::")[0] for each in findings.trials.probed)]
    if not files:
        return 0.0
    run = await runner_of(config, repository).run_as_asked(files)
    return run.exit.duration


async def on_disk(
    config: Config, repository: Repository, commit: str, findings: ProofFindings
) -> tuple[int, list[str]]:
    trials = findings.trials
    # Survivors first: a fork errs by them.
    judged = [*trials.of("survived"), *trials.of("killed")][:ON_DISK]
    found = await find_base(config, f"{commit}^", deadline_of_runs(60))
    if not judged or found.repository is None or found.base is None:
        return 0, []
    change = await find_change(found.repository, found.base)
    sources = {path: (change.now[path] or "").encode() for path in change.lines()}
    agreed, wrong = 0, []
    async with plain_copy(found.repository) as tree:
        everything = runner_of(config, repository).at(tree.top, instead_of=tree.checkout)
        for tried in judged:
            mutant = trials.mutants[tried.number]
            lines = set(range(mutant.first, mutant.last + 1))
            near = [each for each in trials.passed if lines & lines_in(each.lines.get(mutant.file, ""))]
            runner = everything.within(60 + 8 * sum(each.seconds for each in near))
            tests = [each.id for each in near]
            is_killed = not await all_pass(runner, sources, mutant, tests)
            if is_killed == (tried.outcome == "killed"):
                agreed += 1
            elif not is_killed or await all_pass(runner, sources, None, tests):
                where = f"{PurePosixPath(mutant.file).name}:{mutant.line}"
                wrong.append(f"{where} {mutant.before} -> {mutant.after}: {tried.outcome} in a fork, on disk not")
    return agreed, wrong


async def all_pass(runner: Runner, sources: Mapping[str, bytes], mutant: Mutant | None, tests: Sequence[str]) -> bool:
    """In a fresh process, with this mutant on disk."""
    for path, source in sources.items():
        is_mutated = mutant is not None and mutant.file == path
        (runner.config.root / path).write_bytes(mutant.applied_to(source) if mutant and is_mutated else source)
    records = (await runner.run(list(tests))).ledger.tests
    return all(test in records and records[test].outcome in ("passed", "skipped") for test in tests)
