"""Records which functions of chosen files are called: `sys.monitoring` or, before Python 3.12, `sys.settrace`.

In comes a rule for file names; out come the code objects that have run since the last `take`. Nothing
here may raise: an exception of a callback ends up in the code that runs. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from types import CodeType
from typing import Any, Callable, Dict, Iterable

from line_events import TOOL_IDS, TOOL_NAME
from object_graph import identity

# By id, because the hash of a code object is slow. The object is kept, so that its id stays its own.
Codes = Dict[int, CodeType]


class CallRecorder(ABC):
    # Whether it also sees what runs outside of tests.
    sees_all = False

    def __init__(self, is_wanted: Callable[[str], bool]) -> None:
        self.is_wanted = is_wanted
        self.wanted: dict[str, bool] = {}
        self.current: Codes = {}
        self.known: Codes = {}
        # Until `end_imports`: by the file of the module that was being imported, what ran; "" if there was none.
        self.is_importing = True
        self.imported: dict[str, Codes] = {}

    def is_ours(self, code: CodeType) -> bool:
        name = code.co_filename
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

    @abstractmethod
    def rearm(self, codes: Iterable[CodeType]) -> None:
        """See calls of these again."""

    @abstractmethod
    def resume(self) -> bool:
        """False if somebody else's trace function is in the way."""

    @abstractmethod
    def pause(self) -> None:
        """Until it is resumed, calls need not be seen."""

    @abstractmethod
    def remove(self) -> None: ...


class CallTracing(CallRecorder):
    """`sys.settrace` without lines, in this thread and in those that are started while it records."""

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
        sys.settrace(self.function)
        return True

    def pause(self) -> None:
        # If it is another one, as that of coverage, the one for new threads is not ours either.
        if sys.gettrace() is self.function:
            sys.settrace(None)
            threading.settrace(None)

    def remove(self) -> None:
        self.pause()


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

    def pause(self) -> None:
        """Nothing to do: it costs nothing."""

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
    return CallTracing(is_wanted)
