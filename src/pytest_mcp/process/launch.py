"""Which program a child is, before anything is known of its job: its arguments, folder and variables.

Standard library only.
"""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_mcp.config.model import PREFIX, Config

# The script that the project's Python runs.
LAUNCHER = Path(__file__).parents[1] / "child" / "launcher.py"

# Variables that would change what pytest does or prints, or that belong to the server.
_WITHHELD = frozenset(
    {
        "PYTEST_ADDOPTS",
        "PYTEST_PLUGINS",
        "PYTEST_DEBUG",
        "PYTEST_CURRENT_TEST",
        "PYTEST_VERSION",
        "PYTEST_XDIST_WORKER",
        "PYTEST_XDIST_WORKER_COUNT",
        "PYTEST_XDIST_TESTRUNUID",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "PYTHONINSPECT",
        "PYTHONVERBOSE",
        "PYTHONOPTIMIZE",
        "PYTHONBREAKPOINT",
        "PY_COLORS",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "__PYVENV_LAUNCHER__",
    }
)

# The program itself is at fault, not the machine.
_UNUSABLE = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR, errno.EPERM})


class SpawnError(Exception):
    """It could not be started. `unusable` means that the program is the cause, not the machine."""

    def __init__(self, why: str, number: int | None = None) -> None:
        super().__init__(why)
        self.unusable = number in _UNUSABLE


@dataclass(frozen=True)
class Launch:
    """What is known of a child before its job: calls with an equal launch can use the same spare."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    # In bytes, for each process; None: no limit.
    max_memory: int | None = None


def of_child(python: Path, config: Config, *, own_prefix: Path) -> Launch:
    """`own_prefix` is the server's environment: that it is active says nothing about the project."""
    env = _activated(python, variables(config, own_prefix=own_prefix))
    return Launch((str(python), str(LAUNCHER)), config.root, env, config.max_memory)


def variables(config: Config, *, own_prefix: Path) -> dict[str, str]:
    inherited = config.environment
    env = {name: value for name, value in inherited.items() if name not in _WITHHELD and not name.startswith(PREFIX)}
    if env.get("VIRTUAL_ENV") == str(own_prefix):
        del env["VIRTUAL_ENV"]
    return env


def _activated(python: Path, env: dict[str, str]) -> dict[str, str]:
    """As in a shell in which the environment of this Python is active: tests start its programs by their names."""
    folder, prefix = python.parent, python.parent.parent
    is_virtual = (prefix / "pyvenv.cfg").exists()
    if not (is_virtual or (prefix / "conda-meta").exists()):
        return env
    search = [str(folder), *filter(None, [env.get("PATH", os.defpath)])]
    return env | {"PATH": os.pathsep.join(search)} | ({"VIRTUAL_ENV": str(prefix)} if is_virtual else {})
