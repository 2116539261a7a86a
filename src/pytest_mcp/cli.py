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
from typing import Any, get_args

from pytest_mcp import __version__
from pytest_mcp.config import DEFAULT_TIMEOUT, MAX_REPLY_BYTES, MAX_TIMEOUT, PREFIX, Config, ErrorStyle, configure
from pytest_mcp.errors import ConfigError

MISUSE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    environment = dict(os.environ)
    parser = _parser(environment)
    options = parser.parse_args(arguments)
    try:
        config = configure(
            root=options.root,
            python=options.python,
            timeout=options.timeout,
            max_timeout=options.max_timeout,
            max_runs=options.max_runs,
            max_reply_bytes=options.max_reply_bytes,
            errors=options.errors,
            environment=environment,
        )
    except ConfigError as error:
        print(f"pytest-mcp: {error}", file=sys.stderr)
        return MISUSE
    return _call(options, config) if options.command == "call" else _serve(config)


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    def default(name: str, otherwise: Any = None) -> Any:
        return environment.get(PREFIX + name, otherwise)

    parser = argparse.ArgumentParser(
        prog="pytest-mcp",
        description="An MCP server that lets AI agents discover and run this project's tests, and nothing else.",
        epilog=f"Every option can also be set in the environment, as {PREFIX}ROOT and so on.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"pytest-mcp {__version__}")
    parser.add_argument("--root", default=default("ROOT"), help="the project's folder (default: the current one)")
    parser.add_argument("--python", default=default("PYTHON"), help="the project's Python (default: its .venv)")
    parser.add_argument(
        "--timeout",
        type=int,
        metavar="SECONDS",
        default=default("TIMEOUT", DEFAULT_TIMEOUT),
        help="time limit of a call that names none (default: %(default)s)",
    )
    parser.add_argument(
        "--max-timeout",
        type=int,
        metavar="SECONDS",
        default=default("MAX_TIMEOUT", MAX_TIMEOUT),
        help="longest time limit a call may name (default: %(default)s)",
    )
    parser.add_argument(
        "--max-runs",
        type=int,
        metavar="N",
        default=default("MAX_RUNS", os.cpu_count() or 1),
        help="how many calls run at once; the others wait in order (default: the number of cores)",
    )
    parser.add_argument(
        "--max-reply-bytes",
        type=int,
        metavar="N",
        default=default("MAX_REPLY_BYTES", MAX_REPLY_BYTES),
        help="largest answer, whatever a call asks for (default: %(default)s)",
    )
    parser.add_argument(
        "--errors",
        choices=get_args(ErrorStyle),
        default=default("ERRORS", "jsonrpc"),
        help="answer failed calls as JSON-RPC errors, or as results marked isError for clients that hide those",
    )
    commands = parser.add_subparsers(dest="command", title="commands", metavar="")
    call = commands.add_parser("call", help="call one tool through a real client and print the reply")
    call.add_argument("tool", help="discover_tests or execute_tests")
    call.add_argument(
        "json", nargs="?", default="{}", help='its arguments as a JSON object, e.g. \'{"path": "tests"}\''
    )
    return parser


def _serve(config: Config) -> int:
    # Imported here: the SDK takes most of a second, which --help and --version need not wait for.
    import anyio

    from pytest_mcp.orphans import orphanage
    from pytest_mcp.server import serve_stdio

    orphanage.open()
    # The default ends the process at once, whatever it is doing; its supervisors then end the rest.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(serve_stdio, config)
    return 0


def _call(options: argparse.Namespace, config: Config) -> int:
    try:
        arguments = json.loads(options.json)
    except ValueError as error:
        print(f"pytest-mcp: the arguments are not JSON: {error}", file=sys.stderr)
        return MISUSE
    if not isinstance(arguments, dict):
        print('pytest-mcp: the arguments must be a JSON object, e.g. \'{"path": "tests"}\'', file=sys.stderr)
        return MISUSE
    from pytest_mcp.client import call_blocking  # imported here for the reason given in _serve

    reply, failed = call_blocking(options.tool, arguments, _flags(options, config), config)
    _show(json.dumps(reply, ensure_ascii=False, indent=2))
    return 1 if failed else 0


def _show(text: str) -> None:
    """Print, also to a reader that has seen enough: `pytest-mcp call … | head` is no mistake."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes once more on its way out, which must find somebody to take it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flags(options: argparse.Namespace, config: Config) -> list[str]:
    """The operator's settings, said again to the server that `call` starts."""
    flags = [f"--root={config.root}", f"--timeout={options.timeout}", f"--max-timeout={options.max_timeout}"]
    flags += [f"--max-runs={options.max_runs}", f"--max-reply-bytes={options.max_reply_bytes}"]
    return [*flags, f"--errors={options.errors}", *([f"--python={config.python}"] if config.python else [])]
