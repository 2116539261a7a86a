"""The steps of a check: what changed, what happened to the tests, and then two ways at once.

One copy of the checkout has the tests run as they are, and the mutants of the changed lines. In another one the changed
source is as at the base: there the new and edited tests must fail. New tests run twice more, because one that does not
always pass proves nothing. Tests that fail here are the whole answer, once they have failed in the checkout too. All of
it is over at one deadline; what was not tried by then is counted.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, zip_longest

import anyio

from pytest_mcp.api.errors import ExecutionFailed, InvalidParams
from pytest_mcp.api.parameters import MAX_NODE_IDS
from pytest_mcp.api.requests import DiscoverTargets
from pytest_mcp.changed.base_tree import base_tree, is_part_of_change, plain_copy
from pytest_mcp.changed.git_commands import CannotTell, Repository
from pytest_mcp.changed.project_files import is_test
from pytest_mcp.changed.working_tree import Base
from pytest_mcp.environment.interpreters import Trial, try_interpreters
from pytest_mcp.investigation.outcome import outcome_of
from pytest_mcp.investigation.runner import OnStep, OutOfTime, Runner, deadline_of_runs
from pytest_mcp.process.background import in_thread
from pytest_mcp.process.job import Proof
from pytest_mcp.proof.arid import lines_aside, lines_with_code
from pytest_mcp.proof.at_base import ShownAtBase, function_of, seen_by_function
from pytest_mcp.proof.change import TwoSides, compare, is_kept, text_of
from pytest_mcp.proof.collection import lost_tests
from pytest_mcp.proof.comparison import compare_tests
from pytest_mcp.proof.findings import ProofFindings, Trials
from pytest_mcp.proof.mutants import Mutant, in_order, mutants_of
from pytest_mcp.proof.result import CheckChange
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.report.coverage import ranges_of
from pytest_mcp.run.attempt import Call
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.recordings import Probed
from pytest_mcp.run.run import Project, Steps
from pytest_mcp.text import label

# More mutants than this are not even sent.
MAX_CANDIDATES = 1_000
# So many tests are run at the base, with parameters counted one by one.
MAX_AT_BASE = 200
# How often a new test runs besides the first time.
MORE_RUNS = 2
# So many failing tests are run again in the checkout.
MAX_FAILING = 50
# Of the time that is left when the project's Python is known, mutants are begun in this share.
SHARE_OF_MUTANTS = 0.9
# And so many times as long as all tests took.
TIMES = 5.0
NO_MUTANTS: Proof = {
    "lines": {},
    "mutants": [],
    "most": 0,
    "first": [],
    "seconds": 0.0,
    "times": 0.0,
    "limits": None,
}


async def check(request: CheckChange, project: Project) -> ProofFindings:
    """Raises InvalidParams if the base is no commit or there is no repository."""
    config, numbers = project.config, count(1)
    seconds = request.timeout or config.default_timeout
    end, deadline = anyio.current_time() + seconds, deadline_of_runs(seconds)

    def on_step(words: str) -> None:
        project.on_progress(Steps(next(numbers), words))

    on_step("comparing with the base")
    repository, base, change = await compare(config, request.base, deadline)
    if not change.sources and not change.tests:
        return ProofFindings(has_change=False)
    findings = ProofFindings()
    try:
        findings.edits = await in_thread(partial(compare_tests, change.before, change.now))
    except RecursionError:
        findings.are_tests_compared = False
        findings.notices.append("tests were not compared with those of the base: their code is nested too deeply")
    if not change.sources:
        findings.notices.append("only tests or their settings changed, so there is no source that they could prove")
    targets = _targets(change)
    on_step("collecting")
    runner = Runner(config, await _chosen(targets, project, int(deadline.left)), deadline, end)
    steps = _Steps(request, runner, repository, base, change, targets, findings, on_step)
    with anyio.move_on_at(end) as scope:
        await steps.run()
    findings.is_cut_short |= scope.cancelled_caught
    if findings.failing:
        # That is the answer, whatever mutants have shown by then.
        findings.trials = Trials((), replace(findings.trials.ledger, tried=[]))
    return findings


def _targets(change: TwoSides) -> list[str]:
    """Files with tests that the change can reach, nearest first; none if that is everything."""
    if change.reach.reason is not None:
        return []
    changed = [path for path in change.tests if is_test(path) and change.now.get(path) is not None]
    files = [*changed, *(path for path in change.reach.files if is_test(path))]
    return [*dict.fromkeys(files)][:MAX_NODE_IDS]


async def _chosen(targets: Sequence[str], project: Project, seconds: int) -> Candidate:
    """The project's Python, found by collecting the nearest file; everything if pytest does not collect that file."""
    config = project.config

    async def collect(*paths: str) -> Trial[DiscoverTargets]:
        named = {"node_ids": list(paths)} if paths else {}
        request = DiscoverTargets.model_validate(named, context=config.bounds)
        return await try_interpreters(Call(request, Project(config, project.spare)), max(1, seconds))

    trial = await collect(*targets[:1])
    if isinstance(trial.error, InvalidParams | ExecutionFailed) and targets:
        trial = await collect()
    if trial.chosen is None or trial.error is not None:
        raise trial.error or AssertionError("there is a Python, or an error")
    return trial.chosen


@dataclass
class _Steps:
    request: CheckChange
    runner: Runner
    repository: Repository
    base: Base
    change: TwoSides
    targets: list[str]
    findings: ProofFindings
    on_step: OnStep
    is_probed: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def run(self) -> None:
        found = self.findings
        if not self.targets and self.change.reach.reason is None:
            found.notices.append("no test reaches what changed")
            self._cover({path: lines_with_code(self._now(path)) for path in self.change.lines()})
            return
        with self.scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._guarded, self._mutants)
                tasks.start_soon(self._guarded, self._at_base)

    async def _guarded(self, step: Callable[[], Awaitable[None]]) -> None:
        """What one way cannot do is said; the other goes on."""
        try:
            await step()
        except CannotTell as error:
            # Both steps at the base can fail for one reason.
            if (notice := f"not tried: {error}") not in self.findings.notices:
                self.findings.notices.append(notice)
        except (OutOfTime, TimeoutError):
            self.findings.is_cut_short = True

    # --- as it is now, and its mutants ---------------------------------------------------------

    async def _mutants(self) -> None:
        lines = self.change.lines()
        mutants = await in_thread(partial(self._candidates, lines))
        self.findings.trials = Trials(mutants)
        self.on_step("running the tests")
        try:
            async with plain_copy(self.repository) as tree:
                runner = self.runner.at(tree.top, instead_of=tree.checkout)
                runner = replace(runner, on_progress=partial(self._take, mutants))
                run = await runner.prove(self.targets, self._job(lines, mutants))
                self.findings.trials = Trials(mutants, run.ledger)
        finally:
            self._cover({path: self.findings.trials.lines(path) for path in lines})
            self.is_probed.set()
        if harmful := self.findings.trials.harmful:
            where = f"{label(harmful.file)}:{harmful.line}"
            self.findings.notices.append(
                f"no mutant was tried after one of {where}, which ended the process or its files"
            )

    def _candidates(self, lines: dict[str, frozenset[int]]) -> list[Mutant]:
        found = [self._candidates_in(path, each) for path, each in lines.items()] if self.request.mutants else []
        return in_order(mutant for each in found for mutant in each)[:MAX_CANDIDATES]

    def _candidates_in(self, path: str, lines: frozenset[int]) -> list[Mutant]:
        try:
            return mutants_of(path, self._now(path), lines)
        except RecursionError:
            self.findings.notices.append(f"no mutants of {label(path)}: what changed in it is nested too deeply")
            return []

    def _job(self, lines: dict[str, frozenset[int]], mutants: Sequence[Mutant]) -> Proof:
        wanted = {path: set(each) for path, each in lines.items()}
        for mutant in mutants:
            wanted[mutant.file].update(range(mutant.first, mutant.last + 1))
        return {
            "lines": {path: ranges_of(each) for path, each in wanted.items()},
            "mutants": [each.job(place) for place, each in enumerate(mutants)],
            "most": self.request.mutants,
            "first": [*self.findings.edits.new, *self.findings.edits.edited],
            "seconds": SHARE_OF_MUTANTS * self.runner.deadline.left,
            "times": TIMES,
            "limits": None,
        }

    def _take(self, mutants: Sequence[Mutant], ledger: Ledger | Steps) -> None:
        if isinstance(ledger, Steps) or ledger.probing_ended is None:
            return
        self.findings.trials = Trials(mutants, ledger)
        self.is_probed.set()
        tried = Counter(each.outcome for each in ledger.tried)
        if done := tried["killed"] + tried["survived"] + tried["unstable"]:
            self.on_step(f"mutants: {done} tried, {tried['killed']} killed, {tried['survived']} survived")

    def _cover(self, code: Mapping[str, frozenset[int]]) -> None:
        """Which of the changed lines with code no test ran. The imports cover what runs during them."""
        found, trials = self.findings, self.findings.trials
        for path, lines in self.change.lines().items():
            found.changed[path] = lines & code[path] - lines_aside(self._now(path))
            if missed := found.changed[path] - trials.ran(path):
                found.uncovered[path] = missed

    def _now(self, path: str) -> str:
        return self.change.now[path] or ""

    # --- at the base ---------------------------------------------------------------------------

    async def _at_base(self) -> None:
        """Whatever the base shows, what failed is confirmed."""
        await self._guarded(self._compare_collected)
        if asked := [*self.findings.edits.new, *self.findings.edits.edited]:
            await self._guarded(partial(self._prove_at_base, asked))
        await self.is_probed.wait()
        await self._confirm_failures()
        await self._again([each.id for each in self.findings.trials.passed])

    async def _compare_collected(self) -> None:
        """Of the changed test files; of all that are reached if settings or conftest files changed."""
        changed = [path for path in self.change.tests if is_test(path) and path.endswith(".py")]
        others = len(changed) < len(self.change.tests)
        files = [path for path in (self.targets if others else changed) if self.change.before.get(path, "") is not None]
        if not files:
            return
        async with base_tree(self.repository, self.base) as tree:
            runner = replace(self.runner.at(tree.top, instead_of=tree.checkout), suite=tuple(files))
            before = [item.id for item in (await runner.collect()).ledger.items]
        await self.is_probed.wait()
        trials, found = self.findings.trials, self.findings
        if before and len(trials.probed) >= trials.selected > 0:
            root = self.runner.config.root
            sources = {path: self.change.now.get(path) or text_of(root / path) for path in files}
            now = [each.id for each in trials.probed]
            lost = lost_tests(before, now, sources, changed, found.edits.weakened)
            found.edits = replace(found.edits, weakened=(*found.edits.weakened, *lost))

    async def _prove_at_base(self, asked: Sequence[str]) -> None:
        def is_put_back(path: str, is_untracked: bool) -> bool:
            return not is_kept(path) and is_part_of_change(path, is_untracked)

        async with base_tree(self.repository, self.base, is_put_back) as tree:
            await self.is_probed.wait()
            by_function: dict[str, list[Probed]] = {name: [] for name in asked}
            for each in self.findings.trials.passed:
                by_function.get(function_of(each.id), []).append(each)
            turns = zip_longest(*by_function.values())
            chosen = [each for turn in turns for each in turn if each is not None][:MAX_AT_BASE]
            if not chosen:
                return
            self.on_step("running new and edited tests at the base")
            runner = self.runner.at(tree.top, instead_of=tree.checkout)
            files = [*dict.fromkeys(each.id.partition("::")[0] for each in chosen)]
            limits = {each.id: each.seconds for each in chosen}
            job: Proof = {**NO_MUTANTS, "limits": limits}
            ledger = (await runner.prove(files, job, [*limits])).ledger
            known = [name for name, each in by_function.items() if each]
            names = self.change.new_names()
            self.findings.at_base = seen_by_function(known, ledger.probed, ledger.collection_failures, names)

    # --- again ---------------------------------------------------------------------------------

    async def _confirm_failures(self) -> None:
        """What fails in a fork of a copy may not fail in the checkout."""
        trials = self.findings.trials
        if failed := trials.not_passed[:MAX_FAILING]:
            await self._confirm(failed, [])
        # Apart, because pytest runs no test if a file cannot be collected.
        if trials.broken:
            await self._confirm([], trials.broken)

    async def _confirm(self, ids: list[str], paths: list[str]) -> None:
        self.on_step("running what failed again")
        run = await self.runner.run(ids or None, paths=paths)
        outcomes = {name: outcome_of(run, name) for name in [*ids, *paths, *run.ledger.tests]}
        self.findings.refuted |= {name for name, each in outcomes.items() if each.letter in "PS"}
        self.findings.failing |= {name: each for name, each in outcomes.items() if each.letter not in "PS?"}
        if self.findings.failing:
            self.scope.cancel()

    async def _again(self, passed: Sequence[str]) -> None:
        """New tests, in fresh processes with other hash seeds, one after the other: both may want the same port."""
        ids = [each for each in passed if function_of(each) in self.findings.edits.new]
        if ids:
            self.on_step("running new tests again")
            async with plain_copy(self.repository) as tree:
                runner = self.runner.at(tree.top, instead_of=tree.checkout)
                for number in range(1, MORE_RUNS + 1):
                    await self._once_more(runner.adding(PYTHONHASHSEED=str(number)), ids)

    async def _once_more(self, runner: Runner, ids: Sequence[str]) -> None:
        run = await runner.run(ids)
        for name, outcome in {each: outcome_of(run, each) for each in ids}.items():
            if outcome.failed:
                why = f"it passed, and failed in one of {MORE_RUNS} more runs: {outcome.words}"
                self.findings.at_base[function_of(name)] = ShownAtBase("flaky", why)
