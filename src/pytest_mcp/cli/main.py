"""The command line: `pytest-mcp` without a command serves; every command has a module in `commands`.

What a flag of the server means is decided in `config/options.py` and `config/model.py`.
"""

import argparse
import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, cast

from pytest_mcp import __version__
from pytest_mcp.config.endpoint import Endpoint
from pytest_mcp.config.model import PREFIX, Config, ConfigError, NoProject, home
from pytest_mcp.config.options import SETTINGS, LoadConfig, load
from pytest_mcp.process import signals
from pytest_mcp.server import fast_start
from pytest_mcp.terminal.output import MISUSE, USAGE_ERROR, open_closed_streams, print_message

if TYPE_CHECKING:
    from socket import socket


class CliCommand(NamedTuple):
    # In one line of the help.
    summary: str
    # Whether its exit code for a usage error is pytest's; otherwise it is argparse's.
    like_pytest: bool = True
    # Whether it is for people, who may type it anywhere inside a project.
    in_project: bool = True
    # Whether it executes code of the project.
    runs_tests: bool = True
    # Whether people type pytest's flags for it.
    has_flags_of_pytest: bool = False


# Each has a module in `commands`.
COMMANDS = {
    "run": CliCommand("run tests and print a report for people", has_flags_of_pytest=True),
    "discover": CliCommand("list tests", has_flags_of_pytest=True),
    "merge": CliCommand("make one answer of the answers of `run --shard`", in_project=False),
    "check": CliCommand("check whether the tests prove this change"),
    "investigate": CliCommand("find why a test fails: always, sometimes, by order or an old bug"),
    "history": CliCommand("list from recorded runs what is flaky, slower or failing", runs_tests=False),
    "call": CliCommand("call one tool and print the reply that a client gets", like_pytest=False, in_project=False),
    "setup": CliCommand(
        "add the server to the MCP clients on this machine, or remove it", like_pytest=False, runs_tests=False
    ),
    "hook": CliCommand(
        "answer an agent that types pytest into its shell with advice", like_pytest=False, in_project=False
    ),
    "doctor": CliCommand("check whether the server works and the project's tests can run", like_pytest=False),
}
DESCRIPTION = """\
An MCP server that lets AI agents discover and run this project's tests, and
nothing else. Clients start it without a command; people type one of these:

{commands}

`pytest-mcp COMMAND --help` says more. The options below are the server's."""
# Its value may be left out, and has to be typed behind `=`, or the next word would be taken for it.
OPTIONAL_VALUE = "--changed"
# Has no effect any more, and entries of clients may still have it.
GONE = "--history-map"
# How our parser takes what people type; two are pytest's.
_AS_TYPED = {OPTIONAL_VALUE: f"{OPTIONAL_VALUE}=", "--color=yes": "--color", "--color=no": "--no-color"}
_UNKNOWN = "unrecognized arguments: "
# Connections that the system accepts before the server does.
BACKLOG = 128


class CommandModule(Protocol):
    """The interface of a module in `commands`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def main(self, options: argparse.Namespace, load_config: LoadConfig) -> int: ...


def main(arguments: Sequence[str] | None = None) -> int:
    open_closed_streams()
    # The default action ends the process at once; its supervisors then end everything that it started. SIGHUP is not
    # restored: nohup ignores it on purpose.
    signals.restore((signal.SIGINT, signal.SIGTERM, signal.SIGCHLD))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    environment = dict(os.environ)
    typed = [word for word in (sys.argv[1:] if arguments is None else arguments) if word != GONE]
    options = _parser(typed, environment).parse_args(typed)
    load_config = partial(_load, options, environment)
    try:
        if options.command is None:
            return _serve(load_config())
        code = _module(options.command).main(options, load_config)
    except ConfigError as error:
        print_message(str(error))
        return _misuse(options.command)
    if arguments is None:
        _exit(code)
    return code


def _misuse(command: str | None) -> int:
    return USAGE_ERROR if command and COMMANDS[command].like_pytest else MISUSE


def _exit(code: int) -> NoReturn:
    """Without tearing down every module, which takes as long as importing some of them."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _load(options: argparse.Namespace, environment: Mapping[str, str]) -> Config:
    command = COMMANDS.get(options.command)
    if command is None or not command.in_project:
        return load(options, environment)  # each call of a server, and `call`, checks its root
    # Imported here, as below: the server does not need it.
    from pytest_mcp.python import project_root

    root = options.root or project_root.of_working_directory(home())
    config = load(argparse.Namespace(**{**vars(options), "root": root}), environment)
    if root is not None and not options.root and root != Path.cwd():
        print_message(f"the project is {root}")
    if not command.runs_tests:
        return config
    if (refusal := project_root.refusal(config.root)) is not None:
        raise NoProject(refusal)
    return _in_workspace(config)


def _in_workspace(config: Config) -> Config:
    """A person who stands in a member of a workspace means the environment that the workspace has above it."""
    from pytest_mcp.python import interpreter, project_root, virtualenv

    shared = None if config.python is not None else project_root.shared_environment(config.root)
    if shared is None or any(each.problem is None for each in interpreter.visible(config, config.root)):
        return config
    print_message(f"the environment is that of the workspace, {shared}")
    return config._replace(python=virtualenv.python(shared))


def _parser(typed: Sequence[str], environment: Mapping[str, str]) -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:13}{command.summary}" for name, command in COMMANDS.items())
    parser = _Parser(
        prog="pytest-mcp",
        usage="pytest-mcp [OPTIONS] [COMMAND ...]",
        description=DESCRIPTION.format(commands=listed),
        epilog=f"Every option can also be set by a variable: {PREFIX}ROOT and so on.",
        allow_abbrev=False,
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="version", version=f"pytest-mcp {__version__}")
    for setting in SETTINGS:
        setting.add_to(parser, environment)
    commands = parser.add_subparsers(
        prog=parser.prog,
        dest="command",
        metavar="COMMAND",
        help=argparse.SUPPRESS,  # the description lists them
        parser_class=_CommandParser,
    )
    for name in COMMANDS:
        command = _add_command(commands, name, is_typed=name in typed)
        parser.misuse = command.misuse if name in typed else parser.misuse
    return parser


def _add_command(commands: Any, name: str, *, is_typed: bool) -> "_CommandParser":
    """Only what is typed gets its arguments, because they are in a module of its own."""
    parser: _CommandParser = commands.add_parser(
        name,
        description=f"{COMMANDS[name].summary[0].upper()}{COMMANDS[name].summary[1:]}.",
        epilog="The options of pytest-mcp itself are accepted here too, unless this\ncommand has one of that name.",
        allow_abbrev=False,
        formatter_class=_Formatter,
        # The command's own options are added later and replace ours.
        conflict_handler="resolve",
    )
    if is_typed:
        for setting in SETTINGS:
            setting.add_to_command(parser)
        _module(name).add_arguments(parser)
        parser.misuse, parser.has_flags_of_pytest = _misuse(name), COMMANDS[name].has_flags_of_pytest
    return parser


class _Parser(argparse.ArgumentParser):
    misuse = MISUSE
    has_flags_of_pytest = False

    def error(self, message: str) -> NoReturn:
        """Without the usage, which has a dozen lines."""
        from pytest_mcp.cli import pytest_flags

        unknown = message.removeprefix(_UNKNOWN).partition(" ")[0] if message.startswith(_UNKNOWN) else ""
        known = self._option_string_actions
        advice = pytest_flags.advice_on_unknown(unknown, known, like_pytest=self.has_flags_of_pytest)
        self.exit(self.misuse, f"{self.prog}: error: {message}{advice}\nSee {self.prog} --help.\n")


class _CommandParser(_Parser):
    """Accepts options and positional arguments in any order, as pytest does."""

    is_intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # Called by the main parser, and then again by parse_intermixed_args.
        if self.is_intermixed:
            return super().parse_known_args(args, namespace)
        self.is_intermixed = True
        args = [_AS_TYPED.get(word, word) for word in args]
        return self.parse_intermixed_args(args, namespace), []


def _module(name: str) -> CommandModule:
    # While modules are imported there is no garbage, and looking for it takes a tenth of that time.
    gc.set_threshold(50_000)
    return cast("CommandModule", import_module(f"pytest_mcp.cli.commands.{name}"))


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        # A fixed width: argparse creates a formatter for every flag, and finding the terminal's width imports a lot.
        super().__init__(prog, width=78)

    def format_help(self) -> str:
        return super().format_help().replace(f"{OPTIONAL_VALUE} [", f"{OPTIONAL_VALUE}[=")


def _serve(config: Config) -> int:
    if config.endpoint is not None and config.endpoint.metrics:
        _extra("--metrics", "metrics", "pytest_mcp.server.metrics")
    if config.traces:
        _extra("--traces", "otel", "pytest_mcp.server.open_telemetry").start()
    return _serve_stdio(config) if config.endpoint is None else _serve_http(config, config.endpoint)


def _extra(flag: str, extra: str, module: str) -> Any:
    """A module of ours that needs the packages of an extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(f'{flag} needs {error.name}: install "pytest-mcp-server[{extra}]".') from error


def _serve_stdio(config: Config) -> int:
    if sys.stdin.isatty():
        print_message("waiting for an MCP client on stdin; press Ctrl-C to stop, see --help for the commands")
    handover = fast_start.greet(
        sys.stdin.fileno(),
        sys.stdout.fileno(),
        has_history=config.history is not None,
        has_tasks=config.task_after is not None,
        app=config.app,
    )
    if handover is not None:
        _hand_over(config, handover)
    return 0


def _hand_over(config: Config, handover: "fast_start.Handover") -> None:
    # Imported here: the SDK takes most of a second to import, and a client's first requests are answered without it.
    import anyio

    from pytest_mcp.process import process
    from pytest_mcp.server import logs, telemetry
    from pytest_mcp.server.app import serve_stdio

    logs.set_up(config.log_level)
    process.prepare()
    with telemetry.lifetime(transport="stdio", root=str(config.root)):
        try:
            anyio.run(serve_stdio, config, handover)
        except* BrokenPipeError:
            pass  # the client has closed its end, which is not an error


def _serve_http(config: Config, endpoint: Endpoint) -> int:
    # Before the slow imports, so that a port in use is told at once.
    bound = listen(endpoint)
    import anyio

    from pytest_mcp.process import process
    from pytest_mcp.server import http_server, logs, telemetry
    from pytest_mcp.server.http_guard import PATH

    host, port = bound.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"
    print_message(f"serving {config.root} on {url}")
    logs.set_up(config.log_level)
    process.prepare()
    with telemetry.lifetime(transport="http", root=str(config.root), url=url):
        anyio.run(http_server.serve, config, endpoint, bound)
    return 0


def listen(endpoint: Endpoint) -> "socket":
    """The socket that the server listens on."""
    from socket import AF_INET, AF_INET6, create_server

    family = AF_INET6 if ":" in endpoint.host else AF_INET
    try:
        return create_server((endpoint.host, endpoint.port), family=family, backlog=BACKLOG)
    except UnicodeError:
        why = "not a valid host name"
    except OSError as error:
        # Not str(error), which repeats the address. For an unknown name, errno is not one that strerror knows.
        number = error.errno or 0
        why = os.strerror(number) if number > 0 else str(error.strerror)
    raise ConfigError(f"Cannot serve on {endpoint.host}:{endpoint.port}: {why}.")
