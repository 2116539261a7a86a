"""A person, or whoever started us, wants an end: the first signal is heard, the next one ends the process at once.

Whatever a run has started ends with this process, whichever way it goes: its supervisor sees to that.
"""

import signal

import anyio

ENDING = (signal.SIGINT, signal.SIGTERM)


async def first_signal() -> signal.Signals:
    try:
        with anyio.open_signal_receiver(*ENDING) as signals:
            async for number in signals:
                return number
    finally:
        # Also when nobody waits any more: Python's own way would be a traceback.
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)
    raise AssertionError("signals do not end")
