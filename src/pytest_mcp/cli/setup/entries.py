"""The entry of the server in a client's file: its name, its keys, and the change that adds, renews or removes it."""

import json
import re
from collections.abc import Mapping
from itertools import count
from pathlib import PurePath
from typing import Any

from pytest_mcp.cli.setup import entry_words, settings_file
from pytest_mcp.cli.setup.clients import SHORTEST_TIMEOUT, Client, Remote
from pytest_mcp.cli.setup.entry_words import is_ours, option_value, program, server_arguments
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.cli.setup.server_command import SCRIPTS
from pytest_mcp.cli.setup.settings_file import FORMATS, Change, SettingsError
from pytest_mcp.config.model import TOKEN_VARIABLE

# A client's timeout for a call is this much longer than the server's, so that the server's answer still arrives.
TIMEOUT_MARGIN = 60
# Some clients allow sixty characters for the names of server and tool together.
LONGEST_PROJECT_NAME = 24
# Shown instead of a value that may be a secret.
NOT_SHOWN = "(not shown)"


class ImpossibleError(SettingsError):
    """The entry with our name starts another program, or the client's file cannot have this server on HTTP."""


def change(client: Client, plan: Plan) -> Change:
    path = plan.checked(plan.path(client))
    taken = settings_file.value(path, [client.servers])
    name = server_name(client, plan, taken if isinstance(taken, Mapping) else {})
    old = settings_file.value(path, [client.servers, name])
    if old is not None and not (is_ours(old) or _leads_to(old, plan.url)):
        # Without its arguments, which may contain secrets.
        does = f"starts {word}" if (word := program(old)) else "has no command (if it has the server's URL, add --url)"
        raise ImpossibleError(
            f"{path} has an entry {name!r} that {does} and does not seem to be pytest-mcp's. It was not changed."
            " Rename it, or remove it if you do not need it."
        )
    if plan.remove and old is None:
        return settings_file.unchanged(path)
    return settings_file.changed(path, (client.servers, name), None if plan.remove else entry(client, plan, old or {}))


def sample(client: Client, plan: Plan) -> str:
    """A file with only this entry, to be copied by hand."""
    return _file(client, plan, server_name(client, plan, {}), entry(client, plan, {}))


def goose_sample(plan: Plan) -> str:
    """The entry for goose, to be copied by hand: YAML libraries rewrite the rest. JSON values are YAML too."""
    name, (program, *arguments) = project_name(plan.root) if plan.root else "pytest", plan.command
    # It starts servers in the folder of a session, which need not be the project's.
    root = [] if plan.root is None else ["--root", str(plan.root)]
    entry = {"type": "stdio", "name": name, "description": "Runs the project's pytest tests", "enabled": True}
    entry |= {"cmd": program, "args": [*arguments, *root, *plan.flags]}
    entry |= {"timeout": max(SHORTEST_TIMEOUT, plan.limit + TIMEOUT_MARGIN)}
    lines = [f"    {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    file = plan.machine.path("config/goose/config.yaml")
    where = f"# In {file}. If it has the key `extensions`, put the entry below that."
    return "\n".join([where, "extensions:", f"  {name}:", *lines])


def difference(client: Client, plan: Plan, change: Change) -> str:
    """Of keys that somebody else has added to the entry, only the names are shown: their values may be secrets."""
    own = {*_connection(client), *client.approval, *(timeout.key for timeout in client.timeouts)}
    sides = list[str]()
    for entry in (change.old or {}, change.new or {}):
        is_ours = all(TOKEN_VARIABLE in str(value) for value in _headers(entry).values())
        keys = own if is_ours else own - {"headers"}
        shown = {key: value if key in keys else NOT_SHOWN for key, value in entry.items()}
        sides.append(_file(client, plan, change.keys[-1], shown) if entry else "")
    return settings_file.difference(change, *sides)


def _headers(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    headers = entry.get("headers")
    return headers if isinstance(headers, Mapping) else {}


def _file(client: Client, plan: Plan, name: str, entry: dict[str, Any]) -> str:
    return str(FORMATS[plan.path(client).suffix].written("", (client.servers, name), entry)).rstrip()


def _connection(client: Client) -> set[str]:
    """The keys of an entry that say how the server is reached."""
    remote = client.remote or Remote(None)
    return {*client.fixed, "command", "args", *remote.fixed, remote.url, remote.variable_key or "headers"}


def server_name(client: Client, plan: Plan, taken: Mapping[str, Any]) -> str:
    """The name of the entry. If the entries of several projects share a file, each project has its own name."""
    if plan.level(client) == "project" or not client.one_project or plan.root is None:
        return "pytest"
    for name, old in taken.items():
        served = option_value(server_arguments(old) or [], "--root")
        if name.startswith("pytest") and (served == str(plan.root) or _leads_to(old, plan.url)):
            return name
    first = project_name(plan.root)
    return next(name for number in count(1) if (name := first + f"-{number}" * (number > 1)) not in taken)


def project_name(root: PurePath) -> str:
    word = re.sub(r"[^A-Za-z0-9_]+", "-", root.name).strip("-")[:LONGEST_PROJECT_NAME]
    return f"pytest-{word or 'project'}"


def _leads_to(entry: Any, url: str | None) -> bool:
    """Whether an entry is for the server at this address."""
    return url is not None and isinstance(entry, Mapping) and url in entry.values()


def entry(client: Client, plan: Plan, old: Mapping[str, Any]) -> dict[str, Any]:
    """The entry that is wanted. Keys that somebody else has added to the old one are kept."""
    arguments = _arguments(client, plan, old)
    made = _remote(client, plan, old) if plan.url else _local(client, plan, old, arguments)
    typed = "" if plan.url else option_value(arguments, "--timeout") or ""
    limit = int(typed) if typed.isdecimal() else plan.limit
    for key, per_second, least, for_calls in client.timeouts:
        made[key] = per_second * max(least, limit + TIMEOUT_MARGIN if for_calls else 0)
        # A timeout of the client that is longer stays, unless a time limit was typed.
        if isinstance(known := old.get(key), int) and option_value(plan.flags, "--timeout") is None:
            made[key] = max(known, made[key])
    made |= client.approval if "allow" in plan.extras else {}
    return {key: value for key, value in {**old, **made}.items() if key in made or key not in _connection(client)}


def _local(client: Client, plan: Plan, old: Mapping[str, Any], arguments: list[str]) -> dict[str, Any]:
    name = program(old)
    # An entry that names our program without its path keeps that name.
    first, *rest = [name] if name in SCRIPTS and plan.found(name) else plan.command
    rest += arguments
    return {**client.fixed, **({"command": [first, *rest]} if client.one_list else {"command": first, "args": rest})}


def _arguments(client: Client, plan: Plan, old: Mapping[str, Any]) -> list[str]:
    """The server's arguments: those that the entry has, and those that were typed now."""
    kept, flags, root = server_arguments(old) or [], plan.flags, list[str]()
    if plan.portable and plan.root:
        # Paths in the project, from where the client starts the server.
        prefix = f"{client.workspace}/" if client.workspace else ""
        kept, flags = (entry_words.relative(words, str(plan.root), prefix) for words in (kept, flags))
    if plan.level(client) == "project" and client.workspace:
        root = ["--root", client.workspace]
    elif plan.level(client) == "user" and client.one_project:
        root = ["--root", str(plan.root)]
    return entry_words.combined(kept, [*root, *flags], client.arguments)


def _remote(client: Client, plan: Plan, old: Mapping[str, Any]) -> dict[str, Any]:
    remote = client.remote
    if remote is None:
        raise ImpossibleError(f"The settings file of {client.title} cannot name a server on HTTP.")
    if remote.variable is None and plan.token and plan.level(client) == "project":
        raise ImpossibleError(
            f"{client.title} reads the token only from its settings file, and others may read that of a project."
            " Use --user."
        )
    made = {**remote.fixed, remote.url: plan.url}
    if remote.variable_key and plan.token:
        return made | {remote.variable_key: remote.variable}
    own = {"Authorization": f"Bearer {remote.variable or plan.token}"} if plan.token else {}
    headers = {**_headers(old), **own}
    return made | ({"headers": headers} if headers else {})
