"""How a supervisor is started, and the order that it starts a child by. Standard library only.

In come a launch and the run's folder; out come the supervisor's arguments and variables, and its first order. Who
starts it is decided in `supervisor_client`, for a command that loads its modules meanwhile in `early`.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from pytest_mcp.execution import linux
from pytest_mcp.execution.messages import Start
from pytest_mcp.execution.start.launch import Launch

# How much of each output stream is kept from its beginning, and as much from its end.
KEPT_OUTPUT = 256 * 1024
# A run whose report exceeds this is ended, before it fills the disk.
REPORT_LIMIT = 512 * 1024 * 1024
_SUPERVISOR = Path(__file__).parents[1] / "supervisor.py"


def supervisor(folder: Path) -> list[str]:
    return [sys.executable, "-I", "-S", str(_SUPERVISOR), str(folder)]


def variables(of_child: Mapping[str, str]) -> dict[str, str]:
    """The supervisor's are the child's, not the server's: a test can read the environment of its parent."""
    return {**of_child, **linux.HANDED_ON}


def for_a_job(launch: Launch, folder: Path, *, time_limit: float | None) -> Start:
    """The child's last argument is the folder that its job is in."""
    return of(launch, [*launch.argv, str(folder)], time_limit, KEPT_OUTPUT)


def of(launch: Launch, argv: list[str], time_limit: float | None, kept_output: int) -> Start:
    return {
        "kind": "start",
        "argv": argv,
        "cwd": str(launch.cwd),
        "env": dict(launch.env),
        "time_limit": time_limit,
        "kept_output": kept_output,
        "report_limit": REPORT_LIMIT,
        "max_memory": launch.max_memory,
        "redirected": False,
    }
