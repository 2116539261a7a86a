"""The operator's settings, checked against each other and the file system. No call can change them.

This module is imported before the client's first answer. So it uses named tuples: importing `dataclasses` takes a
quarter of such a start.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from pytest_mcp.config import cores, endpoint
from pytest_mcp.config.endpoint import Endpoint

# Every variable of ours begins with this; none of them is passed to a child.
PREFIX = "PYTEST_MCP_"
# The only setting without a flag: every process of a machine can read the command lines of the others.
TOKEN_VARIABLE = f"{PREFIX}TOKEN"
# May contain a password, which the flag may not.
HISTORY_VARIABLE = f"{PREFIX}HISTORY"

# Below the 300 seconds after which several clients stop waiting, so that a partial answer still arrives.
DEFAULT_TIMEOUT = 240
TIMEOUT_CEILING = 86_400
# A call that is not answered by then becomes a task, for a client that has tasks. It is short for an agent, and longer
# than most runs of chosen tests.
TASK_AFTER = "20"
NEVER = "never"
# The size limit of an answer in tokens, for calls without max_tokens.
EXECUTE_TOKENS = 4_000
DISCOVER_TOKENS = 8_000
# The smallest and largest max_tokens of a call.
LEAST_TOKENS = 500
MAX_TOKENS = 1_000_000
# The size limit of every answer, and the smallest value that an operator can set it to.
MAX_REPLY_BYTES = 16 * 1024 * 1024
LEAST_REPLY_BYTES = 64 * 1024
# The most parts that a suite can be divided into.
MAX_SHARDS = 10_000

# How long the history keeps every run, and how many bytes it may take: about ten million results of tests.
HISTORY_DAYS = 90
HISTORY_BYTES = 1024**3
# "pmch": SQLite's application_id, by which a file is known to be a history.
HISTORY_ID = 0x706D6368

# The cores that this process may use, and the most workers of one run.
CORES = cores.usable()
MAX_WORKERS = 64

_UNITS = {"G": 1024**3, "M": 1024**2, "K": 1024, "": 1}
# Python and pytest with a few plugins need half of it before the first test.
LEAST_MEMORY = 64 * 1024**2
# Beyond what systems take, and no limit for anybody.
MAX_MEMORY = 1024**5

ErrorStyle = Literal["jsonrpc", "result"]
LogLevel = Literal["debug", "info", "warning", "error"]
# To which clients the page is offered; auto: to those that announce MCP Apps.
AppChoice = Literal["auto", "always", "never"]

# The smallest and the largest value of each setting that is a number.
_BOUNDS = {
    "timeout": (1, None),
    "max_timeout": (1, TIMEOUT_CEILING),
    "max_runs": (1, None),
    "max_workers": (1, MAX_WORKERS),
    "max_tokens": (LEAST_TOKENS, None),
    "discover_max_tokens": (LEAST_TOKENS, None),
    "most_tokens": (LEAST_TOKENS, MAX_TOKENS),
    "max_reply_bytes": (LEAST_REPLY_BYTES, None),
    "history_keep": (1, 36_500),
    "history_max_bytes": (1024**2, None),
}
# What a server uses as it was given.
_UNCHANGED = (
    *("max_timeout", "max_runs", "max_workers", "most_tokens", "max_reply_bytes"),
    *("errors", "log_level", "app", "traces"),
)
_CHOICES = {"errors": get_args(ErrorStyle), "app": get_args(AppChoice), "log_level": get_args(LogLevel)}


class ConfigError(Exception):
    """A setting that cannot be used; the message is one sentence for the operator."""


class NoProject(ConfigError):
    """The project root is a folder that nothing is run in, such as a home folder; all other settings are valid."""


class Options(NamedTuple):
    """The operator's settings as they were given, by flag or variable, with the defaults of the others."""

    root: str | None = None
    python: str | None = None
    # None: DEFAULT_TIMEOUT for a client, and max_timeout for `pytest-mcp run`.
    timeout: int | None = None
    max_timeout: int = 3600
    task_after: str = TASK_AFTER
    max_runs: int = CORES
    max_workers: int = min(CORES, MAX_WORKERS)
    max_memory: str | None = None
    max_tokens: int | None = None
    discover_max_tokens: int | None = None
    most_tokens: int = MAX_TOKENS
    max_reply_bytes: int = MAX_REPLY_BYTES
    errors: ErrorStyle = "jsonrpc"
    app: AppChoice = "auto"
    no_spare: bool = False
    no_share: bool = False
    no_values: bool = False
    log_level: LogLevel = "warning"
    http: str | None = None
    token_file: str | None = None
    allowed_hosts: str | None = None
    metrics: bool = False
    traces: bool = False
    history: str | None = None
    history_keep: int = HISTORY_DAYS
    history_max_bytes: int = HISTORY_BYTES


class Bounds(NamedTuple):
    """The operator's limits that a request is checked against."""

    root: Path
    max_timeout: int
    max_tokens: int
    # For calls without max_tokens.
    execute_tokens: int = EXECUTE_TOKENS
    discover_tokens: int = DISCOVER_TOKENS


class Shard(NamedTuple):
    """Which part of a suite is run, from 1 to `of`, and the commit that it is a part of, if that is known."""

    number: int
    of: int
    commit: str | None


class History(NamedTuple):
    """Where runs are recorded, and for how long. The address can contain a password, so it is not shown."""

    address: str
    keep_days: int = HISTORY_DAYS
    max_bytes: int = HISTORY_BYTES

    def __repr__(self) -> str:
        return f"History(hidden, keep_days={self.keep_days}, max_bytes={self.max_bytes})"


class Config(NamedTuple):
    root: Path
    python: Path | None
    default_timeout: int
    # The same for a client that has tasks: it does not wait for the answer.
    task_timeout: int
    max_timeout: int
    # None: no call becomes a task.
    task_after: int | None
    max_runs: int
    max_workers: int
    execute_tokens: int
    discover_tokens: int
    most_tokens: int
    max_reply_bytes: int
    errors: ErrorStyle
    spare: bool
    log_level: LogLevel
    endpoint: Endpoint | None
    # Without our own variables, one of which is a token.
    environment: Mapping[str, str]
    # Only `pytest-mcp run` sets these three: the part that is run, options that a person typed for pytest itself, and
    # files that the command writes.
    shard: Shard | None = None
    pytest_options: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    history: History | None = None
    app: AppChoice = "auto"
    traces: bool = False
    # Bytes, for each process of a run.
    max_memory: int | None = None
    # Whether answers have values of the program's variables.
    shows_values: bool = True
    # Whether calls wait for a core that no other server or command of this user has.
    shares: bool = False

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.root, self.max_timeout, self.most_tokens, self.execute_tokens, self.discover_tokens)


def configure(given: Options, environment: Mapping[str, str]) -> Config:
    """Check the operator's settings against each other and the file system."""
    _check_limits(given)
    return Config(
        **{name: getattr(given, name) for name in _UNCHANGED},
        root=_usable_root(given.root),
        python=_python(given.python, environment.get("PATH")) if given.python else None,
        default_timeout=_usual(given, "timeout", DEFAULT_TIMEOUT, "max_timeout"),
        task_timeout=given.timeout or given.max_timeout,
        task_after=_task_after(given.task_after),
        execute_tokens=_usual(given, "max_tokens", EXECUTE_TOKENS, "most_tokens"),
        discover_tokens=_usual(given, "discover_max_tokens", DISCOVER_TOKENS, "most_tokens"),
        spare=not given.no_spare,
        endpoint=_endpoint(given, environment),
        environment={name: value for name, value in environment.items() if not name.startswith(PREFIX)},
        history=_history(given, environment),
        max_memory=parse_memory(given.max_memory) if given.max_memory else None,
        shows_values=not given.no_values,
        shares=not given.no_share,
    )


def _check_limits(given: Options) -> None:
    for name, (least, most) in _BOUNDS.items():
        value = getattr(given, name)
        if value is not None and not least <= value <= (most or value):
            bounds = f"at least {least}" if most is None else f"between {least} and {most}"
            raise ConfigError(f"{_flag(name)} must be {bounds}.")
    # argparse does not check a default that comes from a variable.
    for name, choices in _CHOICES.items():
        if getattr(given, name) not in choices:
            raise ConfigError(f"{_flag(name)} must be one of {', '.join(choices)}.")


def _task_after(given: str) -> int | None:
    if given == NEVER:
        return None
    if not re.fullmatch("[0-9]{1,5}", given, re.ASCII) or int(given) > TIMEOUT_CEILING:
        raise ConfigError(f"--task-after must be a number of seconds up to {TIMEOUT_CEILING}, or {NEVER}.")
    return int(given)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def parse_memory(given: str) -> int:
    """What `--max-memory` names, in bytes."""
    written = re.fullmatch(r"([1-9][0-9]{0,14})([KMG]?)", given.upper(), re.ASCII)
    size = int(written[1]) * _UNITS[written[2]] if written else 0
    if not LEAST_MEMORY <= size <= MAX_MEMORY:
        bounds = f"from {shown_memory(LEAST_MEMORY)} to {shown_memory(MAX_MEMORY)}"
        raise ConfigError(f"--max-memory must be a number of bytes, or of K, M or G, {bounds}.")
    return size


def shown_memory(size: int) -> str:
    """In the largest unit that needs no fraction."""
    unit = next(unit for unit, factor in _UNITS.items() if size % factor == 0)
    return f"{size // _UNITS[unit]}{unit}"


def _usual(given: Options, name: str, default: int, most_name: str) -> int:
    """For calls that set no limit. Our default is lowered to the most; a given value above the most is refused."""
    most: int = getattr(given, most_name)
    value: int | None = getattr(given, name)
    if value is not None and value > most:
        raise ConfigError(f"{_flag(name)} must be at most {most}, the value of {_flag(most_name)}.")
    return min(default, most) if value is None else value


def _endpoint(given: Options, environment: Mapping[str, str]) -> Endpoint | None:
    if not given.http:
        return None
    token = environment.get(TOKEN_VARIABLE)
    try:
        parsed = endpoint.parse(given.http, token=token, token_file=given.token_file, allowed_hosts=given.allowed_hosts)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return parsed._replace(metrics=given.metrics)


def _history(given: Options, environment: Mapping[str, str]) -> History | None:
    if not given.history:
        return None
    # Who records nothing does not load it.
    from pytest_mcp.config import history  # noqa: PLC0415

    try:
        address = history.parse(given.history, from_variable=given.history == environment.get(HISTORY_VARIABLE))
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return History(address, given.history_keep, given.history_max_bytes)


def _expanded(given: str) -> Path:
    try:
        return Path(given).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{given} names a home folder that does not exist.") from error


def _python(given: str, search_path: str | None) -> Path:
    """A bare name is looked up on PATH, as a shell does.

    Not resolved: the python of a virtual environment is a symlink, and works only as that symlink.
    """
    if os.path.dirname(given) or given.startswith("~"):  # noqa: PTH120 - pathlib drops a leading ./
        return Path.cwd() / _expanded(given)
    # Imported here: the server's start is faster without it.
    import shutil  # noqa: PLC0415

    return Path.cwd() / (shutil.which(given, path=search_path or "") or given)


def home() -> Path | None:
    """None if the user has no home folder, as in many containers."""
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
        raise ConfigError(f"The project root {root} cannot be read: permission denied.")
    if root == Path(root.anchor) or root == home():
        raise NoProject(f"{root} is not a project. Start pytest-mcp in a project's folder or pass one with --root.")
    return root
