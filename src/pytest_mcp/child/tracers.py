"""The two ways to be told what runs: `sys.monitoring`, or `sys.settrace` before Python 3.12.

What is recorded is decided in `line_events` and `call_tracers`. Nothing there may raise: an exception of a trace
function ends up in the traced code.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Sequence, Tuple

# Ids that no tool of the standard library has; 0, 1 and 2 are for debuggers, coverage and profilers.
TOOL_IDS = (4, 3)
TOOL_NAME = "pytest-mcp"

# An event of `sys.monitoring` and what is called for it.
Callback = Tuple[int, Callable[..., Any]]


class BySettrace:
    """In this thread and in those that are started while it records."""

    is_recording = False
    function: Any

    def resume(self) -> bool:
        """False if another trace function is in the way."""
        if sys.gettrace() is not None:
            return False
        self.is_recording = True
        threading.settrace(self.function)
        sys.settrace(self.function)
        return True

    def pause(self) -> bool:
        """False if another trace function has replaced ours meanwhile."""
        self.is_recording = False
        is_ours = sys.gettrace() is self.function
        if is_ours:
            sys.settrace(None)
        # Only since Python 3.10 can one ask for it.
        if getattr(threading, "gettrace", lambda: self.function)() is self.function:
            threading.settrace(None)
        return is_ours


class ByMonitoring:
    """Code that is not recorded costs one event in all."""

    is_recording = False

    def __init__(self, tool: int) -> None:
        self.monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self.tool = tool
        self.events = self.monitoring.events
        self.disable = self.monitoring.DISABLE

    def register(self, callbacks: Sequence[Callback]) -> None:
        self.monitoring.use_tool_id(self.tool, TOOL_NAME)
        for event, function in callbacks:
            self.monitoring.register_callback(self.tool, event, function)

    def resume(self) -> bool:
        self.is_recording = True
        return True

    def pause(self) -> bool:
        self.is_recording = False
        return True


def free_tool() -> int | None:
    """None before Python 3.12, or if other tools have all ids."""
    monitoring: Any = getattr(sys, "monitoring", None)
    return next((tool for tool in TOOL_IDS if monitoring and monitoring.get_tool(tool) is None), None)
