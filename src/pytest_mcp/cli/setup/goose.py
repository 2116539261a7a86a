"""goose, whose settings are YAML: its entry is printed, to be copied by hand. YAML libraries rewrite the rest too."""

import json

from pytest_mcp.cli.setup.clients import SHORTEST_TIMEOUT
from pytest_mcp.cli.setup.entries import TIMEOUT_MARGIN, project_name
from pytest_mcp.cli.setup.plan import Plan

NAME = "goose"


def sample(plan: Plan) -> str:
    """Only this entry, with a comment that says where it belongs. JSON values are YAML too."""
    name, (program, *arguments) = project_name(plan.root), plan.command
    # It starts servers in the folder of a session, which need not be the project's.
    root = [] if plan.root is None else ["--root", str(plan.root)]
    entry = {
        "type": "stdio",
        "name": name,
        "description": "Runs the project's pytest tests",
        "enabled": True,
        "cmd": program,
        "args": [*arguments, *root, *plan.flags],
        "timeout": max(SHORTEST_TIMEOUT, plan.limit + TIMEOUT_MARGIN),
    }
    lines = [f"    {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    is_windows = plan.machine.platform == "win32"
    file = plan.machine.path(f"editors/{'Block/goose/config' if is_windows else 'goose'}/config.yaml")
    where = f"# In {file}. If it has the key `extensions`, put the entry below that."
    return "\n".join([where, "extensions:", f"  {name}:", *lines])
