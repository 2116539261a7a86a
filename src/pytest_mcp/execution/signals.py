"""Signals that whoever started us had ignored or blocked. Standard library only.

A background shell ignores SIGINT, nohup SIGHUP, a service manager anything; both states pass from process to
process. Python's KeyboardInterrupt, our own time limits and asyncio's view of children would not work with them.
"""

import signal
from collections.abc import Iterable

# Ignored by every Python itself; it restores them for the processes that it starts.
_PYTHONS_OWN = frozenset({signal.SIGPIPE, signal.SIGXFSZ})


def restore(numbers: Iterable[int]) -> None:
    """Nothing is blocked any more, and none of these is ignored."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in set(numbers) - _PYTHONS_OWN:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
