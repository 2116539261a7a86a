"""Writing a change that was shown, if it is confirmed.

In come a change and a plan; out comes what happened. Asking is the part of `cli/output.py`, what a change contains that
of `editing/config_file.py`.
"""

from typing import Literal

from pytest_mcp.cli.output import ask, show
from pytest_mcp.cli.setup.editing import config_file, deletion
from pytest_mcp.cli.setup.editing.config_file import Change
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.text import safe

# The result for one client. `unconfirmed`: there is no terminal to ask for confirmation.
Outcome = Literal["in place", "written", "unconfirmed", "failed"]


def write(change: Change, plan: Plan, *, offered: bool = False) -> Outcome:
    """Write a change that was shown, if it is confirmed. To decline what was only offered is no failure."""
    if plan.confirmed in ("no", "cannot ask"):
        return "in place" if plan.confirmed == "no" else "unconfirmed"
    if plan.confirmed == "ask" and not ask("Write this?", default=not offered):
        show("Not written.")
        return "in place" if offered else "failed"
    config_file.write(change)
    return "written"


def write_beside(change: Change, plan: Plan, *, offered: bool) -> Outcome:
    """The same for what is written beside an entry."""
    outcome = write(change, plan, offered=offered)
    if outcome == "written":
        show(removed(change, plan) if plan.remove else "Written.")
    return outcome


def removed(change: Change, plan: Plan) -> str:
    """Delete the folders that this removal has emptied, and say what was deleted."""
    if change.after is not None:
        return "Removed."
    folder = deletion.delete_empty_folders(change.path.parent, plan.bounds)
    also = f" So was {folder}, which was empty then." if folder else ""
    return safe(f"Removed. Nothing else was in the file, so it was deleted.{also}")


def may_offer(plan: Plan) -> bool:
    return plan.confirmed == "ask" and not plan.user
