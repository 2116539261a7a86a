"""Which entries of a client's settings start this server: only those are changed or taken out.

In comes an entry; out comes whether it is ours. An entry whose command cannot be understood for certain belongs to
somebody else, whatever it mentions. Pure; what is written into an entry is decided in `clients` and `own_command`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

DISTRIBUTION = "pytest-mcp-server"
# The command that is documented, and one for launchers that look for the distribution's name.
COMMANDS = ("pytest-mcp", DISTRIBUTION)
MODULE = "pytest_mcp"

_PYTHON = re.compile(r"py(?:thon)?w?[0-9.]*")
# Python's options that have no value.
_PYTHON_OPTION = re.compile(r"-[bBdEiIOPqRsSuvx]+")
# Programs that fetch a distribution and run a command of it, and what they are told first.
_LAUNCHERS: Mapping[str, tuple[str, ...]] = {"uvx": (), "uv": ("tool", "run"), "pipx": ("run",)}
# Their options that do not change what is run. With any other, an entry is not ours.
_SOURCE = ("--from", "--spec")
_WITH_VALUE = frozenset({"--python", "-p", "--with"})
_WITHOUT_VALUE = frozenset({"--isolated", "--offline", "--quiet", "-q", "--refresh", "--upgrade", "-U"})
# A distribution as installers are told it: its name, and then perhaps extras, a version or an address.
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*+)\s*+(?:$|[\[=<>!~@;])")


def is_ours(known: Any) -> bool:
    """Whether an entry starts this server; another one may have the same name."""
    words = _words(known)
    if not words:
        return False
    name, arguments = _name(words[0]), words[1:]
    if name in _LAUNCHERS:
        return _is_fetched(arguments, _LAUNCHERS[name])
    return name in COMMANDS or (_PYTHON.fullmatch(name) is not None and _is_module(arguments))


def program(known: Any) -> str | None:
    """What an entry starts, without arguments: those may hold secrets."""
    words = _words(known)
    return words[0] if words else None


def _words(known: Any) -> list[str]:
    """The command of an entry, in whichever of the clients' two shapes."""
    if not isinstance(known, Mapping):
        return []
    command, arguments = known.get("command"), known.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else [None]),
    ]
    return words if all(isinstance(word, str) for word in words) else []


def _name(path: str) -> str:
    """The last part of a path, of Windows or not."""
    return re.split(r"[/\\]", path)[-1].lower().removesuffix(".exe")


def _is_module(arguments: Sequence[str]) -> bool:
    rest = list(arguments)
    while rest and _PYTHON_OPTION.fullmatch(rest[0]):
        del rest[0]
    return rest[:2] == ["-m", MODULE]


def _is_fetched(arguments: Sequence[str], before: Sequence[str]) -> bool:
    if tuple(arguments[: len(before)]) != tuple(before):
        return False
    rest = list(arguments[len(before) :])
    source: str | None = None
    while rest and rest[0].startswith("-"):
        option, equals, value = rest.pop(0).partition("=")
        if option in (*_SOURCE, *_WITH_VALUE) and (equals or rest):
            value = value if equals else rest.pop(0)
            source = value if option in _SOURCE else source
        elif option not in _WITHOUT_VALUE:
            return False
    if not rest:
        return False
    return _is_distribution(rest[0]) if source is None else rest[0] in COMMANDS and _may_hold_us(source)


def _is_distribution(requirement: str) -> bool:
    found = _REQUIREMENT.match(requirement)
    return found is not None and re.sub(r"[._-]+", "-", found[1]).lower() == DISTRIBUTION


def _may_hold_us(source: str) -> bool:
    """Whether a distribution by this name is ours. A folder or an address has no name to compare."""
    return _is_distribution(source) or _REQUIREMENT.match(source) is None
