"""The operator's decisions: flags and environment in, one frozen `Config` out, or a ConfigError.

Nothing here can be changed by a call. Which interpreter is used is decided in `interpreter`.
The client's first answer waits for this module: named tuples, as `dataclasses` takes a quarter of such a start.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from pytest_mcp.config import endpoint
from pytest_mcp.config.endpoint import Endpoint

# Every variable of ours begins with this; none of them reaches a child.
PREFIX = "PYTEST_MCP_"
# The one setting without a flag: every process of a machine can read the others' command lines.
TOKEN = f"{PREFIX}TOKEN"

# Below the 300 seconds at which several clients give up, so that a partial answer still arrives.
DEFAULT_TIMEOUT = 240
MAX_TIMEOUT = 3600
LONGEST_TIMEOUT = 86_400
# What an answer may cost, in tokens: of a call that names no limit, and the least and the most that one can name.
EXECUTE_TOKENS = 4_000
DISCOVER_TOKENS = 8_000
LEAST_TOKENS = 500
MAX_TOKENS = 1_000_000
# The largest answer, whatever a call asks for.
MAX_REPLY_BYTES = 16 * 1024 * 1024
LEAST_REPLY_BYTES = 64 * 1024

ErrorStyle = Literal["jsonrpc", "result"]
LogLevel = Literal["debug", "info", "warning", "error"]


class ConfigError(Exception):
    """A setting of the operator's that cannot be used; the message is one sentence for a person."""


class NoProject(ConfigError):
    """Everything else is right, but the folder is a home folder or the root of the file system."""


class Bounds(NamedTuple):
    """What the operator has decided and a request is checked against."""

    root: Path
    max_timeout: int
    max_tokens: int
    # For a call that names none.
    execute_tokens: int = EXECUTE_TOKENS
    discover_tokens: int = DISCOVER_TOKENS


class Config(NamedTuple):
    root: Path
    python: Path | None
    default_timeout: int
    max_timeout: int
    max_runs: int
    execute_tokens: int
    discover_tokens: int
    most_tokens: int
    max_reply_bytes: int
    errors: ErrorStyle
    spare: bool
    log_level: LogLevel
    endpoint: Endpoint | None
    # Without our own variables: a token is among them.
    environment: Mapping[str, str]

    @property
    def bounds(self) -> Bounds:
        return Bounds(
            root=self.root,
            max_timeout=self.max_timeout,
            max_tokens=self.most_tokens,
            execute_tokens=self.execute_tokens,
            discover_tokens=self.discover_tokens,
        )


def configure(
    *,
    root: str | None,
    python: str | None,
    timeout: int,
    max_timeout: int,
    max_runs: int,
    max_tokens: int | None = None,
    discover_max_tokens: int | None = None,
    most_tokens: int = MAX_TOKENS,
    max_reply_bytes: int = MAX_REPLY_BYTES,
    errors: ErrorStyle,
    no_spare: bool = False,
    log_level: LogLevel = "warning",
    http: str | None = None,
    token_file: str | None = None,
    allowed_hosts: str | None = None,
    environment: Mapping[str, str],
) -> Config:
    """Check the operator's settings against each other and the file system."""
    if not 1 <= max_timeout <= LONGEST_TIMEOUT:
        raise ConfigError(f"--max-timeout must be between 1 and {LONGEST_TIMEOUT} seconds.")
    _check_choice("--errors", errors, get_args(ErrorStyle))
    _check_choice("--log-level", log_level, get_args(LogLevel))
    if max_runs < 1:
        raise ConfigError("--max-runs must be at least 1.")
    if not LEAST_TOKENS <= most_tokens <= MAX_TOKENS:
        raise ConfigError(f"--most-tokens must be between {LEAST_TOKENS} and {MAX_TOKENS}.")
    if max_reply_bytes < LEAST_REPLY_BYTES:
        raise ConfigError(f"--max-reply-bytes must be at least {LEAST_REPLY_BYTES}.")
    if timeout < 1:
        raise ConfigError("--timeout must be at least 1 second.")
    return Config(
        root=_usable_root(root),
        # Not resolved: a virtual environment's python is a link, and means something only as that link.
        python=Path.cwd() / _expanded(python) if python else None,
        default_timeout=min(timeout, max_timeout),
        max_timeout=max_timeout,
        max_runs=max_runs,
        execute_tokens=_usual_tokens("--max-tokens", max_tokens, EXECUTE_TOKENS, most_tokens),
        discover_tokens=_usual_tokens("--discover-max-tokens", discover_max_tokens, DISCOVER_TOKENS, most_tokens),
        most_tokens=most_tokens,
        max_reply_bytes=max_reply_bytes,
        errors=errors,
        spare=not no_spare,
        log_level=log_level,
        endpoint=_endpoint(http, token_file, allowed_hosts, environment),
        environment={name: value for name, value in environment.items() if not name.startswith(PREFIX)},
    )


def _check_choice(flag: str, value: str, choices: tuple[str, ...]) -> None:
    # A default that comes from a variable is not checked by argparse.
    if value not in choices:
        raise ConfigError(f"{flag} must be one of {', '.join(choices)}.")


def _usual_tokens(flag: str, given: int | None, usual: int, most: int) -> int:
    """What was not said adapts to the ceiling; what was said must keep to it."""
    if given is None:
        return min(usual, most)
    if not LEAST_TOKENS <= given <= most:
        raise ConfigError(f"{flag} must be between {LEAST_TOKENS} and {most}, the value of --most-tokens.")
    return given


def _endpoint(
    http: str | None, token_file: str | None, allowed_hosts: str | None, environment: Mapping[str, str]
) -> Endpoint | None:
    if not http:
        return None
    try:
        return endpoint.settle(http, token=environment.get(TOKEN), token_file=token_file, allowed_hosts=allowed_hosts)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _expanded(given: str) -> Path:
    try:
        return Path(given).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{given} names a home folder that does not exist.") from error


def _home() -> Path | None:
    """None for a user without one, as in many containers."""
    try:
        return Path.home().resolve()
    except RuntimeError:
        return None


def _usable_root(given: str | None) -> Path:
    try:
        root = (_expanded(given) if given else Path.cwd()).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"The project root {given or '(the current folder)'} does not exist.") from error
    if not root.is_dir():
        raise ConfigError(f"The project root {root} is not a folder.")
    if not os.access(root, os.R_OK | os.X_OK):
        raise ConfigError(f"The project root {root} may not be read by this user.")
    if root == Path(root.anchor) or root == _home():
        raise NoProject(f"{root} is no project. Start pytest-mcp in a project's folder or name one with --root.")
    return root
