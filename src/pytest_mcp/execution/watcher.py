"""The first of a supervisor's two processes: it waits for the second, and ends what that one leaves.

In come the pid of the second process (the worker) and the run's folder; out comes an exit code. How a run's folder is
removed is decided here too, for all processes that do it. Standard library only; watching is for Linux.
"""

import os
import shutil
import signal
import time
from contextlib import suppress
from types import FrameType

from pytest_mcp.execution import linux, process_tree
from pytest_mcp.execution.stop_timeouts import SWEEP_SECONDS

# Between two rounds of killing.
PAUSE_SECONDS = 0.005
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


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
    remove_folder(folder)
    return 1


def remove_folder(folder: str) -> None:
    """Whatever a test has made of it: folders that are too deep for `rmtree`, or that their owner may not read."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        # Not if a link has replaced it.
        top = os.open(folder, _FOLDER)
        try:
            _flatten(top)
        finally:
            os.close(top)
        shutil.rmtree(folder, ignore_errors=True)


def _flatten(top: int) -> None:
    """Move every folder below it to its first level."""
    names = ["."]
    while names:
        with suppress(OSError):
            names += _lift(top, names.pop())


def _lift(top: int, name: str) -> list[str]:
    inside = os.open(name, _FOLDER, dir_fd=top)
    lifted = []
    try:
        with os.scandir(inside) as entries:
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for each in folders:
            with suppress(OSError):
                os.chmod(each, 0o700, dir_fd=inside)
                new = os.urandom(8).hex()
                os.rename(each, new, src_dir_fd=inside, dst_dir_fd=top)
                lifted.append(new)
    finally:
        os.close(inside)
    return lifted


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
