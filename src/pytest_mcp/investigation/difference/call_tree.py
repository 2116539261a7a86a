"""The calls of one traced run, as a tree, and the calls of two runs that belong together.

Functions are the same if they have the same file and qualified name: lines move. A function that only one of two runs
has is transparent: its calls count as those of its caller, so a helper that was extracted or renamed hides nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.report import places
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.recordings import CallCode, CallRow

MODULE = "<module>"
PHASES = ("import", "setup", "call", "teardown", "thread")
# The most calls between two that certainly belong together; of more, the first are matched with the first.
MOST_MATCHED = 2_000

# A file and a qualified name.
Function = tuple[str, str]


@dataclass(frozen=True, eq=False)
class RecordedCall:
    """`given` and `left` are numbers of values by the names of arguments and closure, `state` those of globals."""

    number: int
    code: CallCode
    row: CallRow
    # Which of the calls of its function it is, from 1.
    place: int
    parent: "RecordedCall | None"
    given: Mapping[str, int]
    state: Mapping[str, int]
    left: Mapping[str, int]
    result: int
    yields: Sequence[int]
    children: "list[RecordedCall]" = field(default_factory=list)

    @property
    def function(self) -> Function:
        return self.code.file, self.code.function

    @cached_property
    def is_test(self) -> bool:
        return not places.is_source(self.code.file)

    @property
    def is_body(self) -> bool:
        return self.code.function == MODULE or self.row.phase == "import"

    @cached_property
    def key(self) -> tuple[Function, tuple[int, ...]]:
        return self.function, tuple(self.given.values())

    @property
    def above(self) -> "list[RecordedCall]":
        """Who called it, the nearest first."""
        return [] if self.parent is None else [self.parent, *self.parent.above]


@dataclass(frozen=True)
class CallRecording:
    calls: Sequence[RecordedCall]
    # Whether the trace function was ours all the time, and the lines of the calls whose lines were wanted.
    is_complete: bool
    lines: Sequence[Sequence[int]] = ()

    @cached_property
    def functions(self) -> dict[Function, int]:
        """With the digest of their code."""
        return {call.function: call.code.digest for call in self.calls}

    def roots(self, phase: str) -> list[RecordedCall]:
        return [call for call in self.calls if call.parent is None and call.row.phase == phase]


def recording_of(ledger: Ledger, test: str, values: Values) -> CallRecording | None:
    """None if nothing was recorded, or if what was recorded is damaged: tests can write records too."""
    ended = next((each for each in ledger.calls_ended if each.test == test), None)
    if ended is None:
        return None
    try:
        numbers = values.adopt([row for part in ledger.call_values if part.test == test for row in part.rows])
        codes = [code for part in ledger.call_codes if part.test == test for code in part.rows]
        rows = [row for part in ledger.calls if part.test == test for row in part.rows]
        reading = _Reading(codes, numbers, values)
        for row in rows:
            reading.add(row)
        return CallRecording(reading.calls, ended.complete, ended.lines)
    except (ValueError, IndexError, KeyError):
        return None


@dataclass(frozen=True)
class _Reading:
    """Of one recording; `numbers` are those of its values, in the common table."""

    codes: Sequence[CallCode]
    numbers: Sequence[int]
    values: Values
    calls: list[RecordedCall] = field(default_factory=list)
    counts: Counter[tuple[Function, int]] = field(default_factory=Counter)

    def add(self, row: CallRow) -> None:
        if not (-1 <= row.parent < len(self.calls) and 0 <= row.code < len(self.codes) and row.phase in PHASES):
            raise ValueError("no such call")
        code, parent = self.codes[row.code], None if row.parent < 0 else self.calls[row.parent]
        counted = (code.file, code.function), code.line
        self.counts[counted] += 1
        named = dict(map(self._named, code.names, row.given))
        state = code.names[code.locals :]
        after = zip(row.after[::2], row.after[1::2], strict=True)
        call = RecordedCall(
            len(self.calls),
            code,
            row,
            self.counts[counted],
            parent,
            given={name: each for name, each in named.items() if name not in state},
            state={name: each for name, each in named.items() if name in state},
            left=dict(self._named(code.names[_checked(at)], each) for at, each in after),
            result=self._value(row.result),
            yields=[*map(self._value, row.yields)],
        )
        self.calls.append(call)
        if parent is not None:
            parent.children.append(call)

    def _named(self, name: str, at: int) -> tuple[str, int]:
        return name, self.values.named(name, self._value(at))

    def _value(self, at: int) -> int:
        return self.numbers[_checked(at)]


def _checked(number: int) -> int:
    if number < 0:
        raise ValueError("no number of a row")
    return number


# --- which calls belong together -----------------------------------------------------------------


class Pair(NamedTuple):
    base: RecordedCall | None
    now: RecordedCall | None


@dataclass(frozen=True)
class Alignment:
    base: CallRecording
    now: CallRecording

    def roots(self) -> Iterator[Pair]:
        for phase in PHASES:
            yield from self.matched(self._visible(self.base.roots(phase)), self._visible(self.now.roots(phase)))

    def below(self, base: RecordedCall, now: RecordedCall) -> list[Pair]:
        return self.matched(self._visible(base.children), self._visible(now.children))

    def _visible(self, calls: Sequence[RecordedCall]) -> list[RecordedCall]:
        common = self._common
        seen: list[RecordedCall] = []
        todo = [*reversed(calls)]
        while todo:
            call = todo.pop()
            if call.function in common:
                seen.append(call)
            else:
                todo += reversed(call.children)
        return seen

    @cached_property
    def _common(self) -> set[Function]:
        return set(self.base.functions) & set(self.now.functions)

    def matched(self, base: Sequence[RecordedCall], now: Sequence[RecordedCall]) -> list[Pair]:
        """By function and what they were given; in the gaps between those, by function alone."""
        pairs: list[Pair] = []
        left: list[RecordedCall] = []
        right: list[RecordedCall] = []
        for ones, others, is_equal in _blocks([call.key for call in base], [call.key for call in now]):
            if is_equal:
                pairs += map(Pair, base[ones], now[others])
                continue
            gap = base[ones], now[others]
            for first, second, is_same in _blocks(*([call.function for call in side] for side in gap)):
                pairs += map(Pair, gap[0][first], gap[1][second]) if is_same else []
                left += [] if is_same else gap[0][first]
                right += [] if is_same else gap[1][second]
        return [*pairs, *_moved(left, right)]


def _moved(base: Sequence[RecordedCall], now: Sequence[RecordedCall]) -> Iterator[Pair]:
    """Calls that got the same in another order, and those that only one side has."""
    waiting: dict[object, list[RecordedCall]] = {}
    for call in reversed(now):
        waiting.setdefault(call.key, []).append(call)
    for call in base:
        others = waiting.get(call.key)
        yield Pair(call, others.pop() if others else None)
    yield from (Pair(None, call) for others in waiting.values() for call in reversed(others))


def _blocks(base: Sequence[object], now: Sequence[object]) -> Iterator[tuple[slice, slice, bool]]:
    start = 0
    while start < min(len(base), len(now)) and base[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(base), len(now)) - start and base[-1 - end] == now[-1 - end]:
        end += 1
    if start:
        yield slice(0, start), slice(0, start), True
    ones, others = base[start : len(base) - end], now[start : len(now) - end]
    if max(len(ones), len(others)) > MOST_MATCHED:
        yield slice(start, len(base) - end), slice(start, len(now) - end), False
    elif ones or others:
        for word, i, j, k, m in SequenceMatcher(None, ones, others, autojunk=False).get_opcodes():
            yield slice(start + i, start + j), slice(start + k, start + m), word == "equal"
    if end:
        yield slice(len(base) - end, len(base)), slice(len(now) - end, len(now)), True
