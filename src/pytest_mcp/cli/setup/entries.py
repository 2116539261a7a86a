"""The entry of the server in a client's file: its name, its keys, and the change that adds, renews or removes it.

Only entries that start this server are changed or removed. In doubt one does not: every word of its command up to our
name must be understood. Options of the server that it has are kept.

At the end, the entries of all clients for a project, and what keeps them from starting the server, for `doctor`.
Nothing is started for that: the file may be a repository's own, and its command any program.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from pytest_mcp.cli.setup import settings_file
from pytest_mcp.cli.setup.clients import CLIENTS, GOOSE, Client, Remote
from pytest_mcp.cli.setup.plan import MODULE, SCRIPTS, Location, Machine, Plan
from pytest_mcp.cli.setup.settings_file import Change, SettingsError
from pytest_mcp.config.model import TOKEN_VARIABLE
from pytest_mcp.config.options import SETTINGS
from pytest_mcp.python import files

# A client's timeout for a call is this much longer than the server's, so that the server's answer still arrives.
TIMEOUT_MARGIN = 60
# Some clients allow sixty characters for the names of server and tool together.
MAX_PROJECT_NAME = 24
# Shown instead of a value that may be a secret.
NOT_SHOWN = "(not shown)"
# A variable of the client in a value: only the client knows what it is.
_VARIABLE = "${"
# Options of launchers that do not change what is run.
_OPTIONS = r"(?:(?:(?:--python|-p|--with)[=\n].+|--isolated|--offline|--quiet|-q|--refresh|--upgrade|-U)\n)*"
# What may follow the name of a distribution in a requirement: extras, a version or a URL.
_VERSION = r"\ *(?:$|[\[=<>!~@;].*)"
_REQUIREMENT = rf"(?i:pytest[._-]+mcp[._-]+server){_VERSION}"
# A folder or a URL has no name to compare, so it may be ours.
_SOURCE = rf"(?:{_REQUIREMENT}|(?![a-zA-Z0-9][\w.-]*{_VERSION}).+)"
# The words of a command, one in a line: a sandbox, and what it starts.
_COMMAND = re.compile(
    rf"""(?P<sandbox>/usr/bin/env\nTMPDIR=.+\n.*/srt\n--settings\n.+\n--\nenv\nTMPDIR=/tmp\n
      | .*/bwrap\n(?:(?!--\n).+\n)+--\n)?
    (?:.*[/\\])?(?:
        (?i:pytest-mcp(?:-server)?(?:\.exe)?)
        | (?i:py(?:thon)?w?[0-9.]*(?:\.exe)?)\n (?:-[bBdEiIOPqRsSuvx]+\n)* -m\n{MODULE}
        | (?:uvx|uv\ntool\nrun|pipx\nrun)\n {_OPTIONS}
          (?:(?:--from|--spec)[=\n]{_SOURCE}\n {_OPTIONS} pytest-mcp(?:-server)? | {_REQUIREMENT})
    )(?:\n|\Z)""",
    re.VERBOSE | re.MULTILINE,
)
# Options of the server that are always followed by a value.
_WITH_VALUE = {setting.flag for setting in SETTINGS if not {"action", "nargs"} & setting.argparse_options.keys()}


class ImpossibleError(SettingsError):
    """The entry with our name starts another program, or the client's file cannot have this server on HTTP."""


def change(client: Client, plan: Plan) -> Change:
    path = plan.checked(plan.path(client))
    taken = settings_file.value(path, [client.servers])
    name = server_name(client, plan, taken if isinstance(taken, Mapping) else {})
    keys, old = (client.servers, name), settings_file.value(path, [client.servers, name])
    is_old_ours = is_ours(old) or _leads_to(old, plan.url)
    if plan.remove:
        return settings_file.changed(path, keys, None) if is_old_ours else settings_file.unchanged(path)
    if old is not None and not is_old_ours:
        # Without its arguments, which may contain secrets.
        does = f"starts {word}" if (word := program(old)) else "has no command (if it has the server's URL, add --url)"
        why = f"has an entry {name!r} that {does} and does not seem to be pytest-mcp's. Rename it, or remove it"
        raise ImpossibleError(path, why)
    return settings_file.changed(path, keys, entry(client, plan, old or {}))


def sample(client: Client, plan: Plan) -> str:
    """A file with only this entry, to be copied by hand."""
    name, made = server_name(client, plan, {}), entry(client, plan, {})
    if client is not GOOSE:
        return _file(client, plan, name, made)
    # JSON values are YAML too.
    value = json.dumps({"name": name, "cmd": made.pop("command"), **made}, ensure_ascii=False)
    where = f"# In {plan.path(client)}. If it has the key `extensions`, put the entry below that."
    return f"{where}\n{client.servers}:\n  {name}: {value}"


def difference(client: Client, plan: Plan, change: Change) -> str:
    """Headers, and keys that somebody else has added, are named without their values, which may be secrets."""
    own = {*_connection(client), *client.approval, client.sandbox_key, *(each.key for each in client.timeouts)}
    own -= {"headers"}

    def side(entry: Mapping[str, Any] | None) -> str:
        visible = {key: value if key in own else NOT_SHOWN for key, value in (entry or {}).items()}
        return _file(client, plan, change.keys[-1], visible) if visible else ""

    return settings_file.difference(change, side(change.old), side(change.new))


def _file(client: Client, plan: Plan, name: str, entry: dict[str, Any]) -> str:
    is_toml = plan.path(client).suffix == ".toml"
    return settings_file.written("", (client.servers, name), entry, is_toml=is_toml).rstrip()


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
    word = re.sub(r"[^A-Za-z0-9_]+", "-", plan.root.name).strip("-")[:MAX_PROJECT_NAME]
    first = f"pytest-{word or 'project'}"
    return next(name for number in count(1) if (name := first + f"-{number}" * (number > 1)) not in taken)


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
        if isinstance(known := old.get(key), int | float) and option_value(plan.flags, "--timeout") is None:
            made[key] = max(known, made[key])
    made |= client.approval if "allow" in plan.extras else {}
    made |= {client.sandbox_key: True} if plan.sandbox and client.sandbox_key else {}
    return {key: value for key, value in {**old, **made}.items() if key in made or key not in _connection(client)}


def _local(client: Client, plan: Plan, old: Mapping[str, Any], arguments: list[str]) -> dict[str, Any]:
    name = program(old)
    # An entry that names our program without its path keeps that name.
    command = [name] if name in SCRIPTS and plan.which(name) else plan.command
    first, *rest = [*_sandbox(client, plan, old), *command, *arguments]
    return {**client.fixed, **({"command": [first, *rest]} if client.one_list else {"command": first, "args": rest})}


def _sandbox(client: Client, plan: Plan, old: Mapping[str, Any]) -> list[str]:
    """The words before our command that start it in a sandbox: those that are wanted, or those that it has."""
    ours = _COMMAND.match("\n".join(_words(old)))
    before = ours["sandbox"].removesuffix("\n").split("\n") if ours and ours["sandbox"] else []
    if plan.sandbox and not client.sandbox_key:
        if plan.level(client) == "user" and not client.one_project:
            raise ImpossibleError(plan.path(client), "is for every project, and a sandbox is for one")
        if plan.sandbox.hosts and not plan.sandbox.is_srt:
            raise ImpossibleError("bubblewrap", "cannot let one host through. Install srt for --sandbox-allow")
        return plan.sandbox.also_writing(before).words(plan.path(client), plan.srt_settings(client))
    return before


def _arguments(client: Client, plan: Plan, old: Mapping[str, Any]) -> list[str]:
    """The server's arguments: those that the entry has, and those that were typed now."""
    root = list[str]()
    if plan.level(client) == "project" and client.workspace:
        root = ["--root", client.workspace]
    elif plan.level(client) == "user" and client.one_project and plan.root:
        root = ["--root", str(plan.root)]
    kept, typed = server_arguments(old) or [], list(plan.flags)
    if plan.portable and plan.root:
        # From where the client starts the server.
        folder = f"{client.workspace}/" if client.workspace else ""
        kept, typed = ([_below(plan.root, word, folder) for word in words] for words in (kept, typed))
    options, defaults = _options(kept) | _options([*root, *typed]), _options(client.arguments)
    return [word for words in {**options, **defaults, **options}.values() for word in words]


def _below(root: Path, word: str, folder: str) -> str:
    """The word; if it is a path in the root, or an option with one, from this folder."""
    flag, slash, path = word.partition(f"{root}/")
    return f"{flag}{folder}{path}" if slash and (not flag or (flag.startswith("--") and flag.endswith("="))) else word


def _remote(client: Client, plan: Plan, old: Mapping[str, Any]) -> dict[str, Any]:
    remote = client.remote
    if remote is None:
        raise ImpossibleError(f"The settings file of {client.title}", "cannot name a server on HTTP")
    if remote.variable is None and plan.token and plan.level(client) == "project":
        why = "reads the token only from its settings file, and others may read that of a project. Use --user"
        raise ImpossibleError(client.title, why)
    made = {**remote.fixed, remote.url: plan.url}
    if remote.variable_key and plan.token:
        return made | {remote.variable_key: remote.variable}
    own = {"Authorization": f"Bearer {remote.variable or plan.token}"} if plan.token else {}
    headers = {**_headers(old), **own}
    return made | ({"headers": headers} if headers else {})


def _headers(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    headers = entry.get("headers")
    return headers if isinstance(headers, Mapping) else {}


def is_ours(entry: Any) -> bool:
    """Whether an entry starts this server, or names the variable with our token for one on HTTP."""
    if not isinstance(entry, Mapping) or "command" in entry:
        return server_arguments(entry) is not None
    values = [*entry.values(), *_headers(entry).values()]
    return any(isinstance(value, str) and TOKEN_VARIABLE in value for value in values)


def server_arguments(entry: Any) -> list[str] | None:
    """The arguments of an entry that are for this server, without those of a launcher; None if it starts another."""
    command = "\n".join(_words(entry))
    ours = _COMMAND.match(command)
    return None if ours is None else list(filter(None, command[ours.end() :].split("\n")))


def program(entry: Any) -> str | None:
    """The program of an entry, without its arguments: those may contain secrets."""
    return next(iter(_words(entry)), None)


def _words(entry: Any) -> list[str]:
    """The command of an entry and its arguments, which may be in one list or in two. Empty if it cannot be read."""
    parts = [entry.get("command"), entry.get("args", [])] if isinstance(entry, Mapping) else []
    words = [word for part in parts for word in (part if isinstance(part, list) else [part])]
    is_read = all(isinstance(word, str) for word in words) and not any(isinstance(part, str) for part in parts[1:])
    return words if is_read else []


def option_value(words: Sequence[str], flag: str) -> str | None:
    """The last one counts, as it does for the server."""
    first, *more = _options(words).get(flag, [""])
    return more[0] if more else first.partition("=")[2] or None


def _options(words: Sequence[str]) -> dict[str, list[str]]:
    """The words of each option by its flag, as `--python=X` or `--python X`, and each word that is no known one."""
    options, rest = dict[str, list[str]](), list(words)
    while rest:
        word = rest.pop(0)
        flag, equals, _ = word.partition("=")
        options[flag] = [word, rest.pop(0)] if flag in _WITH_VALUE and not equals and rest else [word]
    return options


# The entries of a project


@dataclass(frozen=True)
class ClientEntry:
    client: str
    file: str
    # What the entry starts; None for a server on HTTP, and if the file cannot be read.
    program: str | None
    # Why the client cannot start the server; None if nothing was found.
    problem: str | None = None
    # The command that writes the entry anew.
    fix: str | None = None
    # Its --python, if it is for this project.
    python: str | None = None


def entries_for_project(root: Path, machine: Machine) -> list[ClientEntry]:
    # Without a file for projects, both places are the user's.
    pairs = [(client, user) for client in CLIENTS for user in (False, True) if user or client.project]
    return [entry for client, user in pairs for entry in _in_file(client, Location(machine, root, user), root)]


def _in_file(client: Client, place: Location, root: Path) -> Iterator[ClientEntry]:
    path = place.path(client)
    if not files.holds(path.exists):
        return
    name = str(path if place.user else path.relative_to(root))
    try:
        entries = settings_file.value(place.checked(path), [client.servers])
    except SettingsError as error:
        yield ClientEntry(client.title, name, None, error.why)
        return
    fix = f"pytest-mcp setup {client.name}{' --user' * (place.user and bool(client.project))}"
    for entry in filter(is_ours, entries.values() if isinstance(entries, Mapping) else ()):
        words, started = server_arguments(entry) or [], program(entry)
        served = option_value(words, "--root") or "."
        is_here = served == "." or _VARIABLE in served or files.holds(partial(Path(served).samefile, root))
        if is_here or not place.user:
            problem = _problem(started, words, place, root) if started else None
            python = option_value(words, "--python") if is_here else None
            yield ClientEntry(client.title, name, started, problem, fix if problem else None, python)


def _problem(started: str, words: Sequence[str], place: Location, root: Path) -> str | None:
    is_path = "/" in started or "\\" in started
    if _VARIABLE not in started and not place.which(str(root / started) if is_path else started):
        return f"{started} {'does not exist or cannot be executed' if is_path else 'is not on your PATH'}"
    for flag in ("--root", "--python"):
        path = Path(option_value(words, flag) or ".")
        if path.is_absolute() and not files.holds(path.exists):
            return f"its {flag} {path} does not exist"
    return None


def common_python(entries: Sequence[ClientEntry], root: Path, own: Sequence[str]) -> str | None:
    """The Python with which all of them start the server, if it may be started here.

    A repository must not decide which program runs. So the user's own settings name it, in a place outside of the
    project, or it is one of `own`.
    """
    usable = [entry for entry in entries if entry.program and entry.problem is None]
    pythons = {entry.python for entry in usable}
    python = pythons.pop() if len(pythons) == 1 else None
    outside = [Path(entry.file) for entry in usable if Path(entry.file).is_absolute()]
    is_trusted = python in own or any(not file.is_relative_to(root) for file in outside)
    return python if python and is_trusted and Path(python).is_absolute() else None
