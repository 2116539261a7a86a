"""What `pytest-mcp setup` is to do, for tests that need no command line."""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_mcp.cli.setup.plan import Machine, Plan
from pytest_mcp.config.model import DEFAULT_TIMEOUT

MACHINE = Machine("linux", PurePosixPath("/home/you"), {})
_PLAN = Plan(
    machine=MACHINE,
    root=None,
    user=False,
    remove=False,
    portable=False,
    confirmed="yes",
    command=["/home/you/.local/bin/pytest-mcp"],
    flags=(),
    limit=DEFAULT_TIMEOUT,
)


def plan(root: Path | None = None, **changes: Any) -> Plan:
    return replace(_PLAN, root=root, **changes)
