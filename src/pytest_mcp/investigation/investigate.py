"""The steps of an investigation, one after the other, until its deadline.

First the test is collected, which refuses a name that is not one test. Then come the cheap and telling steps: once
alone and, if it fails, once at the base. What takes many runs follows: alone again, the commit that broke it, and the
suite's order only as long as the kind is open. Running out of time is never an error: what is known by then is the
answer, and what it means is decided in `answer`.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

import anyio

from pytest_mcp.api.errors import ExecutionFailed, Fault, InvalidParams
from pytest_mcp.config.model import Config
from pytest_mcp.environment.interpreters import Trial, try_interpreters
from pytest_mcp.investigation import repetitions
from pytest_mcp.investigation.answer import Findings
from pytest_mcp.investigation.base import AtBase, BaseSearch, FoundBase, find_base
from pytest_mcp.investigation.breaking_commit import Broken, CommitSearch
from pytest_mcp.investigation.difference.ran_calls import RanCalls
from pytest_mcp.investigation.difference.search import Differences, DifferenceSearch
from pytest_mcp.investigation.difference.side import Side
from pytest_mcp.investigation.order import Order, OrderSearch, Suite, collect_suite
from pytest_mcp.investigation.outcome import Outcome, outcome_of
from pytest_mcp.investigation.repetitions import Alone, Seeds
from pytest_mcp.investigation.result import AT_BASE, SAME_CODE, CollectTests, Effect, InvestigateFailure
from pytest_mcp.investigation.runner import LEAST_SECONDS, OnStep, OutOfTime, Runner, deadline_of_runs, suite_targets
from pytest_mcp.investigation.several import SeveralTests, Together
from pytest_mcp.investigation.suspects import Suspected, find_suspects
from pytest_mcp.run.attempt import Call, Deadline
from pytest_mcp.run.run import Project, Run, Steps
from pytest_mcp.text import label

# All tests before one that fails alone: how long they may run, and which share of the time. They can only show that it
# needs one of them.
SECONDS_FOR_NEED = 60
SHARE_FOR_NEED = 0.25
# How often a flaky test is traced until it passes, or fails.
MOST_TRIES = 8


async def investigate(request: InvestigateFailure, project: Project) -> Findings:
    """Raises InvalidParams if a name is not that of one test or the base is no commit."""
    seconds, numbers = request.timeout or project.config.default_timeout, count(1)

    def on_step(words: str) -> None:
        project.on_progress(Steps(next(numbers), words))

    end, deadline = anyio.current_time() + seconds, deadline_of_runs(seconds)
    base = await find_base(project.config, request.base, deadline)
    return await Investigation(request, project, base, deadline, end, on_step).run()


@dataclass(frozen=True)
class Investigation:
    request: InvestigateFailure
    project: Project
    base: FoundBase
    deadline: Deadline
    # When all of it must be over.
    end: float
    on_step: OnStep

    async def run(self) -> Findings:
        config, asked = self.project.config, {name: each.node_id for name, each in self.request.asked.items()}
        collect = CollectTests.model_validate({"asked": asked}, context=config.bounds)
        trial = await self._collected(collect)
        if trial is None or (isinstance(trial.error, ExecutionFailed) and trial.error.error_type == "timeout"):
            names = [*asked.values()]
            found = _uncollected(names[0], self.request.runs, None if trial is None else trial.run)
            return replace(found, together=_unknown(names)) if self.request.node_ids else found
        if trial.error is not None:
            raise trial.error
        assert trial.run is not None, "there is a run, or the reason why there is none"
        assert trial.chosen is not None
        ledger = trial.run.ledger
        node_ids = [_the_one([item.id for item in ledger.items], name, each) for name, each in asked.items()]
        suite = suite_targets(collect.targets[0][1].path, config.root, ledger.portrait, trial.chosen.python)
        runner = Runner(config, trial.chosen, self.deadline, self.end, suite, on_step=self.on_step)
        found = await self._findings(runner, node_ids, is_shuffled=ledger.seeded is not None)
        return replace(found, notices=trial.run.doubts, environment=trial.run.environment)

    async def _collected(self, collect: CollectTests) -> Trial[CollectTests] | None:
        """None if there was no time for it."""
        self.on_step("collecting")
        call = Call(collect, Project(self.project.config, self.project.spare))
        with anyio.CancelScope(deadline=self.end):
            return await try_interpreters(call, max(1, int(self.deadline.left)))
        return None

    async def _findings(self, runner: Runner, node_ids: Sequence[str], *, is_shuffled: bool) -> Findings:
        together = await self._together(runner, [*dict.fromkeys(node_ids)]) if self.request.node_ids else None
        node_id = node_ids[0] if together is None else together.chosen
        case = Case(runner, node_id, self.base, is_shuffled)
        findings = await case.run(self.request.runs, stops_early="runs" not in self.request.model_fields_set)
        config = self.project.config
        past = () if config.history is None else await _past(config, node_id, self.end)
        return replace(findings, past=past, together=together)

    async def _together(self, runner: Runner, node_ids: Sequence[str]) -> Together:
        with suppress(OutOfTime):
            return await SeveralTests(runner, node_ids, self.base).run()
        return _unknown(node_ids)


def _unknown(node_ids: Sequence[str]) -> Together:
    return Together(node_ids[0], dict.fromkeys(node_ids, "inconclusive"))


async def _past(config: Config, node_id: str, end: float) -> tuple[str, ...]:
    # Who records no runs does not load it.
    from pytest_mcp.history import questions  # noqa: PLC0415

    with anyio.CancelScope(deadline=end):
        return tuple(await questions.evidence(config, node_id))
    return ()


def _uncollected(asked: str, runs: int, run: Run[CollectTests] | None) -> Findings:
    """The time was over. The file may hang when it is imported."""
    if run is None:
        return Findings(asked, Alone((), (), runs), is_cut_short=True)
    seen = Alone((outcome_of(run, asked),), (Seeds(None),), runs)
    return Findings(asked, seen, is_cut_short=True, environment=run.environment)


def _the_one(collected: list[str], name: str, asked: str) -> str:
    """The id of the test; the asked one if its file cannot be collected."""
    some = [each for each in collected if each == asked or each.startswith((f"{asked}[", f"{asked}::"))]
    if len(some) > 1:
        several = f"names {len(some)} tests; name one of them, for example {label(some[0])}"
        raise InvalidParams([Fault(name, several, "several_tests", asked)])
    return some[0] if some else asked


@dataclass(frozen=True)
class Case:
    """The steps after the test was collected: alone, then what its outcomes call for."""

    runner: Runner
    node_id: str
    base: FoundBase
    # Whether a plugin gives the tests another order each time.
    is_shuffled: bool

    async def run(self, runs: int, *, stops_early: bool) -> Findings:
        seen = repetitions.planned(self.runner, runs)
        with suppress(OutOfTime):
            seen = await repetitions.once_more(self.runner, self.node_id, seen)
        findings = Findings(self.node_id, seen)
        if findings.failed:
            findings = replace(findings, base=await self._at_base([seen.seeds[0]], seen.outcomes, seen.outcomes[0]))
        seen = await repetitions.repeat(self.runner, self.node_id, seen, stops_early=stops_early)
        findings = replace(findings, alone=seen)
        if seen.is_mixed:
            findings = await self._flaky(findings)
        elif findings.failed or any(each.letter == "C" for each in seen.outcomes):
            findings = await self._failing(findings)
        elif findings.hung and not findings.known:
            findings = replace(findings, base=await self._at_base([seen.seeds[0]]))
        elif findings.known:
            findings = await self._passing(findings)
        return replace(findings, is_cut_short=self.runner.deadline.left < LEAST_SECONDS)

    async def _flaky(self, findings: Findings) -> Findings:
        known = await repetitions.reproduce(self.runner, self.node_id, findings.alone)
        seen = replace(findings.alone, reproduction=known)
        others = repetitions.hash_seeds(self.runner, seen.wanted - 1)
        findings = replace(findings, alone=seen, base=await self._at_base([seen.first(failed=True), *others]))
        if not any(each.passed for each in seen.outcomes):
            return findings
        passing, failing = (seen.first(failed=failed).apply(self.runner) for failed in (False, True))
        base = Side(passing, SAME_CODE.base, tries=MOST_TRIES)
        now = Side(failing, SAME_CODE.now, findings.failed[0], tries=MOST_TRIES)
        return replace(findings, apart=await DifferenceSearch(base, now, self.node_id, SAME_CODE).run())

    async def _failing(self, findings: Findings) -> Findings:
        made = zip(findings.alone.outcomes, findings.alone.seeds, strict=True)
        failing, seeds = next(each for each in made if each[0].failed or each[0].letter == "C")
        if findings.base is None:
            findings = replace(findings, base=await self._at_base([seeds], findings.failed, failing))
        findings = await self._broken(findings, seeds)
        # Its seeds reproduce the failure.
        runner = seeds.apply(self.runner)
        suite = await self._suite(runner)
        # Where it passes at the base, its change decides, and not what ran before.
        if findings.failed and not (findings.base and findings.base.passes):
            most = min(SECONDS_FOR_NEED, SHARE_FOR_NEED * self.runner.deadline.left)
            findings = replace(findings, order=await self._order(runner, suite, "fails_without", most))
        if findings.order is not None and findings.order.is_different:
            return await self._ordered(runner, findings)
        base = replace(self.base, base=findings.base.base) if findings.base and findings.base.base else self.base
        runner.on_step("looking for suspects")
        try:
            suspects = await find_suspects(
                runner, self.node_id, failing, everything=suite is not None, since_base=base.lines_changed
            )
        except OutOfTime:
            suspects = Suspected(problem="not looked for, the time was over")
        return await self._ran(runner, replace(findings, suspects=suspects), failing)

    async def _ran(self, runner: Runner, findings: Findings, failing: Outcome) -> Findings:
        """With what it called, unless a base that passes says what is wrong."""
        if not failing.failed or findings.suspects is None or (findings.base and findings.base.passes):
            return findings
        runner.on_step("tracing calls")
        suspects = findings.suspects
        ran = RanCalls(Side(runner, "here", failing), self.node_id, suspects.functions, suspects.nearest)
        with suppress(OutOfTime):
            return replace(findings, ran=tuple(await ran.lines()))
        return findings

    async def _broken(self, findings: Findings, seeds: Seeds) -> Findings:
        """With the commit since which it fails, if it passed at one."""
        there, repository = findings.base, self.base.repository
        if there is None or repository is None or not there.passes or not findings.failed:
            return findings
        base = BaseSearch(self.runner, self.node_id, self.base)
        try:
            broken = await CommitSearch(base, repository, seeds, findings.failed).run(there)
        except OutOfTime:
            broken = Broken(words="not looked for, the time was over")
        return replace(findings, broken=broken)

    async def _passing(self, findings: Findings) -> Findings:
        runner = findings.alone.first(failed=False).apply(self.runner)
        order = await self._order(runner, await self._suite(runner), "fails_after", None)
        return await self._ordered(runner, replace(findings, order=order))

    async def _ordered(self, runner: Runner, findings: Findings) -> Findings:
        """With what other tests leave behind, if some were found."""
        order = findings.order
        if order is None or order.polluter is None or order.outcome is None:
            return findings
        before = tuple(order.polluter.node_ids)
        failing = order.polluter.effect == "fails_after"
        base = Side(runner, SAME_CODE.base, before=() if failing else before)
        now = Side(runner, SAME_CODE.now, order.outcome if failing else findings.failed[0], before if failing else ())
        return replace(findings, apart=await DifferenceSearch(base, now, self.node_id, SAME_CODE).run())

    async def _at_base(
        self, seeds: list[Seeds], failed: Sequence[Outcome] = (), compared: Outcome | None = None
    ) -> AtBase:
        """`compared` is the failure that is compared call by call with the test that passes there."""

        async def compare(base: Runner) -> Differences:
            assert compared is not None
            there, here = Side(base, AT_BASE.base), Side(seeds[0].apply(self.runner), "here", compared)
            return await DifferenceSearch(there, here, self.node_id).run()

        search = BaseSearch(self.runner, self.node_id, self.base, None if compared is None else compare)
        return await search.run(seeds, failed)

    async def _suite(self, runner: Runner) -> Suite | None:
        """None if it could not be collected in time."""
        runner.on_step("collecting the suite")
        try:
            return await collect_suite(runner, is_shuffled=self.is_shuffled)
        except OutOfTime:
            return None

    async def _order(self, runner: Runner, suite: Suite | None, effect: Effect, most: float | None) -> Order:
        if suite is None:
            return Order(("the suite's order: not tried, the time was over",), is_complete=False)
        return await OrderSearch(runner, self.node_id, effect).run(suite, most_seconds=most)
