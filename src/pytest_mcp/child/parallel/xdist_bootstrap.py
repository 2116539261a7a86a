"""Runs in each of xdist's workers before xdist's own code: makes our plugin importable there, once and by one name.

In come the plugin's name and the path of the launcher; out comes a channel that answers every message with the stack
of the main thread. Only this file's source is sent to the worker, so it imports nothing of ours.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any


class PluginImport:
    """Finds and loads the plugin, which the launcher imports as it imports all modules of ours."""

    def __init__(self, name: str, launcher: str) -> None:
        self.name = name
        self.launcher = launcher

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        loader: Any = self
        return ModuleSpec(name, loader)

    def create_module(self, _: object) -> Any:
        spec = spec_from_file_location("launcher", self.launcher)
        assert spec is not None
        assert spec.loader is not None
        launcher = module_from_spec(spec)
        spec.loader.exec_module(launcher)
        return launcher.ours("xdist_worker")

    def exec_module(self, _: object) -> None:
        """`ours` has executed it."""


def current_test() -> str | None:
    """The test that pytest is running: it keeps the id and the phase in this variable."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] or None


def stack_of(thread: int | None) -> list[list[Any]]:
    """Module, file, line and function of each frame, the innermost first."""
    frame, frames = sys._current_frames().get(thread or 0), []
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        frames.append([module, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    return frames


def install(channel: Any) -> None:
    sys.meta_path.append(PluginImport(*channel.receive()))
    stacks = channel.gateway.newchannel()
    thread = threading.main_thread().ident
    # Called in execnet's own thread, so it answers while a test hangs.
    stacks.setcallback(lambda _: stacks.send([current_test(), stack_of(thread)]))
    channel.send(stacks)


if __name__ == "__channelexec__":
    install(globals()["channel"])
