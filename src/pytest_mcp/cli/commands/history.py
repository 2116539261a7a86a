"""`pytest-mcp history`: call test_history from the command line. It needs `--history`, and a history that exists."""

import argparse
import os

from pytest_mcp.cli import exit_codes, local_call, tool_flags
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.history import is_postgres
from pytest_mcp.config.model import ConfigError
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.history import terminal
from pytest_mcp.history.answer import HistoryResult
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.output import can_show, show
from pytest_mcp.text import in_line
from pytest_mcp.tools import test_history

TOOL = test_history()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tool_flags.add_to(parser, TOOL.name, TOOL.input_schema)
    parser.add_argument(
        f"{tool_flags.DEST_PREFIX}node_id",
        nargs="?",
        metavar="NODE_ID",
        default=argparse.SUPPRESS,
        help="the same as --node-id",
    )


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    if config.history is None:
        raise ConfigError("No runs are recorded: name the history with --history or PYTEST_MCP_HISTORY.")
    address = config.history.address
    # A server may be started before its first run. To a person, a file that is not there is a wrong path.
    if not is_postgres(address) and not os.path.exists(address):  # noqa: PTH110 - does not raise
        advice = "check the path, or record a run first, with `pytest-mcp --history FILE run`"
        raise ConfigError(f"There is no history at {in_line(address)}: {advice}.")
    return local_call.run(HistoryCommand(TOOL, options, config))


class HistoryCommand(ToolCommand):
    def for_people(self, typed: Arguments, _screen: Screen) -> Arguments:
        return {"max_tokens": self.config.most_tokens, **typed}

    def print_answer(self, _known: object, answer: HistoryResult, screen: Screen) -> None:
        show("\n".join(terminal.history_lines(answer, screen.out, has_bars=can_show(terminal.BARS))))

    def exit_code(self, _known: object, _answer: HistoryResult) -> int:
        return exit_codes.PASSED
