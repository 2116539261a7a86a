"""What a person types: `pytest-mcp` serves on stdio, `pytest-mcp call TOOL [JSON]` tries one tool.

In come the command line and the environment; out come a running server or a printed reply, and an
exit code: 0 for a result, 1 for an error, 2 for misuse. What a flag means is decided in `config`.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from pytest_mcp import __version__, config, front
from pytest_mcp.config import PREFIX, Config, ConfigError

MISUSE = 2
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

    def add_to(self, parser: argparse.ArgumentParser, environment: Mapping[str, str]) -> None:
        action = parser.add_argument(self.flag, help=self.words, **self.more)
        # A default that is text is read as if it had been typed, and refused in the same words.
        action.default = environment.get(PREFIX + self.name.upper(), action.default)
        if action.nargs == 0:
            action.type = _switch

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
    Setting("root", "the project's folder (default: the current one)", {}),
    Setting("python", "the project's Python (default: its .venv)", {}),
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
)


def main(arguments: Sequence[str] | None = None) -> int:
    environment = dict(os.environ)
    options = _parser(environment).parse_args(arguments)
    given = {setting.name: getattr(options, setting.name) for setting in SETTINGS}
    try:
        settled = config.configure(**given, environment=environment)
    except ConfigError as error:
        print(f"pytest-mcp: {error}", file=sys.stderr)
        return MISUSE
    return _call(options, settled) if options.command == "call" else _serve(settled)


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pytest-mcp",
        description="An MCP server that lets AI agents discover and run this project's tests, and nothing else.",
        epilog=f"Every option can also be set in the environment, as {PREFIX}ROOT and so on.",
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"pytest-mcp {__version__}")
    for setting in SETTINGS:
        setting.add_to(parser, environment)
    commands = parser.add_subparsers(dest="command", title="commands", metavar="")
    call = commands.add_parser(
        "call", help="call one tool through a real client and print the reply", formatter_class=_formatter
    )
    call.add_argument("tool", help="discover_tests or execute_tests")
    call.add_argument(
        "json", nargs="?", default="{}", help='its arguments as a JSON object, e.g. \'{"path": "tests"}\''
    )
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    # As on eighty columns: argparse makes one for every flag, and to ask for the terminal's width imports a lot.
    return argparse.HelpFormatter(prog, width=78)


def _serve(settled: Config) -> int:
    # The default ends the process at once, whatever it is doing; its supervisors then end the rest.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    handover = front.greet(sys.stdin.fileno(), sys.stdout.fileno())
    if handover is None:
        return 0
    # Imported here: the SDK takes most of a second, which a client's first questions need not wait for.
    import anyio

    from pytest_mcp.orphans import orphanage
    from pytest_mcp.server import serve_stdio

    orphanage.open()
    try:
        anyio.run(serve_stdio, settled, handover)
    except* BrokenPipeError:
        pass  # a client that does not listen any more has left, as it may
    return 0


def _call(options: argparse.Namespace, settled: Config) -> int:
    try:
        arguments = json.loads(options.json)
    except ValueError as error:
        print(f"pytest-mcp: the arguments are not JSON: {error}", file=sys.stderr)
        return MISUSE
    if not isinstance(arguments, dict):
        print('pytest-mcp: the arguments must be a JSON object, e.g. \'{"path": "tests"}\'', file=sys.stderr)
        return MISUSE
    from pytest_mcp.client import call_blocking  # imported here for the reason given in _serve

    reply, failed = call_blocking(options.tool, arguments, _flags(options, settled), settled)
    _show(json.dumps(reply, ensure_ascii=False, indent=2))
    return 1 if failed else 0


def _show(text: str) -> None:
    """Print, also to a reader that has seen enough: `pytest-mcp call … | head` is no mistake."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes once more on its way out, which must find somebody to take it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flags(options: argparse.Namespace, settled: Config) -> list[str]:
    """The operator's settings, said again to the server that `call` starts: in another folder, so with whole paths."""
    values = vars(options) | {"root": settled.root, "python": settled.python}
    return [flag for setting in SETTINGS for flag in setting.said(values[setting.name])]
