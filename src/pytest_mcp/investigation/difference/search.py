"""The first call that got the same as at the base and gave something else.

The test runs traced: twice at the base, once here. If no call of changed code explains the failure, once more with
imports and deeper values. Two more runs record the lines of the one call, to find where they part.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.investigation.difference import definitions
from pytest_mcp.investigation.difference.call_tree import CallRecording, RecordedCall
from pytest_mcp.investigation.difference.culprits import Comparison, Culprit
from pytest_mcp.investigation.difference.parting import parting
from pytest_mcp.investigation.difference.side import DEEP, FLAT, SHALLOW, Depth, Side, Unusable
from pytest_mcp.investigation.difference.telling import Telling
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.investigation.repetitions import OnStep
from pytest_mcp.investigation.result import AT_BASE, FirstDifference, Sides
from pytest_mcp.investigation.runner import OutOfTime
from pytest_mcp.process.background import in_thread

# How many differences are told.
MOST = 3
# How many calls of changed code are looked at by their lines, if none gave something else.
MOST_LINES = 4


@dataclass(frozen=True)
class Differences:
    """`problem` says why there are none."""

    found: tuple[FirstDifference, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class ComparedRuns:
    values: Values
    depth: Depth
    base: CallRecording
    now: CallRecording
    culprits: Sequence[Culprit]
    # Calls of changed code, whatever they gave.
    changed: Sequence[Culprit]
    # Calls of changed code that were given something else, and gave something else.
    given_else: Sequence[Culprit]
    is_same_code: bool

    @property
    def telling(self) -> list[Culprit]:
        """Those that can be the cause: unchanged code only shows what changed code has left. Imports come last."""
        if self.is_same_code:
            return _independent(self.culprits)
        some = [each for each in self.culprits if each.is_changed and not each.now.is_test]
        calls = [each for each in some if each.now.row.phase != "import"]
        return _independent(calls) or [*_independent(self.given_else)[: MOST - 1], *_independent(some)]

    @property
    def is_enough(self) -> bool:
        """Whether deeper values and imports would tell nothing more."""
        first = next(iter(self.telling), None)
        return first is not None and not first.gives and not first.now.is_test


@dataclass(frozen=True)
class DifferenceSearch:
    """The test passes at one side, called the base, and fails at the other."""

    base: Side
    now: Side
    node_id: str
    on_step: OnStep
    shows_values: bool = True
    sides: Sides = AT_BASE

    async def run(self) -> Differences:
        try:
            compared = await self._compared(SHALLOW)
            if not compared.is_enough:
                compared = await self._compared(DEEP)
        except Unusable as error:
            return Differences(problem=str(error))
        except OutOfTime:
            return Differences(problem="not looked for, the time was over")
        known, partings = await self._known(compared)
        telling = Telling(compared.values, self.sides)
        found = [telling.told(each, parting) for each, parting in zip(known, partings, strict=True)]
        found = [*map(telling.told_origin, self._origins(known)), *found][:MOST]
        return Differences(tuple(found), None if found else self._nothing(compared))

    async def _known(self, compared: ComparedRuns) -> tuple[Sequence[Culprit], Sequence[str | None]]:
        """What is told, and the line at which the two runs of each part, where that is known."""
        known = compared.telling[:MOST] or [*compared.culprits[:1], *compared.changed]
        partings: list[str | None] = [None] * len(known)
        with suppress(OutOfTime, Unusable):
            partings = await self._partings(known, compared.depth)
        return (known, partings) if compared.telling else self._by_lines(known, partings)

    def _by_lines(
        self, known: Sequence[Culprit], partings: Sequence[str | None]
    ) -> tuple[list[Culprit], list[str | None]]:
        """First changed code that took other lines; then what unchanged code gave, which shows it."""
        both = [*zip(known, partings, strict=True)]
        first = [(each, parting) for each, parting in both if each.is_changed and parting]
        shown = [(each, parting) for each, parting in both if not each.is_changed and not each.now.is_test]
        called = [] if first else [(each, None) for each in known if each.now.is_test and self._calls_changed(each)]
        told = [*first, *called, *shown]
        return [each for each, _ in told], [parting for _, parting in told]

    def _calls_changed(self, culprit: Culprit) -> bool:
        """Whether what it calls on one side only is changed code."""
        sides = dict.fromkeys([*culprit.only_base, *culprit.only_now])
        return any(definitions.is_changed(name, *self._sources(file)) for file, name in sides)

    def _origins(self, known: Sequence[Culprit]) -> list[RecordedCall]:
        """Where the exception of the first came from, if that is changed code that the base did not call there."""
        if not known or known[0].now.row.outcome != "raised" or known[0].base.row.outcome == "raised":
            return []
        call = known[0].now
        while inner := [each for each in call.children if each.row.outcome == "raised" and each.result == call.result]:
            call = inner[-1]
        is_new = call is not known[0].now and not call.is_test
        name, file = call.code.function, call.code.file
        return [call] if is_new and definitions.is_changed(name, *self._sources(file)) else []

    async def _compared(self, depth: Depth) -> ComparedRuns:
        """Raises Unusable and OutOfTime."""
        values = Values(is_shown=self.shows_values)
        base = await self._recorded(self.base, depth, values)
        again = await self._recorded(self.base, depth, values)
        now = await self._recorded(self.now, depth, values)
        comparison = Comparison(values, base, again, now, is_same_code=self.sides.is_same_code)
        with self.now.runner.in_time():
            culprits = await in_thread(comparison.run)
            changed = comparison.first_changed(MOST_LINES)
            given_else, is_same_code = comparison.given_else(), self.sides.is_same_code
            return ComparedRuns(values, depth, base, now, culprits, changed, given_else, is_same_code)
        raise OutOfTime

    async def _recorded(
        self, side: Side, depth: Depth, values: Values, calls: Sequence[RecordedCall] = ()
    ) -> CallRecording:
        self.on_step(f"tracing {'lines ' if calls else ''}{side.where}")
        return await side.recorded(self.node_id, depth, values, calls)

    async def _partings(self, known: Sequence[Culprit], depth: Depth) -> list[str | None]:
        """The line at which each of these calls parts, by two more runs."""
        if not known:
            return []
        flat, values = FLAT._replace(imports=depth.imports), Values()
        base = await self._recorded(self.base, flat, values, [each.base for each in known])
        now = await self._recorded(self.now, flat, values, [each.now for each in known])
        if not len(base.lines) == len(now.lines) == len(known):
            raise Unusable("the lines were not recorded")
        lines = zip(known, base.lines, now.lines, strict=True)
        return [parting(ones, others, *self._sources(each.now.code.file), self.sides) for each, ones, others in lines]

    def _sources(self, file: str) -> tuple[list[str], list[str]]:
        return _source(self.base.runner.config.root, file), _source(self.now.runner.config.root, file)

    def _nothing(self, compared: ComparedRuns) -> str:
        if not compared.base.calls or not compared.now.calls:
            return "it ran no Python code of the project; native code and other processes are not traced"
        if self.sides.is_same_code:
            return "the calls got and gave the same where it passes and where it fails"
        return "no call got the same as at the base and gave something else"


def _source(root: Path, file: str) -> list[str]:
    path = root / file
    if not path.resolve().is_relative_to(root.resolve()):
        return []
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _independent(culprits: Sequence[Culprit]) -> list[Culprit]:
    """The first, and those of other functions that rank like it."""
    first: dict[object, Culprit] = {}
    for each in culprits:
        if each.rank == culprits[0].rank:
            first.setdefault(each.now.function, each)
    return [*first.values()][:MOST]
