"""How whoever asked for a run ends it early: every process that their call starts is told.

A client's call has none of this, it is cancelled. A command has one, because its report tells what had finished.
"""

from contextvars import ContextVar

import anyio


class Interruption:
    def __init__(self) -> None:
        # The child gets SIGINT and some time to clean up.
        self.asked = anyio.Event()
        # Everything is ended at once, by this signal.
        self.forced = anyio.Event()
        self.by: str | None = None

    def ask(self) -> None:
        self.asked.set()

    def force(self, by: str) -> None:
        self.by = by
        self.asked.set()
        self.forced.set()


# How the running call can be ended. Set by a command, seen by all tasks that the call starts.
of_call: ContextVar[Interruption | None] = ContextVar("interruption", default=None)


def signal_that_stopped() -> str | None:
    """The signal by which the call was ended at once, if it was."""
    current = of_call.get()
    return None if current is None else current.by


def is_asked() -> bool:
    current = of_call.get()
    return current is not None and current.asked.is_set()
