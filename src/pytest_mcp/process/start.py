"""Start one supervisor, and stop it: one way for the server, for a command and for the spare.

Standard library only: `run` and `call` start a child before they load the event loop. What passes between a supervisor
and the event loop is in `process`.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pytest_mcp.process import process_tree, run_folder
from pytest_mcp.process.job import Launch, SpawnError
from pytest_mcp.process.run_folder import Folder
from pytest_mcp.process.supervisor_protocol import STOP_SECONDS, Start, encode

# How much of each output stream is kept from its beginning, and as much from its end.
KEPT_OUTPUT = 256 * 1024
# A run whose report exceeds this is ended, before it fills the disk.
REPORT_LIMIT = 512 * 1024 * 1024
# A supervisor that is told to stop and does not exit within this time may have been stopped itself: it is continued.
PROMPT_SECONDS = 0.2
_SUPERVISOR = Path(__file__).with_name("supervisor.py")

# The pids of this process' supervisors: whatever else is below it was left behind by one that was killed.
running: set[int] = set()


@dataclass(frozen=True)
class Supervision:
    """A supervisor and the folder of its run. Whoever has it must end it."""

    supervisor: "subprocess.Popen[bytes]"
    folder: Folder
    # Waits for its end, so that it is never a zombie. A `wait` with a timeout would only look every few milliseconds.
    ended: threading.Thread

    @property
    def stdin(self) -> IO[bytes]:
        assert self.supervisor.stdin is not None
        return self.supervisor.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self.supervisor.stdout is not None
        return self.supervisor.stdout

    @property
    def is_alive(self) -> bool:
        return self.ended.is_alive()

    def proceed(self) -> None:
        """Continue it if something has stopped it."""
        self.supervisor.send_signal(signal.SIGCONT)

    def tell_to_stop(self) -> None:
        with suppress(OSError):
            self.stdin.close()

    def stop(self) -> None:
        """End it and every process of its run. This waits: the event loop does it in a thread."""
        self.tell_to_stop()
        for patience in (PROMPT_SECONDS, STOP_SECONDS):
            self.ended.join(patience)
            self.proceed()
        self.supervisor.kill()
        self.ended.join()
        self.stdout.close()
        running.discard(self.supervisor.pid)

    def end_unless_ended(self) -> None:
        """For a command, when its event loop is gone or never came."""
        if self.supervisor.pid in running:
            self.stop()
            self.folder.remove()


@dataclass(frozen=True)
class Waiting(Supervision):
    """A supervisor with a child that waits for its job. Calls with an equal launch and environment can use it."""

    launch: Launch
    # The state of the Python's environment before the start.
    environment: object


def supervisor(variables: Mapping[str, str]) -> Supervision:
    """A supervisor without a child. Its variables are the child's: a test can read the environment of its parent."""
    folder = run_folder.make()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SUPERVISOR), str(folder.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**variables, **process_tree.HANDED_ON},
            start_new_session=True,
            # The folder's lock: held as long as the supervisor lives.
            pass_fds=(folder.descriptor,),
        )
        ended = _waited_for(process)
    except (OSError, RuntimeError) as error:
        folder.remove()
        raise SpawnError(getattr(error, "strerror", None) or str(error)) from error
    running.add(process.pid)
    return Supervision(process, folder, ended)


def _waited_for(process: "subprocess.Popen[bytes]") -> threading.Thread:
    """Raises RuntimeError if there is no room for a thread; then the process has ended."""
    ended = threading.Thread(target=process.wait, name="end of a supervisor", daemon=True)
    try:
        ended.start()
    except RuntimeError:
        with process:
            process.kill()
        raise
    return ended


def ahead(started: Supervision, launch: Launch, environment: object) -> Waiting:
    """Have it start a child that waits, before there is an event loop."""
    # If the supervisor is gone already, nobody uses it.
    with suppress(OSError):
        started.stdin.write(encode(order_for_a_job(started, launch, time_limit=None)))
        started.stdin.flush()
    return Waiting(started.supervisor, started.folder, started.ended, launch, environment)


def order_for_a_job(started: Supervision, launch: Launch, *, time_limit: float | None) -> Start:
    """The child's last argument is the folder that its job is in. Without a time limit it waits for the job."""
    return order(launch, time_limit, KEPT_OUTPUT, str(started.folder.path))


def order(launch: Launch, time_limit: float | None, kept_output: int, *arguments: str) -> Start:
    return {
        "kind": "start",
        "argv": [*launch.argv, *arguments],
        "cwd": str(launch.cwd),
        "env": dict(launch.env),
        "time_limit": time_limit,
        "kept_output": kept_output,
        "report_limit": REPORT_LIMIT,
        "max_memory": launch.max_memory,
        "redirected": False,
    }
