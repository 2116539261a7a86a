"""The change of a client's file that adds, renews or removes the entry of the server.

In come a client and a plan; out comes a `Change`, or a `ConfigFileError`. Nothing is written here. What an entry
contains is decided in `entries`, which of its options stay in `server_options`, how a file is changed in `config_file`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_mcp.cli.setup import server_options
from pytest_mcp.cli.setup.client import Client
from pytest_mcp.cli.setup.editing import config_file
from pytest_mcp.cli.setup.editing.config_file import Change, ConfigFileError
from pytest_mcp.cli.setup.entries import (
    connection_keys,
    entry,
    leads_to,
    own_keys,
    remote_entry,
    root_arguments,
    server_name,
    token_keys,
)
from pytest_mcp.cli.setup.ownership import is_ours, program, server_arguments
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.config.model import TOKEN_VARIABLE


class NotOurEntryError(ConfigFileError):
    """The entry with our name starts another program."""


class NoRemoteError(ConfigFileError):
    """The client's file cannot have this server on HTTP."""


def change(client: Client, plan: Plan) -> Change:
    path = plan.checked_path(client)
    taken = config_file.table(path, [client.servers])
    keys = (client.servers, server_name(client, plan.level(client), plan.root, taken, plan.url))
    old = taken.get(keys[1])
    if old is not None and not (is_ours(old) or leads_to(old, plan.url)):
        raise NotOurEntryError(_not_ours(path, keys[1], old))
    if plan.remove:
        return config_file.removed(path, keys, client.skeleton)
    # Keys that somebody else has added to the entry are kept.
    approved = client.approval if "allow" in plan.extras else {}
    made = _entry(client, plan, old)
    new = {**made, **_longer_timeouts(client, plan, old or {}, made), **approved}
    replaced = connection_keys(client) - new.keys()
    wanted = {key: value for key, value in {**(old or {}), **new}.items() if key not in replaced}
    # A file with the same values in another layout or order is not changed.
    if old == wanted:
        return replace(config_file.unchanged(path), old=old, new=old)
    return config_file.added(path, keys, wanted, client.skeleton)


def has_entry(client: Client, plan: Plan) -> bool:
    """Whether a plan to remove has something to remove."""
    try:
        return change(client, plan).is_needed
    except NotOurEntryError:
        return False
    except ConfigFileError:
        return True  # unknown; the error is shown when the entry is removed


def approval(client: Client, plan: Plan) -> Change:
    """The client's file with an entry that is approved; unchanged if there is no entry."""
    path = plan.checked_path(client)
    taken = config_file.table(path, [client.servers])
    keys = (client.servers, server_name(client, plan.level(client), plan.root, taken, plan.url))
    old = taken.get(keys[1])
    wanted = {**(old or {}), **client.approval}
    is_needed = old is not None and (is_ours(old) or leads_to(old, plan.url)) and old != wanted
    return config_file.added(path, keys, wanted) if is_needed else config_file.unchanged(path)


def sample(client: Client, plan: Plan) -> str:
    """A file with only this entry, to be copied by hand."""
    keys = (client.servers, server_name(client, plan.level(client), plan.root, {}))
    return config_file.sample(plan.path(client), keys, _entry(client, plan, None))


def _entry(client: Client, plan: Plan, old: Any) -> dict[str, Any]:
    if plan.url:
        return _remote_entry(client, plan, plan.url, old or {})
    arguments = _arguments(client, plan, old)
    return entry(client, [*_command(plan, old), *arguments], limit=server_options.time_limit(arguments, plan.limit))


def _arguments(client: Client, plan: Plan, old: Any) -> list[str]:
    """The server's arguments: those that the entry has, and those that were typed now."""
    root = root_arguments(client, plan.level(client), plan.root)
    kept, flags = (_portable(words, client, plan) for words in (server_arguments(old) or [], plan.flags))
    return server_options.combined(kept, [*root, *flags], client.arguments)


def _longer_timeouts(client: Client, plan: Plan, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, int]:
    """The client's timeouts that are longer in the old entry. They stay, unless a time limit was typed."""
    if server_options.has_time_limit(plan.flags):
        return {}
    known = {timeout.key: old.get(timeout.key) for timeout in client.timeouts}
    return {key: value for key, value in known.items() if isinstance(value, int) and value > new[key]}


def _remote_entry(client: Client, plan: Plan, url: str, old: Mapping[str, Any]) -> dict[str, Any]:
    if client.remote is None:
        raise NoRemoteError(f"The settings file of {client.title} cannot name a server on HTTP.")
    if has_literal_token(client, plan) and plan.level(client) == "project":
        raise NoRemoteError(
            f"{client.title} reads the token only from its settings file, and others may read that of a project."
            " Use --user."
        )
    return remote_entry(client, url, token_keys(client.remote, plan.token, old.get("headers", {})), limit=plan.limit)


def shown_keys(client: Client, change: Change) -> frozenset[str]:
    """The keys of the entry that may be shown: headers only if all of them are our variable."""
    headers = [value for each in (change.old, change.new) for value in (each or {}).get("headers", {}).values()]
    return own_keys(client) | ({"headers"} if all(TOKEN_VARIABLE in str(value) for value in headers) else set())


def has_literal_token(client: Client, plan: Plan) -> bool:
    """Whether the entry contains the token itself, because the client takes it from nowhere else."""
    return client.remote is not None and client.remote.variable is None and plan.token is not None


def _command(plan: Plan, old: Any) -> Sequence[str]:
    """Our command. An entry that names our program without its path keeps that name."""
    name = program(old)
    if name is None or Path(name).name != name or (found := plan.found(name)) is None:
        return plan.command
    return [name, *plan.command[1:]] if _is_same_file(found, plan.command[0]) else plan.command


def _is_same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return False


def _portable(words: Sequence[str], client: Client, plan: Plan) -> Sequence[str]:
    """Paths in the project, from where the client starts the server, if that was asked for."""
    if not (plan.portable and plan.root):
        return words
    return server_options.relative(words, str(plan.root), f"{client.workspace}/" if client.workspace else "")


def _not_ours(path: Path, name: str, old: Any) -> str:
    """The message about another program's entry, without its arguments, which may contain secrets."""
    does = (
        f"starts {started}" if (started := program(old)) else "has no command (if it has the server's URL, add --url)"
    )
    return (
        f"{path} has an entry {name!r} that {does} and does not seem to be pytest-mcp's. It was not changed."
        " Rename it, or remove it if you do not need it."
    )
