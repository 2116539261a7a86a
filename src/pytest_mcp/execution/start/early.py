"""A child for a command, started before the modules that make its job are loaded. Standard library only.

In come its variables, and then its launch; out comes a supervisor whose child imports pytest, reads nothing of the
project, and waits for its job. `supervisor_client.adopt` makes it a spare of the event loop, which does not exist yet
here. If nobody adopts it, it is ended here.
"""

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias

from pytest_mcp.execution.folder import run_folder
from pytest_mcp.execution.folder.run_folder import Folder, FolderError
from pytest_mcp.execution.messages import encode
from pytest_mcp.execution.start import first_order
from pytest_mcp.execution.start.launch import Launch
from pytest_mcp.execution.stop_timeouts import STOP_SECONDS

Opened: TypeAlias = "subprocess.Popen[bytes]"


class Early:
    """A supervisor, and from `begin` on its child."""

    def __init__(self, folder: Folder, supervisor: Opened) -> None:
        self.folder = folder
        self.supervisor = supervisor
        self.launch: Launch | None = None
        # The state of the Python's environment before its start.
        self.environment: object = None
        self.is_adopted = False

    def begin(self, launch: Launch, environment: object) -> bool:
        """False if the supervisor is gone: the run starts another one, or reports why it cannot."""
        assert self.supervisor.stdin is not None
        self.launch, self.environment = launch, environment
        try:
            self.supervisor.stdin.write(encode(first_order.for_a_job(launch, self.folder.path, time_limit=None)))
            self.supervisor.stdin.flush()
        except OSError:
            return False
        return True

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


def start(variables: Mapping[str, str]) -> Early | None:
    """None if it cannot be started: the run tries again, and reports why."""
    try:
        folder = run_folder.make()
    except FolderError:
        return None
    try:
        return Early(folder, _open(folder, variables))
    except OSError:
        folder.remove()
        return None


def _open(folder: Folder, variables: Mapping[str, str]) -> Opened:
    return subprocess.Popen(
        first_order.supervisor(folder.path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=first_order.variables(variables),
        start_new_session=True,
        # The folder's lock: held as long as the supervisor lives.
        pass_fds=(folder.descriptor,),
    )
