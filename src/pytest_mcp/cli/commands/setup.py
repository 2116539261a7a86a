"""`pytest-mcp setup [CLIENT…]`: add the server to the settings of MCP clients, or remove it.

In come names of clients, or none for those that are found; out come diffs, changed files and an exit code: 0 if
everything is as requested, 1 if something is not, 2 for a usage error. What a client needs is decided in
`setup/known_clients.py`, how a file is changed in `setup/editing/config_file.py`.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Literal

from pytest_mcp.api import near_matches
from pytest_mcp.cli.output import MISUSE, can_ask, print_message, show
from pytest_mcp.cli.setup import beside, confirmation, extras, goose, own_command, server_entry, server_options
from pytest_mcp.cli.setup.client import Client
from pytest_mcp.cli.setup.confirmation import Outcome
from pytest_mcp.cli.setup.editing import config_file
from pytest_mcp.cli.setup.editing.config_file import Change, ConfigFileError, real
from pytest_mcp.cli.setup.known_clients import CLIENTS, OTHER
from pytest_mcp.cli.setup.location import exists, this_machine
from pytest_mcp.cli.setup.ownership import server_arguments
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.cli.setup.server_entry import NoRemoteError, NotOurEntryError
from pytest_mcp.cli.setup.url import checked_url
from pytest_mcp.config.model import DEFAULT_TIMEOUT, TOKEN_VARIABLE, Config, ConfigError, NoProject
from pytest_mcp.config.options import LoadConfig, changed_flags
from pytest_mcp.environments import git_files
from pytest_mcp.text import safe

EXTRAS = ("instructions", "allow", "hook")
CLIENTS_BY_NAME = {client.name: client for client in CLIENTS}
NONE_FOUND = (
    f"No client was found. Name one: {', '.join(CLIENTS_BY_NAME)}.\n"
    f"`pytest-mcp setup --print {OTHER.name}` prints an entry for any other client,"
    f" `pytest-mcp setup --print {goose.NAME}` one for goose."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "clients",
        nargs="*",
        metavar="CLIENT",
        help=f"{', '.join(CLIENTS_BY_NAME)} (default: those found on this machine)",
    )
    parser.add_argument("--user", action="store_true", help="use your own settings, not the project's")
    parser.add_argument(
        "--portable", action="store_true", help="write `pytest-mcp` instead of its path on this machine"
    )
    parser.add_argument(
        "--url", help="the address of a server on HTTP that runs already; its token is taken from PYTEST_MCP_TOKEN"
    )
    parser.add_argument(
        "--instructions", action="store_true", help="tell agents in AGENTS.md or CLAUDE.md to use the tools"
    )
    parser.add_argument("--allow", action="store_true", help="let the client call the tools without asking")
    parser.add_argument(
        "--hook",
        action="store_true",
        help="let Claude Code answer pytest in its shell with the advice to use the tools",
    )
    parser.add_argument("--remove", action="store_true", help="remove the entry and everything else that was written")
    writing = parser.add_mutually_exclusive_group()
    writing.add_argument("--yes", action="store_true", help="write without asking")
    writing.add_argument(
        "--print",
        action="store_true",
        help="only show what would be written; `--print goose`, or `json` for any other client: an entry to copy",
    )


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    if options.print and options.clients == [OTHER.name]:
        return _print_entry(options, load_config())
    if goose.NAME in options.clients:
        return _print_for_goose(options, load_config)
    unknown = [name for name in options.clients if name not in CLIENTS_BY_NAME]
    if unknown:
        named = ", ".join(map(_with_suggestion, unknown))
        print_message(f"unknown client: {named}; the known clients are {', '.join(CLIENTS_BY_NAME)}")
        return MISUSE
    plan = _plan(options, _config(options, load_config))
    clients = [CLIENTS_BY_NAME[name] for name in dict.fromkeys(options.clients)] or _default_clients(plan)
    if not (clients or plan.remove):
        show(NONE_FOUND)
        return 1
    outcomes = {client: _set_up_all(client, plan) for client in clients}
    told = beside.instruct(outcomes if options.clients or not plan.remove else dict.fromkeys(CLIENTS, "in place"), plan)
    if not (clients or told):
        show("No client has an entry.")
    return _exit_code(outcomes, told, plan)


def _with_suggestion(name: str) -> str:
    near = near_matches.nearest(name.lower(), [*CLIENTS_BY_NAME, goose.NAME])
    return f"{name} (did you mean {near}?)" if near else name


def _print_entry(options: argparse.Namespace, config: Config) -> int:
    """Only the JSON is printed, so that other programs can read it."""
    show(server_entry.sample(OTHER, _plan(options, config)))
    return 0


def _print_for_goose(options: argparse.Namespace, load_config: LoadConfig) -> int:
    if not options.print or options.url or len(options.clients) > 1:
        print_message(goose.HOW)
        return MISUSE
    show(goose.sample(_plan(options, _config(options, load_config))))
    return 0


def _exit_code(outcomes: Mapping[Client, Outcome], told: Sequence[Outcome], plan: Plan) -> int:
    written = [client for client, outcome in outcomes.items() if outcome == "written"]
    if _writes_a_path(plan) and "project" in map(plan.level, written):
        show("\nThe command in the project's file is a path on this machine. Use --portable if you commit the file.")
    if plan.portable and plan.command and not plan.url and plan.found(plan.command[0]) is None:
        show(f"\n`{plan.command[0]}` is not on your PATH: clients will not find it until it is installed there.")
    every = {*outcomes.values(), *told}
    if "unconfirmed" in every:
        show("\nNothing was written, because there is no terminal to ask for confirmation. Use --yes to write.")
    return 0 if every <= {"in place", "written"} else 1


def _writes_a_path(plan: Plan) -> bool:
    return not (plan.remove or plan.portable or plan.url)


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
        machine = this_machine()
    except RuntimeError as error:
        raise ConfigError("You have no home folder, so there are no client settings to change.") from error
    asked: Literal["ask", "cannot ask"] = "ask" if can_ask() else "cannot ask"
    return Plan(
        machine=machine,
        root=config.root if config else None,
        user=options.user,
        remove=options.remove,
        confirmed="yes" if options.yes else "no" if options.print else asked,
        portable=options.portable,
        command=[] if options.remove else _command(options.portable),
        flags=changed_flags(options, config),
        limit=options.timeout or DEFAULT_TIMEOUT,
        extras=frozenset(name for name in EXTRAS if getattr(options, name)),
        url=None if options.url is None else checked_url(options.url),
    )


def _command(portable: bool) -> list[str]:
    command = own_command.command(own_command.here())
    return own_command.portable(command) if portable else command


def _default_clients(plan: Plan) -> list[Client]:
    """The clients if none was named: those that are installed, or those that have an entry to remove."""
    if plan.remove:
        return [
            client for client in CLIENTS if server_entry.has_entry(client, plan) or extras.any_to_remove(client, plan)
        ]
    found = [client for client in CLIENTS if _is_installed(client, plan)]
    missing = [client.title for client in CLIENTS if client not in found]
    if found:
        show(f"Found: {', '.join(client.title for client in found)}. Not found: {', '.join(missing) or 'none'}.")
    return found


def _is_installed(client: Client, plan: Plan) -> bool:
    signs = [plan.root / name for name in (*client.project, *client.project_signs)] if plan.root else []
    return any(map(exists, (client.home(plan.machine), *signs))) or any(map(plan.found, client.programs))


def _set_up_all(client: Client, plan: Plan) -> Outcome:
    """The entry, and what belongs to it."""
    outcome = _set_up(client, plan)
    if outcome not in ("in place", "written"):
        return outcome
    try:
        others = beside.write_extras(client, plan)
    except ConfigFileError as error:
        print_message(safe(str(error)))
        return "failed"
    return next((other for other in others if other in ("failed", "unconfirmed")), outcome)


def _set_up(client: Client, plan: Plan) -> Outcome:
    path = plan.path(client)
    show(safe(f"\n{client.title}: {path}{'' if real(path) == path else f' (symlink to {real(path)})'}"))
    if plan.level(client) == "user" and client.one_project and plan.root is None:
        print_message(f"{client.title} needs an entry for each project: run this in the project's folder or add --root")
        return "failed"
    try:
        change = server_entry.change(client, plan)
        if not change.is_needed:
            show("There is nothing to remove." if plan.remove else _already(change))
            return "in place"
        return _apply(change, client, plan)
    except ConfigFileError as error:
        if plan.remove and isinstance(error, NotOurEntryError):
            show(safe(str(error)))
            return "in place"
        print_message(safe(str(error)))
        if not (plan.remove or isinstance(error, NoRemoteError)):
            show(f"Add this to it yourself:\n{_without_token(server_entry.sample(client, plan), plan)}")
        return "failed"


def _already(change: Change) -> str:
    options = server_options.shown(server_arguments(change.old) or [])
    return safe(f"It is already set up, with {options}." if options else "It is already set up.")


def _apply(change: Change, client: Client, plan: Plan) -> Outcome:
    show(_without_token(config_file.difference(change, server_entry.shown_keys(client, change)), plan))
    if _writes_a_path(plan) and plan.level(client) == "project" and git_files.is_tracked(change.path):
        show("git tracks this file, and the command is a path on this machine: --portable writes one for everybody.")
    outcome = confirmation.write(change, plan)
    if outcome == "written":
        show(_done(change, client, plan))
    return outcome


def _done(change: Change, client: Client, plan: Plan) -> str:
    if not plan.remove:
        project = client.project_step if plan.level(client) == "project" else ""
        asks = "" if extras.is_allowed(client, plan, change) else client.asks
        return " ".join(filter(None, ["Written.", _about_token(client, plan), project, client.next_step, asks]))
    is_empty = change.after is not None and config_file.is_empty(change.path, client.skeleton)
    return confirmation.removed(change, plan) + " The file is empty now; delete it if you do not need it." * is_empty


def _about_token(client: Client, plan: Plan) -> str:
    if plan.token is None:
        return ""
    if server_entry.has_literal_token(client, plan):
        return f"The token is in this file, because {client.title} takes it from nowhere else."
    return f"The token is not in the file: set {TOKEN_VARIABLE} where you start {client.title}."


def _without_token(text: str, plan: Plan) -> str:
    return text.replace(plan.token, config_file.NOT_SHOWN) if plan.token else text
