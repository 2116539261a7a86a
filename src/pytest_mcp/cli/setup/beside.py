"""What `setup` writes beside the entries: approvals, hooks, the paragraph for agents; shown, confirmed and written.

In come clients and a plan; out comes what happened. The changes are made in `extras` and `instructions`.
"""

from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path

from pytest_mcp.cli.output import print_message, show
from pytest_mcp.cli.setup import confirmation, extras, instructions, server_entry
from pytest_mcp.cli.setup.client import Client
from pytest_mcp.cli.setup.confirmation import Outcome
from pytest_mcp.cli.setup.editing.config_file import ConfigFileError
from pytest_mcp.cli.setup.extras import Extra
from pytest_mcp.cli.setup.known_clients import CLIENTS
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.text import safe


def write_extras(client: Client, plan: Plan) -> list[Outcome]:
    """Raises ConfigFileError."""
    return [_write(extra, plan) for extra in (extras.to_remove if plan.remove else extras.to_add)(client, plan)]


def _write(extra: Extra, plan: Plan) -> Outcome:
    is_wanted = plan.remove or extra.name in plan.extras
    if not extra.change.is_needed or not (is_wanted or confirmation.may_offer(plan)):
        return "in place"
    show(safe(f"\n{extra.title}: {extra.change.path}\n") + extra.difference)
    return confirmation.write_beside(extra.change, plan, offered=not is_wanted)


def instruct(outcomes: Mapping[Client, Outcome], plan: Plan) -> list[Outcome]:
    """Add the paragraph for agents to the files that these clients read, or remove it."""
    readers = [client for client, outcome in outcomes.items() if outcome in ("in place", "written")]
    names = dict.fromkeys(client.instructions for client in readers if client.instructions)
    if plan.root is None or not (plan.remove or "instructions" in plan.extras or confirmation.may_offer(plan)):
        return []
    return [outcome for name in names if (outcome := _instruct_in(name, outcomes, plan))]


def _instruct_in(name: str, clients: Container[Client], plan: Plan) -> Outcome | None:
    assert plan.root is not None
    try:
        path = plan.checked(instructions.file(plan.root, name))
        if plan.remove and _is_read_by_others(path, clients, plan):
            return None
        change = instructions.removed(path) if plan.remove else instructions.added(path)
        if not change.is_needed:
            return None
        show(safe(f"\nInstructions for agents: {path}\n") + instructions.difference(change))
        return confirmation.write_beside(change, plan, offered=not plan.remove and "instructions" not in plan.extras)
    except ConfigFileError as error:
        print_message(safe(str(error)))
        return "failed"


def _is_read_by_others(path: Path, clients: Container[Client], plan: Plan) -> bool:
    """Whether another client, which still has an entry, reads this file too."""
    assert plan.root is not None
    others = [client for client in CLIENTS if client not in clients and client.instructions]
    readers = [client for client in others if instructions.file(plan.root, client.instructions or "") == path]
    return any(server_entry.has_entry(client, replace(plan, user=user)) for client in readers for user in (False, True))
