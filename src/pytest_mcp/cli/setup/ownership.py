"""Which entries of a client's settings start this server: only those are changed or removed.

In comes an entry; out comes whether it is ours, and the arguments that it gives the server. In doubt it is not ours:
every word of the command up to our name must be understood. Pure. What is written into an entry is decided in
`known_clients` and `own_command`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mcp.config.model import TOKEN_VARIABLE

DISTRIBUTION = "pytest-mcp-server"
# The documented command, and one for launchers that expect the distribution's name.
SCRIPTS = ("pytest-mcp", DISTRIBUTION)
MODULE = "pytest_mcp"

_PYTHON = re.compile(r"py(?:thon)?w?[0-9.]*")
# Python's options without a value.
_PYTHON_OPTION = re.compile(r"-[bBdEiIOPqRsSuvx]+")
# Programs that download a distribution and run a command of it, and their subcommands.
_SUBCOMMANDS: Mapping[str, tuple[str, ...]] = {"uvx": (), "uv": ("tool", "run"), "pipx": ("run",)}
# Their options that do not change what is run. With any other option, an entry is not ours.
_SOURCE = ("--from", "--spec")
_WITH_VALUE = frozenset({"--python", "-p", "--with"})
_WITHOUT_VALUE = frozenset({"--isolated", "--offline", "--quiet", "-q", "--refresh", "--upgrade", "-U"})
# A requirement: the name of a distribution, then optionally extras, a version or a URL.
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*+)\s*+(?:$|[\[=<>!~@;])")


def is_ours(entry: Any) -> bool:
    """Whether an entry starts this server; another server's entry may have the same name."""
    return server_arguments(entry) is not None if _words(entry) else _names_our_token(entry)


def server_arguments(entry: Any) -> list[str] | None:
    """The arguments of an entry that are for this server, without those of a launcher; None if it starts another."""
    words = _words(entry)
    if not words:
        return None
    name, arguments = _name(words[0]), words[1:]
    if name in _SUBCOMMANDS:
        return _after_launch(arguments, _SUBCOMMANDS[name])
    if name in SCRIPTS:
        return arguments
    return _after_module(arguments) if _PYTHON.fullmatch(name) else None


def _names_our_token(entry: Any) -> bool:
    """Whether this is an entry for a server on HTTP that gets our token from its variable."""
    if not isinstance(entry, Mapping) or "command" in entry:
        return False
    headers = entry.get("headers")
    values = [*entry.values(), *(headers.values() if isinstance(headers, Mapping) else ())]
    return any(isinstance(value, str) and TOKEN_VARIABLE in value for value in values)


def program(entry: Any) -> str | None:
    """The program of an entry, without its arguments: those may contain secrets."""
    words = _words(entry)
    return words[0] if words else None


def _words(entry: Any) -> list[str]:
    """The command of an entry and its arguments, which may be in one list or in two. Empty if it cannot be read."""
    if not isinstance(entry, Mapping):
        return []
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else [None]),
    ]
    return words if all(isinstance(word, str) for word in words) else []


def _name(path: str) -> str:
    """The last part of a path, POSIX or Windows."""
    return re.split(r"[/\\]", path)[-1].lower().removesuffix(".exe")


def _after_module(arguments: Sequence[str]) -> list[str] | None:
    rest = list(arguments)
    while rest and _PYTHON_OPTION.fullmatch(rest[0]):
        del rest[0]
    return rest[2:] if rest[:2] == ["-m", MODULE] else None


def _after_launch(arguments: Sequence[str], subcommands: Sequence[str]) -> list[str] | None:
    if tuple(arguments[: len(subcommands)]) != tuple(subcommands):
        return None
    rest = list(arguments[len(subcommands) :])
    source: str | None = None
    while rest and rest[0].startswith("-"):
        option, equals, value = rest.pop(0).partition("=")
        if option in (*_SOURCE, *_WITH_VALUE) and (equals or rest):
            value = value if equals else rest.pop(0)
            source = value if option in _SOURCE else source
        elif option not in _WITHOUT_VALUE:
            return None
    return rest[1:] if rest and _is_launched(rest[0], source) else None


def _is_launched(command: str, source: str | None) -> bool:
    return _is_distribution(command) if source is None else command in SCRIPTS and _may_be_ours(source)


def _is_distribution(requirement: str) -> bool:
    found = _REQUIREMENT.match(requirement)
    return found is not None and re.sub(r"[._-]+", "-", found[1]).lower() == DISTRIBUTION


def _may_be_ours(source: str) -> bool:
    """Whether this source is our distribution. A folder or a URL has no name to compare, so it may be."""
    return _is_distribution(source) or _REQUIREMENT.match(source) is None
