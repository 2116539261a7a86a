"""Where the begin and end of each call is seen, by either of the `tracers`."""

from __future__ import annotations

import opcode
import sys
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, Callable, Sequence

from call_events import CallRecorder, TracedCall, Wanted
from code_facts import CALLS_OF_ONE, CodeFacts
from tracers import ByMonitoring, BySettrace, Callback, free_tool
from value_reading import ValueReader

# The most lines of one call.
LINES = 400
_RETURNS = {opcode.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in opcode.opmap}
_YIELDS = {opcode.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME") if name in opcode.opmap}
_WAITS = [bytes([opcode.opmap["YIELD_FROM"]])] if "YIELD_FROM" in opcode.opmap else []


class CallsBySettrace(BySettrace, CallRecorder):
    def resume(self) -> bool:
        self.function = self.trace_function()
        return super().resume()

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


class CallsByMonitoring(ByMonitoring, CallRecorder):
    def __init__(
        self, is_wanted: Callable[[str], bool], values: ValueReader, lines_of: Sequence[Wanted], tool: int
    ) -> None:
        ByMonitoring.__init__(self, tool)
        CallRecorder.__init__(self, is_wanted, values, lines_of)
        # The events that every recorded function has.
        self.local = self.events.PY_RESUME | self.events.PY_YIELD | self.events.PY_RETURN

    def resume(self) -> bool:
        if self.monitoring.get_tool(self.tool) is None:
            self.register(self.callbacks())
        self.monitoring.set_events(self.tool, self.events.PY_START | self.events.PY_UNWIND | self.events.PY_THROW)
        return super().resume()

    def pause(self) -> bool:
        self.monitoring.set_events(self.tool, 0)
        return super().pause()

    def clear(self, values: ValueReader) -> None:
        super().clear(values)
        # Code whose calls were all recorded told of no more.
        self.monitoring.restart_events()

    def callbacks(self) -> list[Callback]:
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


def recorder(
    is_wanted: Callable[[str], bool], values: ValueReader, lines_of: Sequence[Wanted] = ()
) -> CallsBySettrace | CallsByMonitoring:
    tool = free_tool()
    if tool is None:
        return CallsBySettrace(is_wanted, values, lines_of)
    return CallsByMonitoring(is_wanted, values, lines_of, tool)
