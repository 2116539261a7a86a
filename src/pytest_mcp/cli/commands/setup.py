"""`pytest-mcp setup [CLIENT…]`: the server's entry in the clients' settings, shown, asked for and written.

In come names of clients, or none for those that are found; out come differences, files and an exit code: 0 when
everything asked for is in place, 1 when something is not, 2 for misuse. What a client needs is in `clients`,
how files are changed in `config_file`.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal

from pytest_mcp.cli.output import MISUSE, ask, can_ask, complain, show
from pytest_mcp.cli.setup import config_file, own_command
from pytest_mcp.cli.setup.clients import CLIENTS, Client, Level, Machine, entry, members, root_arguments, server_name
from pytest_mcp.cli.setup.config_file import Change, Trouble
from pytest_mcp.cli.setup.ownership import is_ours, program
from pytest_mcp.config.model import Config, ConfigError, NoProject
from pytest_mcp.config.options import Settle, chosen
from pytest_mcp.text import safe

NAMES = {client.name: client for client in CLIENTS}
# What became of one client. Something waits when there is nobody to ask.
Outcome = Literal["in place", "written", "waiting", "failed"]


class Foreign(Trouble):
    """The entry by our name starts something else."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "clients", nargs="*", metavar="CLIENT", help=f"{', '.join(NAMES)} (default: those that are found here)"
    )
    parser.add_argument("--user", action="store_true", help="in your own settings, not in the project's")
    parser.add_argument("--remove", action="store_true", help="take the entry out again")
    writing = parser.add_mutually_exclusive_group()
    writing.add_argument("--yes", action="store_true", help="write without asking")
    writing.add_argument("--print", action="store_true", help="only show what would be written")


@dataclass(frozen=True)
class Wish:
    """What was typed, with what had to be found out for it."""

    machine: Machine
    root: Path | None
    user: bool
    remove: bool
    answer: Literal["yes", "no", "ask", "nobody"]
    command: Sequence[str]
    flags: Sequence[str]
    limit: int

    def level(self, client: Client) -> Level:
        return "user" if self.user or self.root is None or not client.project else "project"

    def folder(self, client: Client) -> Path:
        """The one that all of a client's files on this level are in."""
        return self.root if self.root and self.level(client) == "project" else Path(self.machine.home)

    def path(self, client: Client) -> Path:
        """The client's file that is there; otherwise the one to be made."""
        named = tuple(self.folder(client) / name for name in client.project)
        paths = named if self.level(client) == "project" else client.user(self.machine)
        return next((Path(path) for path in paths if _is_there(path)), Path(paths[-1]))


def main(options: argparse.Namespace, project: Settle) -> int:
    unknown = [name for name in options.clients if name not in NAMES]
    if unknown:
        complain(f"{', '.join(unknown)}: no client that is known here; those are {', '.join(NAMES)}")
        return MISUSE
    wish = _wish(options, _settled(options, project))
    clients = [NAMES[name] for name in dict.fromkeys(options.clients)] or _meant(wish)
    if not clients:
        show("No client has an entry here." if wish.remove else f"Name one: {', '.join(NAMES)}.")
        return 0 if wish.remove else 1
    return _summed_up({client: _served(client, wish) for client in clients}, wish)


def _summed_up(outcomes: Mapping[Client, Outcome], wish: Wish) -> int:
    written = [client for client, outcome in outcomes.items() if outcome == "written"]
    if not wish.remove and "project" in map(wish.level, written):
        bare = Path(wish.command[0]).name
        show(f"\nThe command is a path of this machine. Before you commit a project's file, write `{bare}` there.")
    if "waiting" in outcomes.values():
        show("\nNothing was written, since there is no terminal to ask at. With --yes it is.")
    return 0 if {"in place", "written"}.issuperset(outcomes.values()) else 1


def _settled(options: argparse.Namespace, project: Settle) -> Config | None:
    """The project; None where there is none and none was meant."""
    try:
        return project()
    except NoProject:
        if options.root or options.python:
            raise
        return None


def _wish(options: argparse.Namespace, settled: Config | None) -> Wish:
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ConfigError("You have no home folder, and so no settings of your own.") from error
    asked: Literal["ask", "nobody"] = "ask" if can_ask() else "nobody"
    return Wish(
        machine=Machine(sys.platform, home, os.environ),
        root=settled.root if settled else None,
        user=options.user,
        remove=options.remove,
        answer="yes" if options.yes else "no" if options.print else asked,
        command=[] if options.remove else own_command.command(own_command.here()),
        flags=chosen(options, settled),
        limit=options.timeout,
    )


def _meant(wish: Wish) -> list[Client]:
    """The clients when none was named: those that are here, or those that have an entry to be taken out."""
    if wish.remove:
        return [client for client in CLIENTS if _holds(client, wish)]
    found = [client for client in CLIENTS if _is_here(client, wish)]
    missing = [client.title for client in CLIENTS if client not in found]
    show(f"Found: {', '.join(client.title for client in found) or 'none'}. Not found: {', '.join(missing) or 'none'}.")
    return found


def _is_here(client: Client, wish: Wish) -> bool:
    marks = [wish.root / mark for mark in (*client.project, *client.marks)] if wish.root else []
    search_path = wish.machine.environment.get("PATH")
    return any(_is_there(path) for path in (client.home(wish.machine), *marks)) or any(
        shutil.which(program, path=search_path) for program in client.programs
    )


def _holds(client: Client, wish: Wish) -> bool:
    try:
        return _change(client, wish).is_one
    except Foreign:
        return False
    except Trouble:
        return True  # then it is told why that cannot be known


def _is_there(path: PurePath) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        return False


def _served(client: Client, wish: Wish) -> Outcome:
    path, real = wish.path(client), _real(wish.path(client))
    show(safe(f"\n{client.title}: {path}{'' if real == path else f', which is {real}'}"))
    if wish.level(client) == "user" and client.tied and wish.root is None:
        complain(f"an entry of {client.title} names its project: run this in the project's folder, or add --root")
        return "failed"
    try:
        change = _change(client, wish)
        if not change.is_one:
            show("There is nothing to take out." if wish.remove else "It is set up already.")
            return "in place"
        return _carried_out(change, client, wish)
    except Trouble as trouble:
        if wish.remove and isinstance(trouble, Foreign):
            show(safe(str(trouble)))
            return "in place"
        complain(safe(str(trouble)))
        if not wish.remove:
            keys = (client.servers, server_name(client, wish.level(client), wish.root, {}))
            show(f"This belongs into it:\n{config_file.sample(wish.path(client), keys, _entry(client, wish))}")
        return "failed"


def _change(client: Client, wish: Wish) -> Change:
    path = _followed(client, wish)
    taken = config_file.table(path, [client.servers])
    keys = (client.servers, server_name(client, wish.level(client), wish.root, taken))
    there = taken.get(keys[1])
    if there is not None and not is_ours(there):
        raise Foreign(_foreign(path, keys[1], there))
    if wish.remove:
        return config_file.removed(path, keys)
    # What somebody has added to the entry is theirs.
    wanted = {**(there or {}), **_entry(client, wish)}
    # The same values in another layout or order are no reason to touch the file.
    return config_file.unchanged(path) if there == wanted else config_file.added(path, keys, wanted, client.skeleton)


def _followed(client: Client, wish: Wish) -> Path:
    """The client's file. Links of the user's own lead to it; those of a project are refused.

    A repository may bring one, and would have us change whatever file it names, in the project or not.
    """
    path = wish.path(client)
    if wish.root and wish.level(client) == "project" and _real(path) != _real(wish.root) / path.relative_to(wish.root):
        raise Trouble(f"{path} leads to {_real(path)}, and links in a project are not followed.")
    return path


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _foreign(path: Path, name: str, there: Any) -> str:
    """What is said of somebody else's entry: not its arguments, which may hold secrets."""
    does = f"starts {started}" if (started := program(there)) else "has no command"
    return (
        f"{path} has an entry {name!r} that {does} and is not known to be pytest-mcp's. It was left alone."
        " If it is not needed, take it out by hand; otherwise rename it."
    )


def _entry(client: Client, wish: Wish) -> dict[str, Any]:
    root = root_arguments(client, wish.level(client), wish.root)
    return entry(client, [*wish.command, *root, *client.arguments, *wish.flags], limit=wish.limit)


def _carried_out(change: Change, client: Client, wish: Wish) -> Outcome:
    show(config_file.difference(change, members(client)))
    if wish.answer in ("no", "nobody"):
        return "in place" if wish.answer == "no" else "waiting"
    if wish.answer == "ask" and not ask("Write this?"):
        show("Not written.")
        return "failed"
    config_file.write(change)
    show(_done(change.path, client, wish))
    return "written"


def _done(path: Path, client: Client, wish: Wish) -> str:
    if not wish.remove:
        project = client.in_project if wish.level(client) == "project" else ""
        return " ".join(filter(None, ["Written.", project, client.then]))
    bare = config_file.is_bare(path, client.skeleton)
    return "Taken out." + " The file is empty now: delete it if you do not need it." * bare
