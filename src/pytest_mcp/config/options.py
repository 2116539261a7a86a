"""The command-line flags of the operator's settings: one row for each, with its flag, variable and help text.

Defaults and limits are in `model`. This module is imported before the server's first answer, so it uses only the
standard library.
"""

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

from pytest_mcp.config import endpoint
from pytest_mcp.config.model import (
    DEFAULT_TIMEOUT,
    DISCOVER_TOKENS,
    EXECUTE_TOKENS,
    PREFIX,
    AppChoice,
    Config,
    ErrorStyle,
    LogLevel,
    Options,
    configure,
)

# A command calls this if it needs a project.
LoadConfig = Callable[[], Config]

# The values of an environment variable for a flag without a value.
SWITCH = {"": False, "0": False, "false": False, "1": True, "true": True}


class Setting(NamedTuple):
    """One setting of the operator: a flag, a variable and a field of `Options`, all with the same name."""

    name: str
    help: str
    # Further arguments for argparse; `{"action": "store_true"}` makes a switch.
    argparse_options: Mapping[str, Any]
    # Accepted and documented, but not listed by --help.
    is_hidden: bool = False

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def default(self) -> Any:
        return Options._field_defaults[self.name]

    def add_to(self, parser: argparse.ArgumentParser, environment: Mapping[str, str]) -> None:
        # argparse parses a default that is a string like a typed value, and refuses it with the same message.
        default = environment.get(self.variable, self.default)
        listed = argparse.SUPPRESS if self.is_hidden else self.help
        action = parser.add_argument(self.flag, help=listed, default=default, **self.argparse_options)
        if action.nargs == 0:
            action.type = _switch

    def add_to_command(self, command: argparse.ArgumentParser) -> None:
        """Accept the same flag after a command's name. It overrides the value that was typed before the command."""
        command.add_argument(self.flag, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **self.argparse_options)

    def as_flags(self, value: Any) -> list[str]:
        """This value as it would be typed."""
        if isinstance(value, bool):
            return [self.flag] * value
        return [] if value is None else [f"{self.flag}={value}"]


def _switch(text: str) -> bool:
    if text.lower() not in SWITCH:
        raise argparse.ArgumentTypeError(f"{text!r} must be 1 or 0")
    return SWITCH[text.lower()]


_SECONDS = {"type": int, "metavar": "SECONDS"}
_COUNT = {"type": int, "metavar": "N"}
_FILE = {"metavar": "FILE"}
_SWITCH = {"action": "store_true"}
SETTINGS = (
    Setting("root", "the project's folder (default: the current folder)", {"metavar": "FOLDER"}),
    Setting("python", "the project's Python, a path or a name on PATH (default: that of its environment)", _FILE),
    Setting(
        "timeout",
        f"time limit of calls that set none (default: {DEFAULT_TIMEOUT}, for `pytest-mcp run` that of --max-timeout)",
        _SECONDS,
    ),
    Setting("max_timeout", "longest time limit that a call may set (default: %(default)s)", _SECONDS),
    Setting(
        "task_after",
        "answer a call that takes longer with a task, to a client that has tasks; never: wait (default: %(default)s)",
        {"metavar": "SECONDS"},
    ),
    Setting("max_runs", "how many calls run at the same time (default: the number of cores)", _COUNT),
    Setting("max_workers", "most pytest-xdist workers of one call (default: the number of cores)", _COUNT),
    Setting("max_memory", "memory of each process of a run, as 512M or 2G (default: no limit)", {"metavar": "SIZE"}),
    Setting("max_tokens", f"size limit of an execute_tests answer, in tokens (default: {EXECUTE_TOKENS})", _COUNT),
    Setting("discover_max_tokens", f"the same for discover_tests (default: {DISCOVER_TOKENS})", _COUNT),
    Setting("most_tokens", "largest max_tokens that a call may set (default: %(default)s)", _COUNT),
    Setting("max_reply_bytes", "size limit of every answer, in bytes (default: %(default)s)", _COUNT, is_hidden=True),
    Setting(
        "errors",
        "answer failed calls with JSON-RPC errors, or with results marked isError, for clients that hide JSON-RPC"
        " errors from the model (default: %(default)s)",
        {"choices": get_args(ErrorStyle)},
    ),
    Setting(
        "app",
        "offer the page of a run to clients that announce MCP Apps, to every client or to none (default: %(default)s)",
        {"choices": get_args(AppChoice)},
    ),
    Setting("no_spare", "do not start a process ahead of the next call", _SWITCH),
    Setting("no_share", "do not share the cores of this machine with other servers and commands", _SWITCH),
    Setting("no_values", "show no values of variables", _SWITCH),
    Setting(
        "log_level",
        "which messages are logged to stderr, as JSON lines (default: %(default)s; info logs every call)",
        {"choices": get_args(LogLevel)},
    ),
    Setting(
        "http",
        "serve HTTP instead of stdio (without a value: %(const)s)",
        {"nargs": "?", "const": endpoint.DEFAULT, "metavar": "HOST:PORT"},
    ),
    Setting("token_file", "file with the token of HTTP clients; or set PYTEST_MCP_TOKEN to the token", _FILE),
    Setting("allowed_hosts", "host names of this server for HTTP clients, separated by commas", {"metavar": "NAMES"}),
    Setting("metrics", "serve /metrics for Prometheus; HTTP only, needs the extra `metrics`", _SWITCH),
    Setting("traces", "send traces to OTEL_EXPORTER_OTLP_ENDPOINT; needs the extra `otel`", _SWITCH),
    Setting("history", "record every run in this SQLite file or PostgreSQL database", {"metavar": "FILE|URL"}),
    Setting(
        "history_keep",
        "how long every run is kept; of older ones only trends are (default: %(default)s)",
        {"type": int, "metavar": "DAYS"},
    ),
    Setting("history_max_bytes", "size limit of the history, in bytes (default: %(default)s)", _COUNT),
)

# Only for the HTTP server, which no command starts.
_HTTP_SETTINGS = ("http", "token_file", "allowed_hosts", "metrics")


def load(options: argparse.Namespace, environment: Mapping[str, str]) -> Config:
    """The checked settings; raises ConfigError with a sentence for the operator."""
    return configure(Options(**{setting.name: getattr(options, setting.name) for setting in SETTINGS}), environment)


def typed_flags(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    """The settings from the command line; those from variables apply to the next command anyway."""
    return _flags(options, lambda setting, value: str(value) != str(environment.get(setting.variable, setting.default)))


def server_flags(options: argparse.Namespace, config: Config) -> list[str]:
    """The same settings for a server on stdio. It may be started in another folder, so paths are absolute."""
    return _flags(options, lambda *_: True, root=config.root, python=config.python, history=None)


def changed_flags(options: argparse.Namespace, config: Config | None) -> list[str]:
    """The settings that differ from their default, without root, for a server that an MCP client starts."""
    known = {"history": None} if config is None else {"python": config.python, "history": _public_address(config)}
    return _flags(options, lambda setting, value: value != setting.default, root=None, **known)


def _flags(options: argparse.Namespace, is_wanted: Callable[[Setting, Any], bool], **instead: Any) -> list[str]:
    values = vars(options) | instead
    return [
        flag
        for setting in SETTINGS
        if setting.name not in _HTTP_SETTINGS and is_wanted(setting, value := values[setting.name])
        for flag in setting.as_flags(value)
    ]


def _public_address(config: Config) -> str | None:
    """The address of the history, unless it has a password: others may read the file that would contain it."""
    if config.history is None:
        return None
    # Who records nothing does not load it.
    from pytest_mcp.config import history  # noqa: PLC0415

    return None if history.has_password(config.history.address) else config.history.address
