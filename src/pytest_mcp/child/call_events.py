"""Records calls: what each was given and what came of it. `call_tracers` tells it of them.

Nothing here may raise: an exception of a trace function ends up in the traced code. Values are numbers of a table,
which `value_reading` fills. What is recorded when is decided in `call_tracing`.
"""

from __future__ import annotations

import threading
from types import CodeType, FrameType
from typing import Any, Callable, Sequence, Tuple

from code_facts import CALLS_OF_ONE, CodeFacts, is_data, items_of
from value_reading import MISSING, ValueReader

# The most calls of all functions, and the most yields of one call.
CALLS = 30_000
YIELDS = 60
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


class TracedCall:
    """`given` has the numbers of arguments, closure and globals; `before` the ids of those objects."""

    __slots__ = (
        *("after", "before", "ended", "facts", "frame", "given", "line", "lines", "number", "outcome", "parent"),
        *("phase", "raised", "raised_at", "result", "yields"),
    )

    def __init__(self, facts: CodeFacts, frame: int, parent: int, phase: str, number: int) -> None:
        self.facts = facts
        self.frame = frame
        self.parent = parent
        self.phase = phase
        self.number = number
        self.line = 0
        self.given: list[int] = []
        self.before: list[int] = []
        self.after: list[tuple[int, int]] = []
        self.outcome = "running"
        self.result = 0
        self.yields: list[int] = []
        self.ended = 0
        self.raised: BaseException | None = None
        self.raised_at = -1
        self.lines: list[int] | None = None


# The name of a function, the line where its code begins, and which of its calls, from 1.
Wanted = Tuple[str, int, int]


class CallRecorder:
    """Common to both ways."""

    def __init__(self, is_wanted: Callable[[str], bool], values: ValueReader, lines_of: Sequence[Wanted] = ()) -> None:
        self.is_wanted = is_wanted
        self.lines_of: dict[Wanted, list[int]] = {wanted: [] for wanted in lines_of}
        self.phase = "setup"
        self.main = threading.get_ident()
        self.ident = threading.get_ident
        self.lock = threading.RLock()
        self.clear(values)

    def clear(self, values: ValueReader) -> None:
        """For the next test."""
        self.values = values
        self.facts: dict[int, CodeFacts | None] = {}
        self.codes: list[CodeFacts] = []
        self.calls: list[TracedCall] = []
        self.stacks: dict[int, list[TracedCall]] = {}
        self.suspended: dict[int, TracedCall] = {}
        self.ended = 0

    # --- calls ---------------------------------------------------------------------------------

    def facts_of(self, code: CodeType) -> CodeFacts | None:
        """None for code that is not recorded."""
        key = id(code)
        if key not in self.facts:
            is_wanted = code.co_name not in COMPREHENSIONS and self.is_wanted(code.co_filename)
            with self.lock:
                facts = CodeFacts(code, len(self.codes)) if is_wanted else None
                if key not in self.facts:
                    self.facts[key] = facts
                    self.codes += [facts] if facts else []
        return self.facts[key]

    def begin(self, frame: FrameType, facts: CodeFacts) -> TracedCall | None:
        """None if no more calls of it are recorded."""
        if len(self.calls) >= CALLS or self.values.is_spent:
            # So that its next calls cost next to nothing.
            facts.left = 0
        if facts.is_spent:
            return None
        before = self.values.work
        thread = self.ident()
        stack = self.stacks.setdefault(thread, [])
        above = stack[-1] if stack else None
        phase = self.phase if thread == self.main else "thread"
        with self.lock:
            facts.left -= 1
            facts.running += 1
            call = TracedCall(facts, id(frame), -1 if above is None else above.number, phase, len(self.calls))
            if self.lines_of:
                call.lines = self.lines_of.get((facts.name, facts.code.co_firstlineno, CALLS_OF_ONE - facts.left))
            self.calls.append(call)
        stack.append(call)
        if above is not None:
            call.line = line_below(frame, above.facts.code)
        known = self.named(frame, facts)
        call.before = [*map(id, known)]
        call.given = self.values.read_all(known)
        facts.parts_left -= self.values.work - before
        return call

    def named(self, frame: FrameType, facts: CodeFacts) -> list[Any]:
        """Its arguments and closure, and globals."""
        if facts.is_body:
            return []
        known = frame.f_locals
        return [known.get(name, MISSING) for name in facts.names] + facts.state(frame, self.is_wanted)

    def finish(self, call: TracedCall, frame: FrameType, outcome: str, value: Any) -> None:
        self.leave(call)
        self.suspended.pop(id(frame), None)
        call.facts.running -= 1
        self.ended += 1
        call.ended, call.outcome, call.raised = self.ended, outcome, None
        if call.facts.is_body:
            call.result = self.data_of(frame) if outcome == "returned" else self.values.read(value)
            return
        call.result = self.values.read(value)
        known = self.named(frame, call.facts)
        # A name that has another object by now was bound again. Of a global that is the change.
        bound = len(call.facts.names)
        known = [
            value if place >= bound or id(value) == call.before[place] else MISSING for place, value in enumerate(known)
        ]
        for place, number in enumerate(self.values.read_all(known)):
            if number and number != call.given[place]:
                call.after.append((place, number))

    def leave(self, call: TracedCall) -> None:
        stack = self.stacks.get(self.ident(), [])
        while stack and stack.pop() is not call:
            pass

    def data_of(self, frame: FrameType) -> int:
        """What the body of a class or module has defined."""
        known = items_of(frame.f_locals)
        data = {name: value for name, value in known if type(name) is str and is_data(name, value)}
        return self.values.node(data, self.values.depth + 1, 4 * self.values.parts)[0]

    def suspend(self, call: TracedCall, frame: FrameType, value: Any) -> None:
        self.leave(call)
        self.suspended[id(frame)] = call
        if call.facts.is_generator and len(call.yields) < YIELDS:
            call.yields.append(self.values.read(value))

    def resumed(self, frame: FrameType) -> TracedCall | None:
        call = self.suspended.pop(id(frame), None)
        if call is None or call.facts.code is not frame.f_code:
            return None
        self.stacks.setdefault(self.ident(), []).append(call)
        return call

    def close(self) -> None:
        """Generators that were left before their end. Newer versions of Python do not tell of all of them."""
        running = {call.number for stack in list(self.stacks.values()) for call in stack}
        for call in self.calls:
            if call.outcome == "running" and call.facts.is_suspended and call.number not in running:
                call.outcome, call.ended = "closed", self.ended

    def running(self, frame: FrameType) -> TracedCall | None:
        """The call of this frame, if it is recorded."""
        for call in reversed(self.stacks.get(self.ident(), ())):
            if call.frame == id(frame):
                return call if call.facts.code is frame.f_code else None
        return None


def line_below(frame: FrameType, above: CodeType) -> int:
    """Where it was called, if that is in the code above; 0 if other code is between."""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_name in COMPREHENSIONS:
        caller = caller.f_back
    return caller.f_lineno or 0 if caller is not None and caller.f_code is above else 0
