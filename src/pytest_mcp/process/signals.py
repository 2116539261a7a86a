"""Undo what a parent process ignored or blocked. Standard library only.

A background shell ignores SIGINT, nohup SIGHUP, a service manager anything, and children inherit that. With it,
Python's KeyboardInterrupt, our time limits and asyncio's handling of child processes would not work.
"""

import signal
from collections.abc import Iterable

# Python itself ignores these, and restores them for the processes that it starts.
_PYTHONS_OWN = frozenset({signal.SIGPIPE, signal.SIGXFSZ})


def restore(numbers: Iterable[int]) -> None:
    """Unblock all signals, and give these their default action if they are ignored."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in set(numbers) - _PYTHONS_OWN:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
