"""`pytest-mcp call TOOL [JSON]`: print the reply that a client gets for a call of one tool.

In come a tool's name and its arguments; out come the reply and an exit code: 0 for a result, 1 for an error, 2 for a
usage error. The tool is called in this process: importing the SDK takes longer than many a test run.
"""

import argparse
import json
from typing import Any

from pytest_mcp.cli import child_ahead
from pytest_mcp.cli.loading import loading
from pytest_mcp.config.model import Config
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.process.start import Waiting
from pytest_mcp.terminal.output import MISUSE, print_message, show

_TOOLS = "discover_tests, execute_tests, explain_environment, investigate_failure or, with --history, test_history"
# Tools that start one child for a call.
_COLLECTING = ("discover_tests", "execute_tests", "explain_environment")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", help=_TOOLS)
    parser.add_argument(
        "json", nargs="?", default="{}", help='its arguments as a JSON object, e.g. \'{"path": "tests"}\''
    )


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    try:
        arguments = json.loads(options.json)
    except ValueError as error:
        print_message(f"the arguments are not JSON: {error}")
        return MISUSE
    if not isinstance(arguments, dict):
        print_message('the arguments must be a JSON object, e.g. \'{"path": "tests"}\'')
        return MISUSE
    if options.tool not in _COLLECTING:
        return _call(options.tool, arguments, config, None)
    with child_ahead.started(config, arguments) as child:
        return _call(options.tool, arguments, config, child)


def _call(tool: str, arguments: dict[str, Any], config: Config, child: Waiting | None) -> int:
    with loading():
        from pytest_mcp.cli import local_call  # noqa: PLC0415 - takes as long to load as pytest

    reply, failed = local_call.reply(tool, arguments, config, child)
    show(json.dumps(reply, ensure_ascii=False, indent=2))
    return 1 if failed else 0
