"""Records which lines of chosen files run. Which tests are recorded is decided in `line_tracing`."""

from __future__ import annotations

import dis
from collections import deque
from functools import lru_cache
from types import CodeType
from typing import Any, Callable, Dict, Iterable, NamedTuple, Set, Union

from tracers import ByMonitoring, BySettrace, free_tool

# How many of the last calls are kept.
KEPT_CALLS = 2_000


class RanCode(NamedTuple):
    """A code object and the lines of it that have run. Keyed by id, because the hash of a code object is slow."""

    code: CodeType
    lines: set[int]


Lines = Dict[int, RanCode]
Only = Callable[[str], Set[int]]


class LineRecorder:
    """Common to both ways. `quiet` is code under which nothing is recorded.

    `only` has the lines of a file that matter, if not all do: recording few is faster, and some others may come too.
    """

    def __init__(self, is_wanted: Callable[[str], bool], quiet: Iterable[CodeType], only: Only | None = None) -> None:
        self.is_wanted = lru_cache(maxsize=None)(is_wanted)
        self.only = only
        self.quiet = {id(code): code for code in quiet}
        # How many calls of quiet code are running, and whether nothing more of this test is recorded.
        self.depth = 0
        self.is_over = False
        self.lines: Lines = {}
        # The last calls in their order, while they are wanted: it takes more time.
        self.calls: deque[CodeType] | None = None

    def take(self) -> Lines:
        """What was recorded since the last time. These lines are recorded again when they run again."""
        taken, self.lines, self.depth, self.is_over = self.lines, {}, 0, False
        self.rearm(entry.code for entry in taken.values())
        return taken

    def keep_calls(self, wanted: bool) -> None:
        self.calls = deque(maxlen=KEPT_CALLS) if wanted else None

    def rearm(self, codes: Iterable[CodeType]) -> None:
        """Record the lines of these again when they run again."""
        raise NotImplementedError


class TraceFunction(BySettrace, LineRecorder):
    def __init__(self, is_wanted: Callable[[str], bool], quiet: Iterable[CodeType], only: Only | None = None) -> None:
        LineRecorder.__init__(self, is_wanted, quiet, only)
        # Files with nothing to trace. Most calls are of their code.
        self.skipped: set[str] = set()
        self.quiet_files = {code.co_filename for code in self.quiet.values()}
        # The lines of a code object that have run, how many it has, and its local trace function.
        self.local: dict[int, tuple[set[int], int, Any]] = {}
        # The object is kept, so that its id stays its own.
        self.sizes: dict[int, tuple[CodeType, int, set[int]]] = {}
        self.function = self.trace_function()

    def rearm(self, _codes: Iterable[CodeType]) -> None:
        self.local.clear()

    def trace_function(self) -> Any:
        """Called for every call of every function, so it looks up as little as possible."""
        skipped, on_call = self.skipped, self.on_call

        def function(frame: Any, _event: str, _argument: Any) -> Any:
            code = frame.f_code
            return None if code.co_filename in skipped else on_call(frame, code)

        return function

    def on_call(self, frame: Any, code: CodeType) -> Any:
        if id(code) in self.quiet:
            self.depth += 1
            frame.f_trace_lines = False
            return self.on_quiet
        if not self.is_wanted(code.co_filename):
            if code.co_filename not in self.quiet_files:
                self.skipped.add(code.co_filename)
            return None
        if self.depth or self.is_over:
            return None
        if self.calls is not None:
            self.calls.append(code)
        known = self.local.get(id(code))
        if known is None:
            return self.first_call(code)
        seen, size, local = known
        # Nothing new can come of it.
        return None if len(seen) >= size else local

    def on_quiet(self, _frame: Any, event: str, _argument: Any) -> Any:
        if event == "return":
            self.depth = max(0, self.depth - 1)
        return self.on_quiet

    def first_call(self, code: CodeType) -> Any:
        if id(code) not in self.sizes:
            lines = {line for _, line in dis.findlinestarts(code)}
            wanted = lines if self.only is None else lines & self.only(code.co_filename)
            # From Python 3.11 on, instructions that prepare a call have the line of the `def`.
            self.sizes[id(code)] = (code, len(wanted - {code.co_firstlineno}), wanted)
        wanted = self.sizes[id(code)][2]
        if not wanted:
            self.local[id(code)] = (wanted, 0, None)
            return None
        entry = self.lines.setdefault(id(code), RanCode(code, set()))
        add = entry.lines.add

        def local(frame: Any, event: str, _argument: Any) -> Any:
            if event == "line" and frame.f_lineno in wanted:
                add(frame.f_lineno)
            return local

        self.local[id(code)] = (entry.lines, self.sizes[id(code)][1], local)
        return local


class Monitoring(ByMonitoring, LineRecorder):
    """A line costs something only when it runs for the first time in a test."""

    def __init__(self, is_wanted: Callable[[str], bool], quiet: Iterable[CodeType], tool: int) -> None:
        LineRecorder.__init__(self, is_wanted, quiet)
        ByMonitoring.__init__(self, tool)
        # Whether all of a function is in the line of its `def`.
        self.one_liners: dict[int, tuple[CodeType, bool]] = {}
        events = self.events
        self.register(
            [(events.PY_START, self.on_start), (events.PY_RETURN, self.on_return), (events.LINE, self.on_line)]
        )
        for code in self.quiet.values():
            self.monitoring.set_local_events(tool, code, self.events.PY_START | self.events.PY_RETURN)
        self.monitoring.set_events(tool, self.events.PY_START)

    def rearm(self, codes: Iterable[CodeType]) -> None:
        """`restart_events` would do this for all code of the process, and for all tools."""
        for code in codes:
            self.monitoring.set_local_events(self.tool, code, 0)
            self.monitoring.set_local_events(self.tool, code, self.events.LINE)

    def keep_calls(self, wanted: bool) -> None:
        super().keep_calls(wanted)
        if wanted:
            # Functions that were called before have no event any more.
            self.monitoring.restart_events()

    def on_start(self, code: CodeType, _offset: int) -> Any:
        if id(code) in self.quiet:
            self.depth += self.is_recording
            return None
        if not self.is_wanted(code.co_filename):
            return self.disable
        known = self.one_liners.get(id(code))
        if known is None:
            lines = {line for _, line in dis.findlinestarts(code)}
            known = self.one_liners[id(code)] = (code, lines == {code.co_firstlineno})
            self.monitoring.set_local_events(self.tool, code, self.events.LINE)
        if not self.is_recording or self.depth or self.is_over:
            return None
        if self.calls is not None:
            self.calls.append(code)
        # Python 3.13 has no second event for this line, however often it is rearmed.
        if known[1]:
            self.add(code, code.co_firstlineno)
        return None if known[1] or self.calls is not None else self.disable

    def on_return(self, _code: CodeType, _offset: int, _value: Any) -> None:
        self.depth = max(0, self.depth - 1)

    def on_line(self, code: CodeType, line: int) -> Any:
        if self.depth or self.is_over or not self.is_recording:
            return None
        self.add(code, line)
        return self.disable

    def add(self, code: CodeType, line: int) -> None:
        self.lines.setdefault(id(code), RanCode(code, set())).lines.add(line)


Recorder = Union[Monitoring, TraceFunction]


def recorder(is_wanted: Callable[[str], bool], quiet: Iterable[CodeType], only: Only | None = None) -> Recorder:
    tool = free_tool()
    return TraceFunction(is_wanted, quiet, only) if tool is None else Monitoring(is_wanted, quiet, tool)


def function_name(code: CodeType) -> str:
    """The function that it belongs to, as `f` for `f.<locals>.<listcomp>`. Qualified from Python 3.11 on."""
    parts = getattr(code, "co_qualname", code.co_name).split(".")
    while parts and parts[-1].startswith("<"):
        parts.pop()
    return ".".join(parts) or "<module>"
