"""Records which functions of chosen files are called, by the cheapest means that this Python has.

That is `sys.monitoring` or, before Python 3.12, the profiler of the standard library; `sys.settrace` where neither can
be used. In comes a rule for file names; out come the code objects that have run since the last `take`. Nothing
here may raise: an exception of a callback ends up in the code that runs. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from types import CodeType
from typing import Any, Callable, Dict, Iterable, Iterator

from line_events import TOOL_IDS, TOOL_NAME
from object_graph import identity

GREENLET = "greenlet"

# By id, because the hash of a code object is slow. The object is kept, so that its id stays its own.
Codes = Dict[int, CodeType]


class CallRecorder(ABC):
    # Whether it also sees what runs outside of tests.
    sees_all = False
    # The audit events of somebody who may take its place.
    replaced_by: frozenset[str] = frozenset()

    def __init__(self, is_wanted: Callable[[str], bool]) -> None:
        self.is_wanted = is_wanted
        self.wanted: dict[str, bool] = {}
        self.current: Codes = {}
        self.known: Codes = {}
        # Until `end_imports`: by the file of the module that was being imported, what ran; "" if there was none.
        self.is_importing = True
        self.imported: dict[str, Codes] = {}
        # It raises the same audit event.
        self.is_switching = False

    def is_ours(self, code: CodeType) -> bool:
        return self.has(code.co_filename)

    def has(self, name: str) -> bool:
        known = self.wanted.get(name)
        if known is None:
            known = self.wanted[name] = self.is_wanted(name)
        return known

    def take(self) -> Codes:
        """What has run since the last time."""
        taken = self.current.copy()
        self.current.clear()
        self.rearm(taken.values())
        return taken

    def seen(self, code: CodeType) -> None:
        self.current[identity(code)] = self.known[identity(code)] = code

    def imports(self, code: CodeType, frame: Any) -> None:
        self.known[identity(code)] = code
        self.imported.setdefault(self.importing_file(frame), {})[identity(code)] = code

    def importing_file(self, frame: Any) -> str:
        while frame is not None:
            code = frame.f_code
            if code.co_name == "<module>" and self.is_ours(code):
                return str(code.co_filename)
            frame = frame.f_back
        return ""

    def end_imports(self) -> None:
        self.is_importing = False

    @contextmanager
    def switching(self) -> Iterator[None]:
        self.is_switching = True
        try:
            yield
        finally:
            self.is_switching = False

    def make_way(self, _event: str, _frame: Any) -> bool:
        """Somebody sets another tracer or profiler. False if this one does not see all calls from now on."""
        return False

    @abstractmethod
    def rearm(self, codes: Iterable[CodeType]) -> None:
        """See calls of these again."""

    @abstractmethod
    def resume(self) -> bool:
        """False if somebody else's trace function is in the way."""

    @abstractmethod
    def pause(self) -> bool:
        """Until it is resumed, calls need not be seen. False if somebody else has taken its place."""

    @abstractmethod
    def remove(self) -> None: ...


class CallTracing(CallRecorder):
    """`sys.settrace` without lines, in this thread and in those that are started while it records."""

    replaced_by = frozenset(["sys.settrace"])

    def __init__(self, is_wanted: Callable[[str], bool]) -> None:
        super().__init__(is_wanted)
        self.skipped: set[str] = set()
        self.function: Any = self.on_import

    def end_imports(self) -> None:
        super().end_imports()
        self.function = self.trace_function()

    def on_import(self, frame: Any, _event: str, _argument: Any) -> None:
        if frame.f_code.co_filename not in self.skipped:
            with suppress(Exception):
                if self.is_ours(frame.f_code):
                    self.imports(frame.f_code, frame)
                else:
                    self.skipped.add(frame.f_code.co_filename)

    def trace_function(self) -> Any:
        """Called for every call of every function, so it looks up as little as possible."""
        current, skipped, on_call = self.current, self.skipped, self.on_call

        def function(frame: Any, _event: str, _argument: Any) -> None:
            code = frame.f_code
            if identity(code) not in current and code.co_filename not in skipped:
                on_call(code)

        return function

    def on_call(self, code: CodeType) -> None:
        # It must never raise into the code that runs.
        with suppress(Exception):
            if self.is_ours(code):
                self.seen(code)
            else:
                self.skipped.add(code.co_filename)

    def rearm(self, _codes: Iterable[CodeType]) -> None:
        """Nothing to do: every call is seen."""

    def resume(self) -> bool:
        if sys.gettrace() not in (None, self.function):
            return False
        threading.settrace(self.function)
        with self.switching():
            sys.settrace(self.function)
        return True

    def pause(self) -> bool:
        # If it is another one, as that of coverage, the one for new threads is not ours either.
        is_ours = sys.gettrace() is self.function
        if is_ours:
            with self.switching():
                sys.settrace(None)
            threading.settrace(None)
        return is_ours

    def remove(self) -> None:
        self.pause()


class CallProfiling(CallTracing):
    """The profiler behind `cProfile`, for this thread and from the first test on; else tracing.

    With a trace function Python looks at every line and makes a dict of the local variables at every call. The profiler
    is written in C and needs neither. It does not tell when a function began to run, so it is no use at import; it
    tells nothing of a function that still runs in another thread; and it takes the calls of greenlets for one stack.
    """

    replaced_by = frozenset(["sys.setprofile", "sys.settrace"])

    def __init__(self, is_wanted: Callable[[str], bool], profiler: Any) -> None:
        super().__init__(is_wanted)
        self.profiler = profiler
        self.is_profiling = False

    def resume(self) -> bool:
        if self.is_importing or sys.getprofile() is not None or GREENLET in sys.modules:
            return super().resume()
        if sys.gettrace() is not None:
            return False
        threading.settrace(self.function)
        self.switch(on=True)
        self.is_profiling = True
        return True

    def pause(self) -> bool:
        if not self.is_profiling:
            if sys.getprofile() is self.profiler:
                self.switch(on=False)  # who had taken its place has set it again
            return super().pause()
        self.is_profiling = False
        is_ours = sys.getprofile() is self.profiler and GREENLET not in sys.modules
        if sys.getprofile() is self.profiler:
            self.switch(on=False)
        if getattr(threading, "_trace_hook", self.function) is not self.function:
            return False
        threading.settrace(None)
        return is_ours

    def make_way(self, event: str, frame: Any) -> bool:
        """For another profiler: counts the functions that run now, and traces from here on."""
        if not self.is_profiling:
            return event != "sys.settrace"
        if event == "sys.settrace":
            return True
        if sys.gettrace() is not None:
            return False
        self.is_profiling = False
        while frame is not None:
            self.on_call(frame.f_code)
            frame = frame.f_back
        with self.switching():
            sys.settrace(self.function)
        return True

    def take(self) -> Codes:
        # It does not count functions that still run, until it is switched off.
        is_on = sys.getprofile() is self.profiler
        if self.is_profiling and not is_on:
            # In another thread: what it has counted is taken by the next one in its own.
            return super().take()
        if is_on:
            self.switch(on=False)
        self.add_called()
        if is_on:
            self.switch(on=True)
        return super().take()

    def add_called(self) -> None:
        current, skipped = self.current, self.skipped
        for entry in self.profiler.getstats():
            code = entry[0]
            if identity(code) not in current and code.co_filename not in skipped:
                self.on_call(code)
        self.profiler.clear()

    def switch(self, *, on: bool) -> None:
        with self.switching():
            self.profiler.enable(False, False) if on else self.profiler.disable()


class CallMonitoring(CallRecorder):
    """`sys.monitoring`: a call costs something only when it is the first of a function in a test.

    Two tools: one finds functions and never looks at the same one again. The other has events of its own in each
    function of the project, which alone are set again for the next test: `restart_events` would set those of all code.
    """

    sees_all = True

    def __init__(self, is_wanted: Callable[[str], bool]) -> None:
        super().__init__(is_wanted)
        self.monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        events = self.monitoring.events
        self.disable = self.monitoring.DISABLE
        self.start = events.PY_START
        self.own = events.PY_START | events.PY_RESUME
        self.resumed = events.PY_RESUME
        self.finder, self.tool = TOOL_IDS

    def install(self) -> bool:
        if any(self.monitoring.get_tool(tool) is not None for tool in TOOL_IDS):
            return False
        for tool in TOOL_IDS:
            self.monitoring.use_tool_id(tool, TOOL_NAME)
        for event in (self.start, self.resumed):
            self.monitoring.register_callback(self.tool, event, self.on_call)
        self.monitoring.register_callback(self.finder, self.start, self.on_new)
        self.monitoring.set_events(self.finder, self.start)
        return True

    def remove(self) -> None:
        self.monitoring.set_events(self.finder, 0)
        for code in self.known.values():
            self.monitoring.set_local_events(self.tool, code, 0)
        for tool in TOOL_IDS:
            self.monitoring.free_tool_id(tool)

    def resume(self) -> bool:
        return True

    def pause(self) -> bool:
        """Nothing to do: it costs nothing."""
        return True

    def rearm(self, codes: Iterable[CodeType]) -> None:
        for code in codes:
            self.monitoring.set_local_events(self.tool, code, 0)
            self.monitoring.set_local_events(self.tool, code, self.own)

    def on_new(self, code: CodeType, _offset: int) -> Any:
        with suppress(Exception):
            if self.is_ours(code) and identity(code) not in self.known:
                self.monitoring.set_local_events(self.tool, code, self.own)
                self.imports(code, sys._getframe(1)) if self.is_importing else self.seen(code)
        return self.disable

    def on_call(self, code: CodeType, _offset: int) -> Any:
        if self.is_importing:
            with suppress(Exception):
                self.imports(code, sys._getframe(1))
            return None
        self.seen(code)
        return self.disable


def recorder(is_wanted: Callable[[str], bool]) -> CallRecorder:
    """The fastest that this Python has and that nobody else uses."""
    if hasattr(sys, "monitoring"):
        fast = CallMonitoring(is_wanted)
        if fast.install():
            return fast
    elif sys.implementation.name == "cpython":
        with suppress(ImportError):
            return CallProfiling(is_wanted, profiler())
    return CallTracing(is_wanted)


def profiler() -> Any:
    # Few runs need it, and some builds of Python do not have it.
    from _lsprof import Profiler

    class Quiet(Profiler):
        def __call__(self, *_event: Any) -> None:
            """For a test that sets again what `sys.getprofile` has told it, which must be callable."""

    return Quiet()
