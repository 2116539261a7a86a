"""A call that went wrong, in the words of an answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_mcp.investigation.difference.call_tree import RecordedCall
from pytest_mcp.investigation.difference.culprits import Culprit, PartThatDiffers
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.investigation.result import DifferenceAtBase, FirstDifference, Sides
from pytest_mcp.text import in_line

# How many parts of one difference are told, and how many calls that it went through.
MOST_PARTS = 3
MOST_STEPS = 2
# The most characters of a value that differs, of all arguments and of one of them.
VALUE = 80
ARGUMENTS = 100
ARGUMENT = 60
STEP_VALUE = 50
_UNCHANGED = "its own code is the same as at the base: it shows what other code has left"


@dataclass(frozen=True)
class Telling:
    values: Values
    sides: Sides

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
            then=[*self._then(culprit), *self._doubt(culprit)],
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

    def call(self, call: RecordedCall) -> str:
        """With what it got and gave."""
        gave = self._outcome(call.row.outcome, call.result, VALUE)
        verb = "" if call.row.outcome in ("raised", "running") else "returns "
        place = f"{call.code.file}:{call.code.line}"
        return in_line(f"{call.code.function}({self._arguments(call)}) {verb}{gave} ({place})")

    def _doubt(self, culprit: Culprit) -> list[str]:
        is_innocent = not (culprit.is_changed or culprit.now.is_test or self.sides.is_same_code)
        return [_UNCHANGED] if is_innocent else []

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
        parts: dict[tuple[str, str], list[PartThatDiffers]] = {}
        for part in culprit.parts:
            parts.setdefault((part.what, part.when), []).append(part)
        for (what, when), several in parts.items():
            for each in self._differing(culprit, what, several):
                yield each.model_copy(update={"what": f"{each.what} {when}".rstrip()})
        for what, functions in zip(self.sides.calls_only, (culprit.only_base, culprit.only_now), strict=True):
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
            yield in_line(f"{now.code.function}{path}: {self.sides.both(one, other)}")

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
