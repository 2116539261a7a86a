"""Several failing tests at once: which kind each of them is, and how many part from the base at the same call.

They run together, in one process each time: twice here, at the base, and traced at both. One of those that most are
like stands for them: it is investigated like any other afterwards.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.changed.base_tree import base_tree
from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.investigation.against_base import BaseRuns
from pytest_mcp.investigation.base import FoundBase, copied
from pytest_mcp.investigation.difference.culprits import Comparison, Culprit
from pytest_mcp.investigation.difference.search import DifferenceSearch
from pytest_mcp.investigation.difference.side import SHALLOW, Side, Unusable
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.investigation.outcome import Outcome, outcome_of
from pytest_mcp.investigation.repetitions import hash_seeds
from pytest_mcp.investigation.result import AT_BASE, FirstDifference, InvestigatedTest, Kind
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.run.run import Run
from pytest_mcp.text import in_line, label

# How often they run together, and which share of the remaining time one of these runs may take: one that hangs ends it.
TOGETHER = 2
SHARE_OF_ONE = 0.3
# Calls at which the most tests part.
MOST_PARTINGS = 3


@dataclass
class Together:
    """What is known of all of them; `chosen` stands for the most."""

    chosen: str
    kinds: dict[str, Kind]
    words: list[str] = field(default_factory=list)
    # Of tests that part at other calls than the chosen one.
    differences: list[FirstDifference] = field(default_factory=list)

    def tests(self, kind: Kind) -> list[InvestigatedTest]:
        """The chosen one is of the kind that it was found to be alone."""
        kinds = {**self.kinds, self.chosen: kind}
        return [InvestigatedTest(node_id=in_line(name), kind=each) for name, each in kinds.items()]

    @property
    def failing(self) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind != "passes"]


@dataclass(frozen=True)
class SeveralTests:
    runner: Runner
    node_ids: Sequence[str]
    base: FoundBase

    async def run(self) -> Together:
        """Raises OutOfTime if they could not be run once."""
        seen = await self._here()
        together = Together(self.node_ids[0], {name: kind_of(outcomes) for name, outcomes in seen.items()})
        failing = {name: outcomes[0] for name, outcomes in seen.items() if together.kinds[name] == "deterministic"}
        parted: dict[str, list[str]] = {}
        if failing and self.base.base is not None and self.base.repository is not None:
            self.runner.on_step(f"making the tree of {self.base.name}")
            with suppress(OutOfTime, TimeoutError, CannotTell, Unusable):
                async with copied(self.runner, base_tree(self.base.repository, self.base.base)) as copy:
                    parted = await self._at_base(together, failing, BaseRuns(self.runner, self.base, copy))
        together.chosen = _chosen(together.kinds, parted)
        together.words = _words(together, parted)
        return together

    async def _here(self) -> dict[str, list[Outcome]]:
        seen: dict[str, list[Outcome]] = {name: [] for name in self.node_ids}
        for number, seeds in enumerate(hash_seeds(self.runner, TOGETHER)):
            self.runner.on_step(f"{len(seen)} tests together {number + 1}/{TOGETHER}")
            try:
                for name, outcome in (await self._outcomes(seeds.apply(self.runner))).items():
                    seen[name].append(outcome)
            except OutOfTime:
                if not number:
                    raise
        return seen

    async def _outcomes(self, runner: Runner) -> dict[str, Outcome]:
        """Those behind one that hangs, ends the process or cannot be imported run again without it."""
        known: dict[str, Outcome] = {}
        left = list(self.node_ids)
        while left:
            run = await runner.within(SHARE_OF_ONE * runner.deadline.left).run(left)
            known |= {name: outcome_of(run, name) for name in left}
            broken = {event.file for event in run.ledger.collection_failures}
            rest = [name for name in left if name not in run.ledger.tests and known[name].letter in "?C"]
            rest = [name for name in rest if name.partition("::")[0] not in broken]
            if len(rest) == len(left):
                break
            left = rest
        return known

    async def _at_base(
        self, together: Together, failing: dict[str, Outcome], at_base: BaseRuns
    ) -> dict[str, list[str]]:
        """The tests that part at each call, if they pass there."""
        self.runner.on_step(f"{len(failing)} tests at {self.base.name}")
        found = await at_base.groups_of([*failing])
        together.kinds.update({name: "pre_existing" for name, group in found.items() if group == "old"})
        mine = {name: failing[name] for name in failing if found.get(name) == "new"}
        seeds = hash_seeds(self.runner, 1)[0]
        base, now = Side(seeds.apply(at_base.there), AT_BASE.base), Side(seeds.apply(self.runner), "here")
        parted = await self._partings(base, now, mine)
        for tests in [*parted.values()][1:MOST_PARTINGS]:
            sides = base, Side(now.runner, now.where, failing[tests[0]])
            together.differences += (await DifferenceSearch(*sides, tests[0]).run()).found[:1]
        return parted

    async def _partings(self, base: Side, now: Side, failing: dict[str, Outcome]) -> dict[str, list[str]]:
        """In words, the calls at which the most part first."""
        if not failing:
            return {}
        runs = []
        for side in (base, base, now):
            self.runner.on_step(f"tracing {len(failing)} tests {side.where}")
            runs.append((side, await side.traced([*failing], SHALLOW)))
        wrong: dict[str, WrongCalls] = {}
        for name in failing:
            with suppress(Unusable):
                wrong[name] = await _wrong_calls(name, runs)
        return partings(wrong)


class WrongCalls(NamedTuple):
    """Of changed code, in words: those that got the same and gave something else, and all that gave something else."""

    first: Sequence[str]
    others: Sequence[str]


def partings(wrong: Mapping[str, WrongCalls]) -> dict[str, list[str]]:
    """The tests that part at each call, the most first.

    Tests before it leave another state here than at the base, so that a call may have got something else only for that:
    such a one counts if other tests part there.
    """
    certain = {call for calls in wrong.values() for call in calls.first[:1]}
    parted: dict[str, list[str]] = {}
    for name, calls in wrong.items():
        for call in [*calls.first[:1], *(each for each in calls.others if each in certain)][:1]:
            parted.setdefault(call, []).append(name)
    return dict(sorted(parted.items(), key=lambda each: -len(each[1])))


async def _wrong_calls(name: str, runs: Sequence[tuple[Side, Run[ExecuteTests]]]) -> WrongCalls:
    """Raises Unusable and OutOfTime."""
    if [outcome_of(run, name).letter for _, run in runs] != ["P", "P", "F"]:
        raise Unusable("another outcome when it was traced")
    values = Values()
    base, again, now = [await side.recording_of(run, name, values) for side, run in runs]
    comparison = Comparison(values, base, again, now)
    culprits = await runs[0][0].runner.computed(comparison.run)
    others = sorted(comparison.changed, key=lambda each: each.now.row.ended)
    return WrongCalls(
        [_place(each) for each in culprits if each.is_changed and not each.now.is_test],
        [_place(each) for each in others if each.gives],
    )


def _place(culprit: Culprit) -> str:
    code = culprit.now.code
    return in_line(f"{code.function} ({code.file}:{code.line})")


def kind_of(outcomes: Sequence[Outcome]) -> Kind:
    """As far as runs together with the others show it."""
    letters = {each.letter for each in outcomes}
    if "R" in letters or ("P" in letters and letters & {"F", "H"}):
        return "flaky"
    if "H" in letters:
        return "hangs"
    if letters & {"F", "C"} and letters <= {"F", "C", "S"}:
        return "deterministic"
    return "passes" if letters and letters <= {"P", "S"} else "inconclusive"


def _chosen(kinds: dict[str, Kind], partings: dict[str, list[str]]) -> str:
    """One of those that fail, of the most frequent kind; of those the first that parts where the most do."""
    counts = Counter(kinds.values())
    if len(counts) > 1:
        del counts["passes"]
    ((kind, _),) = counts.most_common(1)
    parted = [name for tests in partings.values() for name in tests]
    return next(name for name in [*parted, *kinds] if kinds[name] == kind)


def _words(together: Together, partings: dict[str, list[str]]) -> list[str]:
    kinds = Counter(together.kinds.values())
    failing = len(together.failing)
    number = len(together.kinds)
    counts = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    words = [f"together, {number} test{'s' * (number != 1)}: {counts}"]
    parted = [*partings.items()][:MOST_PARTINGS]
    words += [f"{len(tests)} of {failing} failing tests part at {place}" for place, tests in parted]
    return [*words, f"what follows is about {label(together.chosen)}"]
