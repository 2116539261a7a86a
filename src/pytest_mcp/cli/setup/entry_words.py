"""The command of an entry in words: whether it starts this server, and which options it gives the server.

Only entries that do are changed or removed. In doubt one does not: every word up to our name must be understood. Pure.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mcp.cli.setup.server_command import MODULE
from pytest_mcp.config.model import TOKEN_VARIABLE
from pytest_mcp.config.options import SETTINGS

# Options of launchers that do not change what is run.
_OPTIONS = r"(?:(?:(?:--python|-p|--with)[=\n].+|--isolated|--offline|--quiet|-q|--refresh|--upgrade|-U)\n)*"
# What may follow the name of a distribution in a requirement: extras, a version or a URL.
_VERSION = r"\ *(?:$|[\[=<>!~@;].*)"
_REQUIREMENT = rf"(?i:pytest[._-]+mcp[._-]+server){_VERSION}"
# A folder or a URL has no name to compare, so it may be ours.
_SOURCE = rf"(?:{_REQUIREMENT}|(?![a-zA-Z0-9][\w.-]*{_VERSION}).+)"
# The words of a command, one in a line.
_COMMAND = re.compile(
    rf"""(?:.*[/\\])?(?:
        (?i:pytest-mcp(?:-server)?(?:\.exe)?)
        | (?i:py(?:thon)?w?[0-9.]*(?:\.exe)?)\n (?:-[bBdEiIOPqRsSuvx]+\n)* -m\n{MODULE}
        | (?:uvx|uv\ntool\nrun|pipx\nrun)\n {_OPTIONS}
          (?:(?:--from|--spec)[=\n]{_SOURCE}\n {_OPTIONS} pytest-mcp(?:-server)? | {_REQUIREMENT})
    )(?:\n|\Z)""",
    re.VERBOSE | re.MULTILINE,
)
# Options of the server that are always followed by a value.
_WITH_VALUE = {setting.flag for setting in SETTINGS if not {"action", "nargs"} & setting.argparse_options.keys()}


def is_ours(entry: Any) -> bool:
    """Whether an entry starts this server, or names the variable with our token for one on HTTP."""
    if not isinstance(entry, Mapping) or "command" in entry:
        return server_arguments(entry) is not None
    headers = entry.get("headers")
    values = [*entry.values(), *(headers.values() if isinstance(headers, Mapping) else ())]
    return any(isinstance(value, str) and TOKEN_VARIABLE in value for value in values)


def server_arguments(entry: Any) -> list[str] | None:
    """The arguments of an entry that are for this server, without those of a launcher; None if it starts another."""
    command = "\n".join(_words(entry))
    found = _COMMAND.match(command)
    return None if found is None else command[found.end() :].split("\n") if found.end() < len(command) else []


def program(entry: Any) -> str | None:
    """The program of an entry, without its arguments: those may contain secrets."""
    return next(iter(_words(entry)), None)


def _words(entry: Any) -> list[str]:
    """The command of an entry and its arguments, which may be in one list or in two. Empty if it cannot be read."""
    parts = [entry.get("command"), entry.get("args", [])] if isinstance(entry, Mapping) else []
    words = [word for part in parts for word in (part if isinstance(part, list) else [part])]
    is_read = all(isinstance(word, str) for word in words) and not any(isinstance(part, str) for part in parts[1:])
    return words if is_read else []


def combined(old: Sequence[str], new: Sequence[str], defaults: Sequence[str] = ()) -> list[str]:
    """The old words with the new options in them. A default is added only if neither has that option."""
    wanted = {option[0]: option for option in _options(new)}
    # The same value in the other form is no change.
    options = [kept if kept[:2] == (now := wanted.get(kept[0], kept))[:2] else now for kept in _options(old)]
    for added in (wanted.values(), _options(defaults)):
        options += [option for option in added if option[0] not in {flag for flag, *_ in options}]
    return [word for *_, words in options for word in words]


def relative(words: Sequence[str], folder: str, prefix: str) -> list[str]:
    """The same words; paths below the folder begin with the prefix instead."""
    inside = rf"\A(--[\w-]+=)?{re.escape(folder)}/"
    return [re.sub(inside, lambda match: (match[1] or "") + prefix, word) for word in words]


def option_value(words: Sequence[str], flag: str) -> str | None:
    """The last one counts, as it does for the server."""
    return next((value for known, value, _ in reversed(_options(words)) if known == flag), None)


def _options(words: Sequence[str]) -> list[tuple[str, str | None, list[str]]]:
    """Flag, value and words of each option, as `--python=X` or `--python X`, and of each word that is no known one."""
    options, rest = list[tuple[str, str | None, list[str]]](), list(words)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        following = [rest.pop(0)] if flag in _WITH_VALUE and not equals and rest else []
        options.append((flag, value if equals else "".join(following) or None, [word, *following]))
    return options
