"""Records the calls of chosen code, with what they were given and what came of them.

With `sys.monitoring`, or with `sys.settrace` before Python 3.12. Nothing here may raise: an exception of a trace
function ends up in the traced code. Values are numbers of a table, which `value_reading` fills. What is recorded when
is decided in `call_tracing`.
"""

from __future__ import annotations

import opcode
import sys
import threading
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Callable, Sequence, Tuple
from zlib import crc32

from line_events import TOOL_IDS, TOOL_NAME
from value_kinds import mro_of
from value_reading import MISSING, ValueReader

# The most calls of one function, and of all; the most parts of values that they read; and how many yields and lines of
# one call. Counted, and not by the clock: the runs that are compared must end at the same call.
CALLS_OF_ONE = 2_000
CALLS = 30_000
PARTS_OF_ONE = 60_000
YIELDS = 60
LINES = 400
# Names of globals that are read at each call.
GLOBALS = 12
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
_RETURNS = {opcode.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in opcode.opmap}
_YIELDS = {opcode.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME") if name in opcode.opmap}
_GENERATOR, _COROUTINE = 0x20, 0x80 | 0x200
_WAITS = [bytes([opcode.opmap["YIELD_FROM"]])] if "YIELD_FROM" in opcode.opmap else []
_NEW_LOCALS, _VARIADIC = 0x02, (0x04, 0x08)
# Globals of these types cannot change, or have a record of their own.
_UNREAD = (FunctionType, ModuleType, BuiltinFunctionType, type, property, staticmethod, classmethod)


class CodeFacts:
    """What is the same for all calls of a code object. The object is kept, so that its id stays its own."""

    def __init__(self, code: CodeType, place: int) -> None:
        self.code = code
        self.place = place
        # Qualified from Python 3.11 on.
        self.name: str = getattr(code, "co_qualname", code.co_name)
        self.left = CALLS_OF_ONE
        self.parts_left = PARTS_OF_ONE
        # How many of its recorded calls have not ended.
        self.running = 0
        count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in _VARIADIC)
        self.arguments = code.co_varnames[:count]
        self.names = self.arguments + code.co_freevars
        # Known at the first call.
        self.globals: tuple[str, ...] | None = None
        self.is_body = not code.co_flags & _NEW_LOCALS
        self.is_generator = bool(code.co_flags & _GENERATOR)
        self.is_suspended = bool(code.co_flags & (_GENERATOR | _COROUTINE))
        self.opcodes = code.co_code

    @property
    def is_spent(self) -> bool:
        return self.left <= 0 or self.parts_left <= 0

    def named_globals(self, frame: FrameType) -> tuple[str, ...]:
        """Those that can differ between calls or trees: no functions, classes and modules."""
        if self.globals is None:
            known = frame.f_globals
            names = [name for name in self.code.co_names if not self.is_body and name in known]
            self.globals = tuple([name for name in names if is_data(name, known[name])][:GLOBALS])
        return self.globals

    def digest(self) -> int:
        """Equal for code that does the same, wherever it stands in its file."""
        return digest_of(self.code)


def is_data(name: str, value: Any) -> bool:
    """Whether a name of a module or class stands for what is neither code nor the interpreter's own."""
    if name[:2] == "__" == name[-2:]:
        return False
    return not any(base is unread for base in mro_of(type(value)) for unread in _UNREAD)


def digest_of(code: CodeType) -> int:
    constants = [repr(each) if not isinstance(each, CodeType) else digest_of_inner(each) for each in code.co_consts]
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants)
    return crc32(repr(parts).encode("utf-8", "surrogatepass"))


def digest_of_inner(code: CodeType) -> object:
    """Functions and classes inside have records of their own."""
    return digest_of(code) if code.co_name.startswith("<") else code.co_name


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
        self.values = values
        self.lines_of: dict[Wanted, list[int]] = {wanted: [] for wanted in lines_of}
        self.facts: dict[int, CodeFacts | None] = {}
        self.codes: list[CodeFacts] = []
        self.calls: list[TracedCall] = []
        self.phase = "setup"
        self.is_recording = False
        self.stacks: dict[int, list[TracedCall]] = {}
        self.suspended: dict[int, TracedCall] = {}
        self.main = threading.get_ident()
        self.ended = 0
        self.ident = threading.get_ident
        self.lock = threading.RLock()

    def start(self) -> bool:
        """False if another trace function is in the way."""
        raise NotImplementedError

    def stop(self) -> bool:
        """False if another trace function has replaced ours meanwhile."""
        raise NotImplementedError

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
        if facts.is_spent or len(self.calls) >= CALLS or self.values.is_spent:
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
        call.before = [id(value) for _, value in known]
        call.given = self.values.read_all(known)
        facts.parts_left -= self.values.work - before
        return call

    def named(self, frame: FrameType, facts: CodeFacts) -> list[tuple[str, Any]]:
        """Its arguments, closure and globals."""
        if facts.is_body:
            return []
        known, outer = frame.f_locals, frame.f_globals
        inner = [(name, known.get(name, MISSING)) for name in facts.names]
        return inner + [(name, outer.get(name, MISSING)) for name in facts.named_globals(frame)]

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
            (name, value if place >= bound or id(value) == call.before[place] else MISSING)
            for place, (name, value) in enumerate(known)
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
        data = {name: value for name, value in frame.f_locals.items() if type(name) is str and is_data(name, value)}
        return self.values.node(data, "", self.values.depth + 1, 4 * self.values.parts)[0]

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


class CallsBySettrace(CallRecorder):
    """`sys.settrace`, in this thread and in those that are started while it records."""

    def start(self) -> bool:
        if sys.gettrace() is not None:
            return False
        self.is_recording = True
        self.function = self.trace_function()
        threading.settrace(self.function)
        sys.settrace(self.function)
        return True

    def stop(self) -> bool:
        self.is_recording = False
        is_ours = sys.gettrace() is self.function
        if is_ours:
            sys.settrace(None)
        threading.settrace(None)
        return is_ours

    def trace_function(self) -> Any:
        """Called for every call of every function, so it looks up as little as possible."""
        skipped: dict[int, CodeType] = {}
        facts_of, on_call = self.facts_of, self.on_call

        def function(frame: Any, _event: str, _argument: Any) -> Any:
            code = frame.f_code
            if id(code) in skipped:
                return None
            try:
                facts = facts_of(code)
                if facts is None or facts.is_spent:
                    # Kept, so that its id stays its own. A generator of it may still be running.
                    if facts is None or not facts.is_suspended:
                        skipped[id(code)] = code
                    if facts is None:
                        return None
                return on_call(frame, facts)
            except Exception:  # noqa: BLE001 - it would be raised in the traced code
                return None

        return function

    def on_call(self, frame: Any, facts: CodeFacts) -> Any:
        if not self.is_recording:
            return None
        if facts.is_suspended and id(frame) in self.suspended and self.resumed(frame) is not None:
            return frame.f_trace
        call = self.begin(frame, facts)
        if call is None:
            return None
        frame.f_trace_lines = call.lines is not None
        return self.local(call)

    def local(self, call: TracedCall) -> Any:
        def function(frame: Any, event: str, argument: Any) -> Any:
            try:
                if event == "return":
                    self.on_return(call, frame, argument)
                elif event == "exception":
                    call.raised, call.raised_at = argument[1], frame.f_lasti
                elif event == "line" and call.lines is not None and len(call.lines) < LINES:
                    call.lines.append(frame.f_lineno)
            except Exception:  # noqa: BLE001, S110 - it would be raised in the traced code
                pass
            return function

        return function

    def on_return(self, call: TracedCall, frame: Any, value: Any) -> None:
        """Also called for exceptions and yields, which only the last instruction tells from a return of None."""
        if not self.is_recording:
            return
        last, code, facts = frame.f_lasti, call.facts.opcodes, call.facts
        instruction = code[last] if 0 <= last < len(code) else -1
        has_raised = value is None and instruction not in _RETURNS and call.raised is not None
        is_thrown = has_raised and call.raised_at == last
        # Before Python 3.11 a frame that waits for another one stands in front of the instruction for it.
        yields = value is not None or instruction in _YIELDS or code[last + 2 : last + 3] in _WAITS
        if facts.is_suspended and instruction not in _RETURNS and yields and not is_thrown:
            self.suspend(call, frame, value)
        elif has_raised:
            self.finish(call, frame, outcome_of(call.raised), call.raised)
        else:
            self.finish(call, frame, "returned", value)


def outcome_of(raised: BaseException | None) -> str:
    return "closed" if type(raised) is GeneratorExit else "raised"


class CallsByMonitoring(CallRecorder):
    """`sys.monitoring`: code that is not recorded costs one event in all."""

    def __init__(
        self, is_wanted: Callable[[str], bool], values: ValueReader, lines_of: Sequence[Wanted], tool: int
    ) -> None:
        super().__init__(is_wanted, values, lines_of)
        self.monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self.tool = tool
        self.events = self.monitoring.events
        self.disable = self.monitoring.DISABLE
        # The events that every recorded function has.
        self.local = self.events.PY_RESUME | self.events.PY_YIELD | self.events.PY_RETURN

    def start(self) -> bool:
        if self.monitoring.get_tool(self.tool) is None:
            self.monitoring.use_tool_id(self.tool, TOOL_NAME)
            for event, function in self.callbacks():
                self.monitoring.register_callback(self.tool, event, function)
        self.monitoring.set_events(self.tool, self.events.PY_START | self.events.PY_UNWIND | self.events.PY_THROW)
        self.is_recording = True
        return True

    def stop(self) -> bool:
        self.is_recording = False
        self.monitoring.set_events(self.tool, 0)
        return True

    def callbacks(self) -> list[tuple[int, Callable[..., Any]]]:
        return [
            (self.events.PY_START, self.on_start),
            (self.events.PY_RESUME, self.on_resume),
            (self.events.PY_THROW, self.on_resume),
            (self.events.PY_YIELD, self.on_yield),
            (self.events.PY_RETURN, self.on_return),
            (self.events.PY_UNWIND, self.on_unwind),
            (self.events.LINE, self.on_line),
        ]

    def on_start(self, code: CodeType, _offset: int) -> Any:
        try:
            facts = self.facts_of(code)
            if facts is None:
                return self.disable
            if not self.is_recording:
                return None
            frame = sys._getframe(1)
            self.suspended.pop(id(frame), None)
            call = self.begin(frame, facts)
            if call is None:
                return self.disable
            more = self.events.LINE if call.lines is not None else 0
            if facts.left == CALLS_OF_ONE - 1 or more:
                self.monitoring.set_local_events(self.tool, code, self.local | more)
        except Exception:  # noqa: BLE001, S110 - it would be raised in the traced code
            pass
        return None

    def on_resume(self, _code: CodeType, _offset: int, _raised: Any = None) -> None:
        with suppress(Exception):
            if self.is_recording and self.suspended:
                self.resumed(sys._getframe(1))

    def on_yield(self, _code: CodeType, _offset: int, value: Any) -> None:
        self.on_end("", value, sys._getframe(1))

    def on_return(self, _code: CodeType, _offset: int, value: Any) -> None:
        self.on_end("returned", value, sys._getframe(1))

    def on_unwind(self, code: CodeType, _offset: int, raised: BaseException) -> None:
        if self.facts.get(id(code)) is not None:
            self.on_end(outcome_of(raised), raised, sys._getframe(1))

    def on_end(self, outcome: str, value: Any, frame: FrameType) -> None:
        with suppress(Exception):
            call = self.running(frame) if self.is_recording else None
            if call is None:
                return
            if not outcome:
                self.suspend(call, frame, value)
                return
            self.finish(call, frame, outcome, value)
            if call.facts.is_spent and not call.facts.running:
                # Its events would cost as much as the calls of a hot loop.
                self.monitoring.set_local_events(self.tool, call.facts.code, 0)

    def on_line(self, _code: CodeType, line: int) -> None:
        with suppress(Exception):
            call = self.running(sys._getframe(1)) if self.is_recording else None
            if call is not None and call.lines is not None and len(call.lines) < LINES:
                call.lines.append(line)


def recorder(is_wanted: Callable[[str], bool], values: ValueReader, lines_of: Sequence[Wanted] = ()) -> CallRecorder:
    monitoring: Any = getattr(sys, "monitoring", None)
    for tool in TOOL_IDS if monitoring else ():
        if monitoring.get_tool(tool) is None:
            return CallsByMonitoring(is_wanted, values, lines_of, tool)
    return CallsBySettrace(is_wanted, values, lines_of)
