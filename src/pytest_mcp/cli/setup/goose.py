"""goose, whose settings are YAML: its entry is printed, to be copied by hand.

In comes a plan; out comes YAML. The file is not edited: YAML libraries rewrite the rest of it, at best with its
comments. Pure.
"""

import json
from typing import Any

from pytest_mcp.cli.setup.client import SHORTEST_TIMEOUT, Machine
from pytest_mcp.cli.setup.entries import TIMEOUT_MARGIN, project_name
from pytest_mcp.cli.setup.plan import Plan

NAME = "goose"
# For those who do not ask for the print.
HOW = "goose has settings in YAML, which setup does not edit; `pytest-mcp setup --print goose` prints the entry to copy"


def sample(plan: Plan) -> str:
    """Only this entry, with a comment that says where it belongs. JSON values are YAML too."""
    name = project_name(plan.root)
    values = "".join(
        f"    {key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in _entry(name, plan).items()
    )
    where = f"# In {_path(plan.machine)}. If it has the key `extensions`, put the entry below that."
    return f"{where}\nextensions:\n  {name}:\n{values}".rstrip()


def _entry(name: str, plan: Plan) -> dict[str, Any]:
    program, *arguments = plan.command
    # It starts servers in the folder of a session, which need not be the project's.
    root = [] if plan.root is None else ["--root", str(plan.root)]
    return {
        "type": "stdio",
        "name": name,
        "description": "Runs the project's pytest tests",
        "enabled": True,
        "cmd": program,
        "args": [*arguments, *root, *plan.flags],
        "timeout": max(SHORTEST_TIMEOUT, plan.limit + TIMEOUT_MARGIN),
    }


def _path(machine: Machine) -> str:
    if machine.platform == "win32":
        return str(machine.applications / "Block" / "goose" / "config" / "config.yaml")
    return str(machine.config / "goose" / "config.yaml")
