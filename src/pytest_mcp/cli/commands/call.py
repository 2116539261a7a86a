"""`pytest-mcp call TOOL [JSON]`: print the reply that a client gets for a call of one tool.

In come a tool's name and its arguments; out come the reply and an exit code: 0 for a result, 1 for an error, 2 for a
usage error. The tool is called in this process: importing the SDK takes longer than many a test run.
"""

import argparse
import json

from pytest_mcp.cli import local_call
from pytest_mcp.cli.output import MISUSE, print_message, show
from pytest_mcp.config.options import LoadConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", help="discover_tests, execute_tests or explain_environment")
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
    reply, failed = local_call.reply(options.tool, arguments, config)
    show(json.dumps(reply, ensure_ascii=False, indent=2))
    return 1 if failed else 0
