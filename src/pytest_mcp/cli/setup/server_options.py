"""The server's options among the arguments of an entry: which are kept, which are replaced, which may be shown.

In come arguments as words, with values as `--python=X` or `--python X`; out come words. Pure. Where the server's
arguments begin in an entry is decided in `ownership`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pytest_mcp.cli.setup.editing.config_file import NOT_SHOWN
from pytest_mcp.config import history
from pytest_mcp.config.options import SETTINGS

_FLAGS = frozenset(setting.flag for setting in SETTINGS)
# Those that are always followed by a value.
_WITH_VALUE = frozenset(
    setting.flag for setting in SETTINGS if not {"action", "nargs"} & setting.argparse_options.keys()
)


class Option(NamedTuple):
    """One option, or one word that is no known option."""

    flag: str
    value: str | None
    words: Sequence[str]


def combined(old: Sequence[str], new: Sequence[str], defaults: Sequence[str] = ()) -> list[str]:
    """The old words with the new options in them. A default is added only if neither has that option."""
    kept, wanted = _parsed(old), {option.flag: option for option in _parsed(new)}
    replaced = [_replaced(option, wanted.get(option.flag, option)) for option in kept]
    known = {option.flag for option in kept}
    added = [option for flag, option in wanted.items() if flag not in known]
    missing = [option for option in _parsed(defaults) if option.flag not in known | wanted.keys()]
    return [word for option in (*replaced, *added, *missing) for word in option.words]


def relative(words: Sequence[str], folder: str, prefix: str) -> list[str]:
    """The same words; paths below the folder begin with the prefix instead."""
    return [word for option in _parsed(words) for word in _relative(option, f"{folder}/", prefix)]


def value(words: Sequence[str], flag: str) -> str | None:
    """The last one counts, as it does for the server."""
    return next((option.value for option in reversed(_parsed(words)) if option.flag == flag), None)


def has_time_limit(words: Sequence[str]) -> bool:
    return value(words, "--timeout") is not None


def time_limit(words: Sequence[str], default: int) -> int:
    """The server's time limit for a call, in seconds."""
    typed = value(words, "--timeout") or ""
    return int(typed) if typed.isdecimal() else default


def shown(words: Sequence[str]) -> str:
    """The options without root and without passwords. Unknown words are left out: they may be secrets."""
    options = [option for option in _parsed(words) if option.flag in _FLAGS - {"--root"}]
    return " ".join(option.flag if option.value is None else f"{option.flag}={_shown(option)}" for option in options)


def _parsed(words: Sequence[str]) -> list[Option]:
    options, rest = list[Option](), list(words)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        following = [rest.pop(0)] if flag in _WITH_VALUE and not equals and rest else []
        options.append(Option(flag, value if equals else "".join(following) or None, [word, *following]))
    return options


def _replaced(old: Option, new: Option) -> Option:
    """The same value in the other form is no change."""
    return old if old.value == new.value else new


def _relative(option: Option, folder: str, prefix: str) -> list[str]:
    if option.value is None or not option.value.startswith(folder):
        return list(option.words)
    value = prefix + option.value.removeprefix(folder)
    return [f"{option.flag}={value}"] if len(option.words) == 1 else [option.flag, value]


def _shown(option: Option) -> str:
    value = option.value or ""
    return NOT_SHOWN if option.flag == "--history" and history.has_password(value) else value
