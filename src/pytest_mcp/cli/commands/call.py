"""`pytest-mcp call TOOL [JSON]`: print the reply that a client gets for a call of one tool.

The exit code is 0 for a result, 1 for an error, 2 for a usage error. The tool is called in this process: importing the
SDK takes longer than many a test run.
"""

import argparse
import json
from contextlib import nullcontext

from pytest_mcp.cli import child_ahead
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.terminal.output import MISUSE, print_message, show

_TOOLS = (
    "discover_tests, execute_tests, explain_environment, investigate_failure, check_change or, with --history,"
    " test_history"
)
# Tools that start one child for a call.
_COLLECTING = ("discover_tests", "execute_tests", "explain_environment")
_EXAMPLE = '\'{"path": "tests"}\''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", help=_TOOLS)
    parser.add_argument("json", nargs="?", default="{}", help=f"its arguments as a JSON object, e.g. {_EXAMPLE}")


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    try:
        arguments = json.loads(options.json)
    except ValueError as error:
        print_message(f"the arguments are not JSON: {error}")
        return MISUSE
    if not isinstance(arguments, dict):
        print_message(f"the arguments must be a JSON object, e.g. {_EXAMPLE}")
        return MISUSE
    with child_ahead.started(config, arguments) if options.tool in _COLLECTING else nullcontext() as child:
        from pytest_mcp.cli import local_call  # noqa: PLC0415 - takes as long to load as pytest

        reply, failed = local_call.reply(options, arguments, config, child)
    show(json.dumps(reply, ensure_ascii=False, indent=2))
    return 1 if failed else 0
