"""The first call that got the same as at the base and gave something else.

The test runs traced: twice at the base, once here. If no call of changed code explains the failure, once more with
imports and deeper values. Two more runs record the lines of the one call, to find where they part.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pytest_mcp.investigation.difference.call_tree import CallRecording, RecordedCall
from pytest_mcp.investigation.difference.culprits import Comparison, Culprit
from pytest_mcp.investigation.difference.side import DEEP, FLAT, SHALLOW, Depth, Side, Unusable
from pytest_mcp.investigation.difference.source_text import is_changed, parting, read_lines
from pytest_mcp.investigation.difference.telling import Telling
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.investigation.result import AT_BASE, FirstDifference, Sides
from pytest_mcp.investigation.runner import OutOfTime

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


# A call that is told, and the line at which its two runs part, where that is known.
Told = tuple[Culprit, str | None]


@dataclass(frozen=True)
class DifferenceSearch:
    """The test passes at one side, called the base, and fails at the other."""

    base: Side
    now: Side
    node_id: str
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
        told = await self._told(compared)
        telling = Telling(compared.values, self.sides)
        origins = self._origins(told[0][0]) if told else ()
        found = [*map(telling.told_origin, origins), *(telling.told(*each) for each in told)][:MOST]
        return Differences(tuple(found), None if found else self._nothing(compared))

    async def _told(self, compared: ComparedRuns) -> list[Told]:
        known = compared.telling[:MOST] or [*compared.culprits[:1], *compared.changed]
        told: list[Told] = [(each, None) for each in known]
        with suppress(OutOfTime, Unusable):
            told = await self._with_lines(known, compared.depth)
        return told if compared.telling else [*self._by_lines(told)]

    def _by_lines(self, known: Sequence[Told]) -> Iterator[Told]:
        """First changed code that took other lines; then what unchanged code gave, which shows it."""
        first = [(each, line) for each, line in known if each.is_changed and line]
        yield from first or ((each, None) for each, _ in known if each.now.is_test and self._calls_changed(each))
        yield from ((each, line) for each, line in known if not each.is_changed and not each.now.is_test)

    def _calls_changed(self, culprit: Culprit) -> bool:
        """Whether what it calls on one side only is changed code."""
        sides = dict.fromkeys([*culprit.only_base, *culprit.only_now])
        return any(is_changed(name, *self._texts(file)) for file, name in sides)

    def _origins(self, first: Culprit) -> Iterator[RecordedCall]:
        """Where its exception came from, if that is changed code that the base did not call there."""
        if first.now.row.outcome != "raised" or first.base.row.outcome == "raised":
            return
        call = first.now
        while inner := [each for each in call.children if each.row.outcome == "raised" and each.result == call.result]:
            call = inner[-1]
        is_new = call is not first.now and not call.is_test
        if is_new and is_changed(call.code.function, *self._texts(call.code.file)):
            yield call

    async def _compared(self, depth: Depth) -> ComparedRuns:
        """Raises Unusable and OutOfTime."""
        values = Values(is_shown=self.now.runner.config.shows_values)
        base, again, now = [
            await side.recorded(self.node_id, depth, values) for side in (self.base, self.base, self.now)
        ]
        comparison = Comparison(values, base, again, now, is_same_code=self.sides.is_same_code)
        culprits = await self.now.runner.computed(comparison.run)
        changed, given_else = comparison.first_changed(MOST_LINES), comparison.given_else()
        return ComparedRuns(values, depth, base, now, culprits, changed, given_else, self.sides.is_same_code)

    async def _with_lines(self, known: Sequence[Culprit], depth: Depth) -> list[Told]:
        """By two more runs. Raises Unusable and OutOfTime."""
        if not known:
            return []
        flat, values = FLAT._replace(imports=depth.imports), Values()
        base = await self.base.recorded(self.node_id, flat, values, [each.base for each in known])
        now = await self.now.recorded(self.node_id, flat, values, [each.now for each in known])
        if not len(base.lines) == len(now.lines) == len(known):
            raise Unusable("the lines were not recorded")
        lines = zip(known, base.lines, now.lines, strict=True)
        return [
            (each, parting(ones, others, *self._texts(each.now.code.file), self.sides)) for each, ones, others in lines
        ]

    def _texts(self, file: str) -> tuple[list[str], list[str]]:
        return read_lines(self.base.runner.config.root, file), read_lines(self.now.runner.config.root, file)

    def _nothing(self, compared: ComparedRuns) -> str:
        if not compared.base.calls or not compared.now.calls:
            return "it ran no Python code of the project; native code and other processes are not traced"
        if self.sides.is_same_code:
            return "the calls got and gave the same where it passes and where it fails"
        return "no call got the same as at the base and gave something else"


def _independent(culprits: Sequence[Culprit]) -> list[Culprit]:
    """The first, and those of other functions that rank like it."""
    first: dict[object, Culprit] = {}
    for each in culprits:
        if each.rank == culprits[0].rank:
            first.setdefault(each.now.function, each)
    return [*first.values()][:MOST]
