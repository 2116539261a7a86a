"""The first of a supervisor's two processes: it waits for the second, and ends what that one leaves.

In come the pid of the second process (the worker) and the run's folder; out comes an exit code. Standard library only,
for Linux.
"""

import os
import signal
import time
from types import FrameType

from pytest_mcp.process import linux, process_tree, removal
from pytest_mcp.process.stop_timeouts import SWEEP_SECONDS

# Between two rounds of killing.
PAUSE_SECONDS = 0.005


def over(worker: int, folder: str) -> int:
    """Wait for the worker; the exit code is 1 if it did not end by itself."""

    def wake(_number: int, _frame: FrameType | None) -> None:
        os.kill(worker, signal.SIGCONT)

    linux.ask_for_a_signal_at_the_parents_end(signal.SIGCONT)
    signal.signal(signal.SIGCONT, wake)
    # So that the server's pipe ends with the worker.
    os.close(1)
    # First only wait, so that its pid stays valid for the handler; reap it after that.
    linux.wait_without_reaping(worker)
    signal.signal(signal.SIGCONT, signal.SIG_DFL)
    if os.waitpid(worker, 0)[1] == 0:
        return 0
    _end_everything_since(worker)
    removal.remove(folder)
    return 1


def _end_everything_since(worker: int) -> None:
    tree = linux.Adopted(worker)
    end = time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < end:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        process_tree.end_all(tree.alive())
        time.sleep(PAUSE_SECONDS)
