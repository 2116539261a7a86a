"""A child for a command, started before the modules that make its job are loaded. Standard library only.

In comes a launch; out comes a supervisor whose child imports pytest, reads nothing of the project, and waits for its
job. `supervision.adopt` makes it a spare of the event loop, which does not exist yet here. If nobody adopts it, it is
ended here.
"""

import subprocess
from contextlib import suppress
from typing import TypeAlias

from pytest_mcp.execution import run_folder
from pytest_mcp.execution.messages import encode
from pytest_mcp.execution.run_folder import Folder, FolderError
from pytest_mcp.execution.start import first_order
from pytest_mcp.execution.start.launch import Launch
from pytest_mcp.execution.time_budget import STOP_SECONDS

Opened: TypeAlias = "subprocess.Popen[bytes]"


class Early:
    """`environment` is the state of the Python's environment before the start."""

    def __init__(self, launch: Launch, environment: object) -> None:
        """Raises OSError or FolderError."""
        self.launch = launch
        self.environment = environment
        self.is_adopted = False
        self.folder = run_folder.make()
        try:
            self.supervisor = _open(self.folder, launch)
        except BaseException:
            self.folder.remove()
            raise
        try:
            self._order()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End it and every process below it, unless it was adopted."""
        if self.is_adopted:
            return
        assert self.supervisor.stdin is not None
        with suppress(OSError):
            self.supervisor.stdin.close()
        try:
            self.supervisor.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.supervisor.kill()
            self.supervisor.wait()
        self.folder.remove()

    def _order(self) -> None:
        assert self.supervisor.stdin is not None
        self.supervisor.stdin.write(encode(first_order.for_a_job(self.launch, self.folder.path, time_limit=None)))
        self.supervisor.stdin.flush()


def start(launch: Launch, environment: object) -> Early | None:
    """None if it cannot be started: the run tries again, and reports why."""
    try:
        return Early(launch, environment)
    except (OSError, FolderError):
        return None


def _open(folder: Folder, launch: Launch) -> Opened:
    return subprocess.Popen(
        first_order.supervisor(folder.path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=first_order.environment(launch),
        start_new_session=True,
        # The folder's lock: held as long as the supervisor lives.
        pass_fds=(folder.descriptor,),
    )
