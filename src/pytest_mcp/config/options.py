"""The operator's settings as they are typed: one row for each, with its flag, its variable and its words.

In come a command line and the environment; out comes the `Config` that `model` makes of them. The server's
first answer waits for this module, so it needs the standard library alone.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

from pytest_mcp.config import endpoint
from pytest_mcp.config import model as config
from pytest_mcp.config.model import PREFIX, Config

# What a command calls when it needs a project: not every one does.
Settle = Callable[[], Config]

# What an environment variable may say in the place of a flag without a value.
SWITCH = {"": False, "0": False, "false": False, "1": True, "true": True}


class Setting(NamedTuple):
    """One decision of the operator's: a flag, a variable and a keyword of `configure`, all by one name."""

    name: str
    words: str
    # What argparse is told besides; `{"action": "store_true"}` makes a switch.
    more: Mapping[str, Any]

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def default(self) -> Any:
        return self.more.get("default", False if "action" in self.more else None)

    def add_to(self, parser: argparse.ArgumentParser, environment: Mapping[str, str]) -> None:
        action = parser.add_argument(self.flag, help=self.words, **self.more)
        # A default that is text is read as if it had been typed, and refused in the same words.
        action.default = environment.get(PREFIX + self.name.upper(), action.default)
        if action.nargs == 0:
            action.type = _switch

    def add_behind(self, command: argparse.ArgumentParser) -> None:
        """The same flag once more, behind a command's name; what was typed before it stands unless it is typed here."""
        more = {**self.more, "default": argparse.SUPPRESS, "help": argparse.SUPPRESS}
        command.add_argument(self.flag, **more)

    def said(self, value: Any) -> list[str]:
        """This value as it would be typed."""
        if isinstance(value, bool):
            return [self.flag] * value
        return [] if value is None else [f"{self.flag}={value}"]


def _switch(text: str) -> bool:
    if text.lower() not in SWITCH:
        raise argparse.ArgumentTypeError(f"{text!r} is neither 1 nor 0")
    return SWITCH[text.lower()]


_SECONDS = {"type": int, "metavar": "SECONDS"}
_COUNT = {"type": int, "metavar": "N"}
SETTINGS = (
    Setting("root", "the project's folder (default: the current one)", {"metavar": "FOLDER"}),
    Setting(
        "python", "the project's Python (default: its own environment, wherever that is kept)", {"metavar": "FILE"}
    ),
    Setting(
        "timeout",
        "time limit of a call that names none (default: %(default)s)",
        {**_SECONDS, "default": config.DEFAULT_TIMEOUT},
    ),
    Setting(
        "max_timeout",
        "longest time limit a call may name (default: %(default)s)",
        {**_SECONDS, "default": config.MAX_TIMEOUT},
    ),
    Setting(
        "max_runs",
        "how many calls run at once; the others wait in order (default: the number of cores)",
        {**_COUNT, "default": os.cpu_count() or 1},
    ),
    Setting(
        "max_tokens",
        "largest answer of execute_tests, in tokens, where a call names no limit"
        f" (default: {config.EXECUTE_TOKENS}, but never above --most-tokens)",
        _COUNT,
    ),
    Setting(
        "discover_max_tokens",
        f"the same for discover_tests (default: {config.DISCOVER_TOKENS}, but never above --most-tokens)",
        _COUNT,
    ),
    Setting(
        "most_tokens",
        "largest max_tokens that a call may name (default: %(default)s)",
        {**_COUNT, "default": config.MAX_TOKENS},
    ),
    Setting(
        "max_reply_bytes",
        "largest answer, whatever a call asks for (default: %(default)s)",
        {**_COUNT, "default": config.MAX_REPLY_BYTES},
    ),
    Setting(
        "errors",
        "answer failed calls as JSON-RPC errors, or as results marked isError for clients that hide those",
        {"choices": get_args(config.ErrorStyle), "default": "jsonrpc"},
    ),
    Setting("no_spare", "start no process ahead of the next call", {"action": "store_true"}),
    Setting(
        "log_level",
        "what is told on standard error, as lines of JSON (default: %(default)s; info has one for each call)",
        {"choices": get_args(config.LogLevel), "default": "warning"},
    ),
    Setting(
        "http",
        "serve on HTTP instead of stdio (without a value: %(const)s)",
        {"nargs": "?", "const": endpoint.DEFAULT, "metavar": "HOST:PORT"},
    ),
    Setting(
        "token_file",
        "the token that HTTP clients must show; or say it in PYTEST_MCP_TOKEN",
        {"metavar": "FILE"},
    ),
    Setting(
        "allowed_hosts",
        "the names under which HTTP clients reach this server, with commas between them",
        {"metavar": "NAMES"},
    ),
)

# What only a server on HTTP needs, which no command starts.
_OF_HTTP = ("http", "token_file", "allowed_hosts")


def settle(options: argparse.Namespace, environment: Mapping[str, str]) -> Config:
    """What was typed, checked; raises ConfigError with a sentence for a person."""
    return config.configure(
        **{setting.name: getattr(options, setting.name) for setting in SETTINGS}, environment=environment
    )


def as_typed(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    """What stands on the command line, as opposed to what holds in the next one too."""
    values = [(setting, getattr(options, setting.name)) for setting in SETTINGS if setting.name not in _OF_HTTP]
    return [
        flag
        for setting, value in values
        if str(value) != str(environment.get(PREFIX + setting.name.upper(), setting.more.get("default")))
        for flag in setting.said(value)
    ]


def repeated(options: argparse.Namespace, settled: Config) -> list[str]:
    """The same settings for a server on stdio, which may start in another folder: so with whole paths."""
    values = vars(options) | {"root": settled.root, "python": settled.python}
    values |= dict.fromkeys(_OF_HTTP)
    return [flag for setting in SETTINGS for flag in setting.said(values[setting.name])]


def chosen(options: argparse.Namespace, settled: Config | None) -> list[str]:
    """Only those that somebody typed or set, for a server that another program starts; the root is its matter."""
    values = vars(options) | ({"python": settled.python} if settled else {})
    others = [setting for setting in SETTINGS if setting.name not in ("root", *_OF_HTTP)]
    said = [setting for setting in others if values[setting.name] != setting.default]
    return [flag for setting in said for flag in setting.said(values[setting.name])]
