"""The entry of the server in a client's settings: its name, its keys and its values.

In come a client, a command or an address, and what the file has already; out come names and entries. Pure. What a
client needs is decided in `known_clients`, which entries are ours in `ownership`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import count, pairwise
from pathlib import PurePath
from typing import Any

from pytest_mcp.cli.setup.client import Client, Level, Remote
from pytest_mcp.cli.setup.ownership import is_ours

# A client's timeout for a call is this much longer than the server's, so that the server's answer still arrives.
TIMEOUT_MARGIN = 60
# Some clients allow sixty characters for the names of server and tool together.
LONGEST_PROJECT_NAME = 24


def entry(client: Client, command: Sequence[str], *, limit: int) -> dict[str, Any]:
    """The entry of the server in the client's file; `limit` is the server's time limit for a call, in seconds."""
    program, *arguments = command
    start = {"command": list(command)} if client.one_list else {"command": program, "args": arguments}
    return {**client.fixed, **start, **_timeouts(client, limit)}


def remote_entry(client: Client, url: str, token: Mapping[str, Any], *, limit: int) -> dict[str, Any]:
    """The entry of a server on HTTP; `token` are the keys for it."""
    assert client.remote is not None, "asked only for clients that can have one"
    return {**client.remote.fixed, client.remote.url: url, **token, **_timeouts(client, limit)}


def token_keys(remote: Remote, secret: str | None, headers: Mapping[str, str]) -> dict[str, Any]:
    """The keys for the token, if there is one, and the headers that the entry has already.

    The token itself is written only if the client has no syntax for a variable.
    """
    if remote.variable_key and secret:
        return {remote.variable_key: remote.variable}
    own = {"Authorization": f"Bearer {remote.variable or secret}"} if secret else {}
    return {"headers": {**headers, **own}} if headers or own else {}


def _timeouts(client: Client, limit: int) -> dict[str, int]:
    return {
        timeout.key: timeout.per_second * max(timeout.least, limit + TIMEOUT_MARGIN if timeout.for_calls else 0)
        for timeout in client.timeouts
    }


def connection_keys(client: Client) -> frozenset[str]:
    """The keys of an entry that say how the server is reached."""
    local = {*client.fixed, "command", "args"}
    if client.remote is None:
        return frozenset(local)
    url, token = client.remote.url, client.remote.variable_key or "headers"
    return frozenset({*local, *client.remote.fixed, url, token})


def own_keys(client: Client) -> frozenset[str]:
    """The keys of an entry that we write, and show; any other key was added by somebody else."""
    return connection_keys(client) - {"headers"} | {timeout.key for timeout in client.timeouts} | client.approval.keys()


def root_arguments(client: Client, level: Level, root: PurePath | None) -> list[str]:
    """The --root argument, if the client does not start the server in the project."""
    if level == "user":
        return ["--root", str(root)] if client.one_project else []
    return ["--root", client.workspace] if client.workspace else []


def server_name(
    client: Client, level: Level, root: PurePath | None, taken: Mapping[str, Any], url: str | None = None
) -> str:
    """The name of the entry. If the entries of several projects share a file, each project has its own name."""
    if level == "project" or not client.one_project or root is None:
        return "pytest"
    first = project_name(root)
    known = [
        name
        for name, old in taken.items()
        if name.startswith("pytest") and ((is_ours(old) and _serves(old, root)) or leads_to(old, url))
    ]
    names = (first if number == 1 else f"{first}-{number}" for number in count(1))
    return known[0] if known else next(name for name in names if name not in taken)


def project_name(root: PurePath | None) -> str:
    """The name of the entry of this project; without a project, of all of them."""
    if root is None:
        return "pytest"
    word = re.sub(r"[^A-Za-z0-9_]+", "-", root.name).strip("-")[:LONGEST_PROJECT_NAME]
    return f"pytest-{word or 'project'}"


def leads_to(entry: Any, url: str | None) -> bool:
    """Whether an entry is for the server at this address."""
    return url is not None and isinstance(entry, Mapping) and url in entry.values()


def _serves(entry: Mapping[str, Any], root: PurePath) -> bool:
    arguments = entry.get("args", [])
    return f"--root={root}" in arguments or ("--root", str(root)) in pairwise(arguments)
