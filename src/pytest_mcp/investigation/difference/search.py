"""The first call that got the same as at the base and gave something else.

The test runs traced: twice at the base, once here. If no call of changed code explains the failure, once more with
imports and deeper values. Two more runs record the lines of the one call, to find where they part.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pytest_mcp.investigation.difference import definitions
from pytest_mcp.investigation.difference.call_tree import CallRecording, RecordedCall, recording_of
from pytest_mcp.investigation.difference.culprits import Comparison, Culprit, PartThatDiffers
from pytest_mcp.investigation.difference.parting import parting
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.investigation.outcome import Outcome, outcome_of
from pytest_mcp.investigation.repetitions import OnStep
from pytest_mcp.investigation.result import DifferenceAtBase, FirstDifference
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.process.background import in_thread
from pytest_mcp.process.job import CallTrace, LinesOf
from pytest_mcp.text import in_line

# How many differences are told, how many parts of one, and how many calls that they went through.
MOST = 3
# How many calls of changed code are looked at by their lines, if none gave something else.
MOST_LINES = 4
MOST_PARTS = 3
MOST_STEPS = 2
# The most characters of a value that differs, of all arguments and of one of them.
VALUE = 90
ARGUMENTS = 130
ARGUMENT = 60
STEP_VALUE = 50
_UNCHANGED = "its own code is the same as at the base: it shows what other code has left"
_UNTRACED = "it could not be traced: the test, the project, coverage or a debugger traces by itself"


class Depth(NamedTuple):
    """How deep values are read, and whether imports are traced."""

    depth: int
    parts: int
    imports: bool


SHALLOW = Depth(3, 80, imports=False)
DEEP = Depth(5, 600, imports=True)
# Only for lines: nothing but plain values is read.
FLAT = Depth(0, 80, imports=False)


@dataclass(frozen=True)
class Differences:
    """`problem` says why there are none. `outcomes` are those of the traced runs here."""

    found: tuple[FirstDifference, ...] = ()
    problem: str | None = None
    outcomes: tuple[Outcome, ...] = ()


class Unusable(Exception):
    """A traced run says nothing; the message says why."""


@dataclass(frozen=True)
class ComparedRuns:
    values: Values
    depth: Depth
    base: CallRecording
    now: CallRecording
    culprits: Sequence[Culprit]
    # Calls of changed code, whatever they gave.
    changed: Sequence[Culprit]

    @property
    def is_telling(self) -> bool:
        """Whether the first of them can be the cause: unchanged code only shows what changed code has left."""
        return any(each.is_changed and not each.now.is_test for each in self.culprits)


@dataclass(frozen=True)
class DifferenceSearch:
    """`base` runs the test where it passed, `now` where it fails as `expected`."""

    base: Runner
    now: Runner
    node_id: str
    expected: Outcome
    on_step: OnStep
    shows_values: bool = True

    async def run(self) -> Differences:
        try:
            compared = await self._compared(SHALLOW)
            if not compared.is_telling:
                compared = await self._compared(DEEP)
        except Unusable as error:
            return Differences(problem=str(error))
        except OutOfTime:
            return Differences(problem="not looked for, the time was over")
        known = _independent(compared.culprits) if compared.is_telling else [*compared.culprits[:1], *compared.changed]
        partings: list[str | None] = [None] * len(known)
        with suppress(OutOfTime, Unusable):
            partings = await self._partings(known, compared.depth)
        if not compared.is_telling:
            known, partings = self._by_lines(known, partings)
        telling = Telling(compared.values)
        found = [telling.told(each, parting) for each, parting in zip(known, partings, strict=True)]
        found = [*map(telling.told_origin, self._origins(known)), *found][:MOST]
        return Differences(tuple(found), None if found else _nothing(compared))

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
        comparison = Comparison(values, base, again, now)
        with self.now.in_time():
            culprits = await in_thread(comparison.run)
            return ComparedRuns(values, depth, base, now, culprits, comparison.first_changed(MOST_LINES))
        raise OutOfTime

    async def _recorded(
        self, runner: Runner, depth: Depth, values: Values, lines_of: Sequence[RecordedCall] = ()
    ) -> CallRecording:
        where = "here" if runner is self.now else "at the base"
        self.on_step(f"tracing lines {where}" if lines_of else f"tracing {where}")
        trace: CallTrace = {
            "test": self.node_id,
            "depth": depth.depth,
            "parts": depth.parts,
            "imports": depth.imports,
            "lines_of": [_lines_of(call) for call in lines_of],
        }
        run = await runner.run([self.node_id], calls=trace)
        self._check(runner, outcome_of(run, self.node_id))
        with self.now.in_time():
            recording = await in_thread(partial(recording_of, run.ledger, values))
            if recording is None:
                raise Unusable("nothing was recorded")
            if not recording.is_complete:
                raise Unusable(_UNTRACED)
            return recording
        raise OutOfTime

    def _check(self, runner: Runner, seen: Outcome) -> None:
        if runner is self.now and (seen.letter, seen.cause) != (self.expected.letter, self.expected.cause):
            raise Unusable(f"when it was traced here, something else happened: {seen.words or 'it passed'}")
        if runner is not self.now and not seen.passed:
            raise Unusable(f"when it was traced at the base, something else happened: {seen.words}")

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
        return [parting(ones, others, *self._sources(each.now.code.file)) for each, ones, others in lines]

    def _sources(self, file: str) -> tuple[list[str], list[str]]:
        return _source(self.base.config.root, file), _source(self.now.config.root, file)


def _lines_of(call: RecordedCall) -> LinesOf:
    return {"function": call.code.function, "line": call.code.line, "number": call.place}


def _source(root: Path, file: str) -> list[str]:
    path = root / file
    if not path.resolve().is_relative_to(root.resolve()):
        return []
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _nothing(compared: ComparedRuns) -> str:
    if not compared.base.calls or not compared.now.calls:
        return "it ran no Python code of the project; native code and other processes are not traced"
    return "no call got the same as at the base and gave something else"


def _independent(culprits: Sequence[Culprit]) -> list[Culprit]:
    """The first, and those of other functions that rank like it."""
    first: dict[object, Culprit] = {}
    for each in culprits:
        if each.rank == culprits[0].rank:
            first.setdefault(each.now.function, each)
    return [*first.values()][:MOST]


# --- in words ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Telling:
    values: Values

    def told(self, culprit: Culprit, parting: str | None) -> FirstDifference:
        now = culprit.now
        return FirstDifference(
            function=in_line(now.code.function),
            file=in_line(now.code.file),
            line=now.code.line,
            arguments=self._arguments(now),
            differs=[*self._differs(culprit)][:MOST_PARTS],
            parts_at=parting,
            called_by=_called_by(now),
            then=[*self._then(culprit), *([] if culprit.is_changed or now.is_test else [_UNCHANGED])],
        )

    def told_origin(self, call: RecordedCall) -> FirstDifference:
        raised = self._outcome(call.row.outcome, call.result, VALUE)
        return FirstDifference(
            function=in_line(call.code.function),
            file=in_line(call.code.file),
            line=call.code.line,
            arguments=self._arguments(call),
            differs=[DifferenceAtBase(what="result", base="(no such call)", now=raised)],
            parts_at=None,
            called_by=_called_by(call),
            then=[],
        )

    def _arguments(self, call: RecordedCall) -> str:
        shown, left = [], ARGUMENTS
        for name, value in call.given.items():
            if left <= 0:
                shown.append("…")
                break
            words = f"{name}={self.values.shown(value, min(ARGUMENT, left))}"
            left -= len(words)
            shown.append(words)
        return in_line(", ".join(shown))

    def _differs(self, culprit: Culprit) -> Iterator[DifferenceAtBase]:
        parts: dict[str, list[PartThatDiffers]] = {}
        for part in culprit.parts:
            parts.setdefault(part.what, []).append(part)
        for what, several in parts.items():
            yield from self._differing(culprit, what, several)
        for what, functions in (("calls only at the base", culprit.only_base), ("calls only now", culprit.only_now)):
            names = ", ".join(name for _, name in functions[:MOST_PARTS])
            if names:
                sides = (names, "") if functions is culprit.only_base else ("", names)
                yield DifferenceAtBase(what=what, base=in_line(sides[0]), now=in_line(sides[1]))

    def _differing(self, culprit: Culprit, what: str, parts: Sequence[PartThatDiffers]) -> Iterator[DifferenceAtBase]:
        """The whole values if they are short, else the leaves that differ."""
        if what == "result":
            outcomes = [(call.row.outcome, call.result) for call in (culprit.base, culprit.now)]
            words = [self._outcome(*each, VALUE) for each in outcomes]
            is_whole = max(map(len, words)) <= VALUE and words[0] != words[1]
            if outcomes[0][0] != outcomes[1][0] or is_whole:
                yield DifferenceAtBase(what=what, base=words[0], now=words[1])
                return
        for part in parts[:2]:
            base, now = self.values.shown_pair(part.difference.base, part.difference.now, VALUE)
            yield DifferenceAtBase(what=in_line(f"{what}{part.difference.path}"), base=base, now=now)

    def _outcome(self, outcome: str, value: int, most: int) -> str:
        if outcome == "running":
            return "it does not come back"
        return f"{'raises ' if outcome == 'raised' else ''}{self.values.shown(value, most)}"

    def _then(self, culprit: Culprit) -> Iterator[str]:
        """What its callers gave, up to the test."""
        steps, seen = 0, culprit.now.result
        for base, now in zip(culprit.base.above, culprit.now.above, strict=False):
            if now.is_test or base.function != now.function or steps == MOST_STEPS:
                return
            if now.result in (seen, base.result) and now.row.outcome == base.row.outcome:
                continue
            steps, seen = steps + 1, now.result
            path, one, other = self._sides(base, now, STEP_VALUE)
            yield in_line(f"{now.code.function}{path}: {one} at the base, {other} now")

    def _sides(self, base: RecordedCall, now: RecordedCall, most: int) -> tuple[str, str, str]:
        """Both results whole if they are short, else the first of their parts that differs, with its path."""
        one, other = (self._outcome(call.row.outcome, call.result, most) for call in (base, now))
        if base.row.outcome != now.row.outcome or max(len(one), len(other)) <= most:
            return "", one, other
        first = next(self.values.differences(base.result, now.result), None)
        if first is None:
            return "", one, other
        return first.path, *self.values.shown_pair(first.base, first.now, most)


def _called_by(call: RecordedCall) -> str | None:
    """The test first, with the line of the call in the nearest."""
    above = call.above
    if not above:
        return None
    names = [each.code.function for each in reversed(above)]
    shown = names if len(names) <= 4 else [names[0], "…", *names[-2:]]
    place = f" ({above[0].code.file}:{call.row.line})" if call.row.line > 0 else f" ({above[0].code.file})"
    return in_line(" > ".join(shown) + place)
