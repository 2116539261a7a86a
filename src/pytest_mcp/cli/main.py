"""What a person types: `pytest-mcp` alone serves on stdio, and every other command has a module in `commands`.

In come the command line and the environment; out comes an exit code. What a flag means is decided in
`config/options.py` and `config/model.py`.
"""

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, Protocol, cast

from pytest_mcp import __version__
from pytest_mcp.cli.output import MISUSE, USAGE_ERROR, complain, open_closed_streams
from pytest_mcp.config.endpoint import Endpoint
from pytest_mcp.config.model import PREFIX, Config, ConfigError
from pytest_mcp.config.options import SETTINGS, Settle, settle
from pytest_mcp.execution import signals
from pytest_mcp.server import fast_start

COMMANDS = {
    "run": "run tests and print what a person wants to know of them",
    "discover": "list tests",
    "call": "call one tool through a real client and print the reply",
    "setup": "write the server into the settings of the clients on this machine, or take it out",
    "doctor": "say whether the server works and the project's tests can be run",
}
# Exit codes of a mistake in typing, where they are not argparse's own.
MISUSES = {"run": USAGE_ERROR, "discover": USAGE_ERROR}


class Command(Protocol):
    """What a module of `commands` is."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def main(self, options: argparse.Namespace, project: Settle) -> int: ...


def main(arguments: Sequence[str] | None = None) -> int:
    open_closed_streams()
    # The default ends the process at once, whatever it is doing; its supervisors then end the rest. SIGHUP may
    # stay ignored, as nohup wants it.
    signals.restore((signal.SIGINT, signal.SIGTERM, signal.SIGCHLD))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    environment = dict(os.environ)
    typed = sys.argv[1:] if arguments is None else arguments
    options = _parser(typed, environment).parse_args(typed)
    project = partial(settle, options, environment)
    try:
        return _serve(project()) if options.command is None else _module(options.command).main(options, project)
    except ConfigError as error:
        complain(str(error))
        return MISUSES.get(options.command, MISUSE)


def _parser(typed: Sequence[str], environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pytest-mcp",
        description="An MCP server that lets AI agents discover and run this project's tests, and nothing else.",
        epilog=f"Every option can also be set in the environment, as {PREFIX}ROOT and so on.",
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"pytest-mcp {__version__}")
    for setting in SETTINGS:
        setting.add_to(parser, environment)
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND", parser_class=_CommandParser)
    for name, words in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=words,
            epilog="The options of pytest-mcp itself can stand here too, but for those of the same name.",
            allow_abbrev=False,
            formatter_class=_formatter,
            # The command's own options, which are added later, win.
            conflict_handler="resolve",
        )
        if name in typed:
            _add_arguments(command, name)
            parser.misuse = command.misuse = MISUSES.get(name, MISUSE)
    return parser


def _add_arguments(command: argparse.ArgumentParser, name: str) -> None:
    for setting in SETTINGS:
        setting.add_behind(command)
    _module(name).add_arguments(command)


class _Parser(argparse.ArgumentParser):
    misuse = MISUSE

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(self.misuse, f"{self.prog}: error: {message}\n")


class _CommandParser(_Parser):
    """Takes options and other words in any order, as pytest does."""

    is_mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # What argparse asks of the parser of a command, and what that one asks of itself while it mixes.
        if self.is_mixing:
            return super().parse_known_args(args, namespace)
        self.is_mixing = True
        return self.parse_intermixed_args(args, namespace), []


def _module(name: str) -> Command:
    return cast("Command", import_module(f"pytest_mcp.cli.commands.{name}"))


def _formatter(prog: str) -> argparse.HelpFormatter:
    # As on eighty columns: argparse makes one for every flag, and to ask for the terminal's width imports a lot.
    return argparse.HelpFormatter(prog, width=78)


def _serve(settled: Config) -> int:
    return _serve_stdio(settled) if settled.endpoint is None else _serve_http(settled, settled.endpoint)


def _serve_stdio(settled: Config) -> int:
    if sys.stdin.isatty():
        complain("waiting for an MCP client on standard input; Ctrl-C ends this, --help has what a person can do")
    handover = fast_start.greet(sys.stdin.fileno(), sys.stdout.fileno())
    if handover is None:
        return 0
    # Imported here: the SDK takes most of a second, which a client's first questions need not wait for.
    import anyio

    from pytest_mcp.execution import process
    from pytest_mcp.server import log_format
    from pytest_mcp.server.app import serve_stdio

    log_format.set_up(settled.log_level)
    process.prepare()
    try:
        anyio.run(serve_stdio, settled, handover)
    except* BrokenPipeError:
        pass  # a client that does not listen any more has left, as it may
    return 0


def _serve_http(settled: Config, endpoint: Endpoint) -> int:
    from pytest_mcp.server.http import listener

    try:
        bound = listener.listen(endpoint)
    except listener.Unavailable as error:
        raise ConfigError(f"Cannot serve on {endpoint.host}:{endpoint.port}: {error}.") from error
    import anyio

    from pytest_mcp.execution import process
    from pytest_mcp.server import log_format
    from pytest_mcp.server.http import app as http
    from pytest_mcp.server.http.guard import PATH

    complain(f"serving {settled.root} on http://{listener.authority(bound)}{PATH}")
    log_format.set_up(settled.log_level)
    process.prepare()
    anyio.run(http.serve, settled, endpoint, bound)
    return 0
