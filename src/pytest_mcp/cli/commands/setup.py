"""`pytest-mcp setup [CLIENT…]`: add the server to the settings of MCP clients, or remove it.

In come names of clients, or none for those that are found; out come diffs, changed files and an exit code: 0 if
everything is as requested, 1 if something is not, 2 for a usage error. What a client needs is decided in
`setup/clients.py`, how a file is changed in `setup/config_file.py`.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal

from pytest_mcp.cli.output import MISUSE, ask, can_ask, print_message, show
from pytest_mcp.cli.setup import config_file, own_command
from pytest_mcp.cli.setup.clients import CLIENTS, Client, Level, Machine, entry, own_keys, root_arguments, server_name
from pytest_mcp.cli.setup.config_file import Change, ConfigFileError, real
from pytest_mcp.cli.setup.ownership import is_ours, program
from pytest_mcp.config.model import Config, ConfigError, NoProject
from pytest_mcp.config.options import LoadConfig, changed_flags
from pytest_mcp.text import safe

CLIENTS_BY_NAME = {client.name: client for client in CLIENTS}
# The result for one client. `unconfirmed`: there is no terminal to ask for confirmation.
Outcome = Literal["in place", "written", "unconfirmed", "failed"]


class NotOurEntryError(ConfigFileError):
    """The entry with our name starts another program."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "clients",
        nargs="*",
        metavar="CLIENT",
        help=f"{', '.join(CLIENTS_BY_NAME)} (default: those found on this machine)",
    )
    parser.add_argument("--user", action="store_true", help="use your own settings, not the project's")
    parser.add_argument("--remove", action="store_true", help="remove the entry")
    writing = parser.add_mutually_exclusive_group()
    writing.add_argument("--yes", action="store_true", help="write without asking")
    writing.add_argument("--print", action="store_true", help="only show what would be written")


@dataclass(frozen=True)
class Plan:
    """What was typed, and what was found out for it."""

    machine: Machine
    root: Path | None
    user: bool
    remove: bool
    confirmed: Literal["yes", "no", "ask", "cannot ask"]
    command: Sequence[str]
    flags: Sequence[str]
    limit: int

    def level(self, client: Client) -> Level:
        return "user" if self.user or self.root is None or not client.project else "project"

    def path(self, client: Client) -> Path:
        """The client's file that exists, otherwise the one to create."""
        if self.root and self.level(client) == "project":
            paths: Sequence[PurePath] = [self.root / name for name in client.project]
        else:
            paths = client.user(self.machine)
        return next((Path(path) for path in paths if _exists(path)), Path(paths[-1]))


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    unknown = [name for name in options.clients if name not in CLIENTS_BY_NAME]
    if unknown:
        print_message(f"unknown client: {', '.join(unknown)}; the known clients are {', '.join(CLIENTS_BY_NAME)}")
        return MISUSE
    plan = _plan(options, _config(options, load_config))
    clients = [CLIENTS_BY_NAME[name] for name in dict.fromkeys(options.clients)] or _default_clients(plan)
    if not clients:
        show("No client has an entry." if plan.remove else f"Name a client: {', '.join(CLIENTS_BY_NAME)}.")
        return 0 if plan.remove else 1
    return _exit_code({client: _set_up(client, plan) for client in clients}, plan)


def _exit_code(outcomes: Mapping[Client, Outcome], plan: Plan) -> int:
    written = [client for client, outcome in outcomes.items() if outcome == "written"]
    if not plan.remove and "project" in map(plan.level, written):
        name = Path(plan.command[0]).name
        show(
            f"\nThe command in the project's file is a path on this machine. Replace it with `{name}` before you commit"
            " the file."
        )
    if "unconfirmed" in outcomes.values():
        show("\nNothing was written, because there is no terminal to ask for confirmation. Use --yes to write.")
    return 0 if {"in place", "written"}.issuperset(outcomes.values()) else 1


def _config(options: argparse.Namespace, load_config: LoadConfig) -> Config | None:
    """The settings; None if the current folder is not a project and no project was named."""
    try:
        return load_config()
    except NoProject:
        if options.root or options.python:
            raise
        return None


def _plan(options: argparse.Namespace, config: Config | None) -> Plan:
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ConfigError("You have no home folder, so there are no client settings to change.") from error
    asked: Literal["ask", "cannot ask"] = "ask" if can_ask() else "cannot ask"
    return Plan(
        machine=Machine(sys.platform, home, os.environ),
        root=config.root if config else None,
        user=options.user,
        remove=options.remove,
        confirmed="yes" if options.yes else "no" if options.print else asked,
        command=[] if options.remove else own_command.command(own_command.here()),
        flags=changed_flags(options, config),
        limit=options.timeout,
    )


def _default_clients(plan: Plan) -> list[Client]:
    """The clients if none was named: those that are installed, or those that have an entry to remove."""
    if plan.remove:
        return [client for client in CLIENTS if _has_entry(client, plan)]
    found = [client for client in CLIENTS if _is_installed(client, plan)]
    missing = [client.title for client in CLIENTS if client not in found]
    show(f"Found: {', '.join(client.title for client in found) or 'none'}. Not found: {', '.join(missing) or 'none'}.")
    return found


def _is_installed(client: Client, plan: Plan) -> bool:
    signs = [plan.root / name for name in (*client.project, *client.project_signs)] if plan.root else []
    search_path = plan.machine.environment.get("PATH")
    return any(_exists(path) for path in (client.home(plan.machine), *signs)) or any(
        shutil.which(program, path=search_path) for program in client.programs
    )


def _has_entry(client: Client, plan: Plan) -> bool:
    try:
        return _change(client, plan).is_needed
    except NotOurEntryError:
        return False
    except ConfigFileError:
        return True  # unknown; the error is shown when the entry is removed


def _exists(path: PurePath) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        return False


def _set_up(client: Client, plan: Plan) -> Outcome:
    path = plan.path(client)
    show(safe(f"\n{client.title}: {path}{'' if real(path) == path else f' (symlink to {real(path)})'}"))
    if plan.level(client) == "user" and client.one_project and plan.root is None:
        print_message(f"{client.title} needs an entry for each project: run this in the project's folder or add --root")
        return "failed"
    try:
        change = _change(client, plan)
        if not change.is_needed:
            show("There is nothing to remove." if plan.remove else "It is already set up.")
            return "in place"
        return _apply(change, client, plan)
    except ConfigFileError as error:
        if plan.remove and isinstance(error, NotOurEntryError):
            show(safe(str(error)))
            return "in place"
        print_message(safe(str(error)))
        if not plan.remove:
            keys = (client.servers, server_name(client, plan.level(client), plan.root, {}))
            show(f"Add this to it yourself:\n{config_file.sample(path, keys, _entry(client, plan))}")
        return "failed"


def _change(client: Client, plan: Plan) -> Change:
    path = _checked_path(client, plan)
    taken = config_file.table(path, [client.servers])
    keys = (client.servers, server_name(client, plan.level(client), plan.root, taken))
    old = taken.get(keys[1])
    if old is not None and not is_ours(old):
        raise NotOurEntryError(_not_ours(path, keys[1], old))
    if plan.remove:
        return config_file.removed(path, keys)
    # Keys that somebody else has added to the entry are kept.
    wanted = {**(old or {}), **_entry(client, plan)}
    # A file with the same values in another layout or order is not changed.
    return config_file.unchanged(path) if old == wanted else config_file.added(path, keys, wanted, client.skeleton)


def _checked_path(client: Client, plan: Plan) -> Path:
    """The client's file. Symlinks in the user's own settings are followed; those in a project are refused.

    A repository could contain a symlink to any file, and we would change that file.
    """
    path = plan.path(client)
    if plan.root and plan.level(client) == "project" and real(path) != real(plan.root) / path.relative_to(plan.root):
        raise ConfigFileError(f"{path} leads to {real(path)}; symlinks in a project are not followed.")
    return path


def _not_ours(path: Path, name: str, old: Any) -> str:
    """The message about another program's entry, without its arguments, which may contain secrets."""
    does = f"starts {started}" if (started := program(old)) else "has no command"
    return (
        f"{path} has an entry {name!r} that {does} and does not seem to be pytest-mcp's. It was not changed."
        " Rename it, or remove it if you do not need it."
    )


def _entry(client: Client, plan: Plan) -> dict[str, Any]:
    root = root_arguments(client, plan.level(client), plan.root)
    return entry(client, [*plan.command, *root, *client.arguments, *plan.flags], limit=plan.limit)


def _apply(change: Change, client: Client, plan: Plan) -> Outcome:
    show(config_file.difference(change, own_keys(client)))
    if plan.confirmed in ("no", "cannot ask"):
        return "in place" if plan.confirmed == "no" else "unconfirmed"
    if plan.confirmed == "ask" and not ask("Write this?"):
        show("Not written.")
        return "failed"
    config_file.write(change)
    show(_done(change.path, client, plan))
    return "written"


def _done(path: Path, client: Client, plan: Plan) -> str:
    if not plan.remove:
        project = client.project_step if plan.level(client) == "project" else ""
        return " ".join(filter(None, ["Written.", project, client.next_step]))
    is_empty = config_file.is_empty(path, client.skeleton)
    return "Removed." + " The file is empty now; delete it if you do not need it." * is_empty
