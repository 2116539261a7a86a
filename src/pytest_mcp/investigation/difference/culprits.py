"""Which calls got the same as at the base and gave something else, although each call that they made did not.

The base ran twice: what differs between its runs says nothing. The order of the culprits is that in which their calls
ended in the failing run. Those whose callers gave the same nevertheless come later, then those of imports. Code that is
the same at the base can only read what another call has left: such a culprit comes behind all with changed code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pytest_mcp.investigation.difference.call_tree import Alignment, CallRecording, Function, RecordedCall
from pytest_mcp.investigation.difference.values import ValueDifference, Values

# Outcomes by which the caller decides how far a generator runs.
_UNFINISHED = ("closed", "running")
# How deep calls are compared.
MOST_DEEP = 400


class PartThatDiffers(NamedTuple):
    """What differs, as a name of the program or as `result` and the like; and when, of what a call finds or leaves."""

    what: str
    difference: ValueDifference
    when: str = ""


@dataclass(frozen=True)
class Culprit:
    base: RecordedCall
    now: RecordedCall
    parts: tuple[PartThatDiffers, ...]
    # Whether its code is another one, whether what it gave reached the test, and whether a call above it already was
    # given something else.
    is_changed: bool
    reaches: bool
    is_loose: bool
    # Functions that it calls on one side only.
    only_base: tuple[Function, ...] = ()
    only_now: tuple[Function, ...] = ()
    # What it gave that it was not given, behind what it was given.
    gives: tuple[PartThatDiffers, ...] = ()

    @property
    def rank(self) -> tuple[bool, ...]:
        is_import = self.now.row.phase == "import"
        # A class may have got other fields without harm.
        is_field = all(part.difference.is_one_sided for part in self.parts)
        return self.now.is_test, not self.is_changed, is_field, is_import, self.is_loose, not self.reaches

    @property
    def order(self) -> tuple[bool, bool]:
        return self.now.row.phase == "import", not (self.only_base or self.only_now)


class Way(NamedTuple):
    """From the test to a call: how deep, whether all above it gave something else, whether one got something else."""

    depth: int = 0
    reaches: bool = True
    is_loose: bool = False


@dataclass
class Comparison:
    values: Values
    base: CallRecording
    again: CallRecording
    now: CallRecording
    # Whether only the state differs in which the same code ran.
    is_same_code: bool = False
    culprits: list[Culprit] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Pairs of calls of code that is another one than at the base, whatever they got and gave.
        self.changed: list[Culprit] = []
        # Of the same code: calls that were given something else, though their callers were not.
        self.misled: list[Culprit] = []
        self.alignment = Alignment(self.base, self.now)
        self.repeated: Mapping[int, RecordedCall] = {}

    def run(self) -> list[Culprit]:
        self.repeated = dict(self._same_calls())
        for pair in self.alignment.roots():
            if pair.base is not None and pair.now is not None:
                self._visit(pair.base, pair.now, Way())
        return sorted(self.culprits, key=lambda culprit: (culprit.rank, culprit.now.row.ended)) or self.misled[:1]

    def first_changed(self, most: int) -> list[Culprit]:
        """Of each function with changed code one call: those with other calls first, as they ended; imports last."""
        first: dict[Function, Culprit] = {}
        for each in sorted(self.changed, key=lambda each: (each.order, each.now.row.ended)):
            first.setdefault(each.now.function, each)
        return [*first.values()][:most]

    def given_else(self) -> list[Culprit]:
        """The innermost calls of changed code that gave something else, but were given something else as well.

        In a large change that may be something harmless, which hides what is wrong with them.
        """
        some = [each for each in self.changed if each.gives and each.now.row.phase != "import"]
        above = {call.number for each in some for call in each.now.above}
        inner = (replace(each, parts=each.gives) for each in some if each.now.number not in above)
        return sorted(inner, key=lambda each: (each.rank, each.now.row.ended))

    def _same_calls(self) -> Iterator[tuple[int, RecordedCall]]:
        """For each call of the base the same one of its second run."""
        alignment = Alignment(self.base, self.again)
        todo = [*alignment.roots()]
        while todo:
            one, other = todo.pop()
            if one is not None and other is not None:
                yield one.number, other
                todo += alignment.below(one, other)

    def _visit(self, base: RecordedCall, now: RecordedCall, way: Way) -> bool:
        """Whether something in or below this pair of calls explains what is different behind it."""
        given = tuple(self._given_differs(base, base.given, now.given))
        is_given_the_same = not given
        outcome = tuple(self._outcome(base, now))
        state = tuple(self._given_differs(base, base.state, now.state))
        if self.is_same_code and (given or state) and not way.is_loose:
            self.misled.append(Culprit(base, now, _before([*given, *state]), False, False, False))
        inner = Way(way.depth + 1, way.reaches and bool(outcome), way.is_loose or not is_given_the_same)
        is_explained = False
        for one, other in self.alignment.below(base, now) if way.depth < MOST_DEEP else ():
            if one is not None and other is not None:
                is_explained = self._visit(one, other, inner) or is_explained
        is_changed = base.code.digest != now.code.digest
        sides = self._one_sided(base, now)
        pair = Culprit(base, now, outcome, is_changed, inner.reaches, inner.is_loose, *sides)
        if is_changed and not now.is_test:
            own = tuple(part for part in outcome if part._replace(when="") not in given)
            self.changed.append(replace(pair, gives=(*_before(given[:1]), *own) if own else ()))
        if not is_given_the_same or not outcome:
            return False
        if not is_explained and (self.is_same_code or not state):
            self.culprits.append(replace(pair, parts=(*_before(state), *outcome)))
        return True

    def _one_sided(self, base: RecordedCall, now: RecordedCall) -> tuple[tuple[Function, ...], tuple[Function, ...]]:
        ones = dict.fromkeys(call.function for call in base.children)
        others = dict.fromkeys(call.function for call in now.children)
        return tuple(each for each in ones if each not in others), tuple(each for each in others if each not in ones)

    # --- what differs --------------------------------------------------------------------------

    def _given_differs(
        self, base: RecordedCall, ones: Mapping[str, int], others: Mapping[str, int]
    ) -> Iterator[PartThatDiffers]:
        again = self.repeated.get(base.number)
        repeated = {} if again is None else {**again.given, **again.state}
        if not set(ones) & set(others) and len(ones) == len(others):
            # All arguments have other names.
            others = dict(zip(ones, others.values(), strict=True))
        for name, value in ones.items():
            if name in others:
                parts = self._parts(name, value, others[name], repeated.get(name))
                yield from (part for part in parts if not part.difference.is_one_sided)

    def _outcome(self, base: RecordedCall, now: RecordedCall) -> Iterator[PartThatDiffers]:
        again = self.repeated.get(base.number)
        if base.row.outcome != now.row.outcome and "closed" not in (base.row.outcome, now.row.outcome):
            if again is None or again.row.outcome == base.row.outcome:
                yield PartThatDiffers("result", ValueDifference("", base.result, now.result))
        elif base.row.outcome not in _UNFINISHED:
            yield from self._parts("result", base.result, now.result, None if again is None else again.result)
        yield from self._yields(base, now, again)
        # What a generator's arguments are at its end is also its consumer's doing.
        if base.yields or now.yields or base.row.outcome in _UNFINISHED or now.row.outcome in _UNFINISHED:
            return
        for name in dict.fromkeys([*base.left, *now.left]):
            one, other = (call.left.get(name, {**call.given, **call.state}.get(name, 0)) for call in (base, now))
            third = None if again is None else again.left.get(name, {**again.given, **again.state}.get(name))
            yield from (part._replace(when="afterwards") for part in self._parts(name, one, other, third))

    def _yields(self, base: RecordedCall, now: RecordedCall, again: RecordedCall | None) -> Iterator[PartThatDiffers]:
        third = [] if again is None else again.yields
        for place, (one, other) in enumerate(zip(base.yields, now.yields, strict=False)):
            yield from self._parts(f"yield {place + 1}", one, other, third[place] if place < len(third) else None)
        shorter = min(base, now, key=lambda call: len(call.yields))
        if len(base.yields) != len(now.yields) and shorter.row.outcome not in _UNFINISHED:
            place = len(shorter.yields)
            one, other = (call.yields[place] if place < len(call.yields) else 0 for call in (base, now))
            yield PartThatDiffers(f"yield {place + 1}", ValueDifference("", one, other))

    def _parts(self, what: str, base: int, now: int, again: int | None) -> Iterator[PartThatDiffers]:
        for difference in self.values.differences(base, now, again):
            yield PartThatDiffers(what, difference)


def _before(parts: Sequence[PartThatDiffers]) -> tuple[PartThatDiffers, ...]:
    """What a call found, as against what it gave."""
    return tuple(part._replace(when="before") for part in parts)
