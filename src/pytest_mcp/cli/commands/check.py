"""`pytest-mcp check`: call check_change from the command line.

The exit code is 0 if the tests prove the change or there is nothing to prove, else 1.
"""

import argparse

from pytest_mcp.cli import exit_codes, local_call, tool_flags
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.proof import terminal
from pytest_mcp.proof.result import CheckResult
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.output import show
from pytest_mcp.tools import BY_NAME

TOOL = BY_NAME["check_change"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tool_flags.add_to(parser, TOOL.name, TOOL.input_schema)
    name = f"{tool_flags.DEST_PREFIX}base"
    parser.add_argument(name, nargs="?", metavar="BASE", default=argparse.SUPPRESS, help="the same as --base")
    parser.add_argument("--github", action="store_true", help="print Markdown, for a comment on a pull request")
    tool_flags.add_page_flags(parser)


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    return local_call.run(CheckCommand(TOOL, options, load_config()))


class CheckCommand(ToolCommand):
    def print_answer(self, _known: object, answer: CheckResult, screen: Screen) -> None:
        if self.options.github:
            show(terminal.comment(answer))
        else:
            again = self.rerun_command(answer.rerun)
            show("\n".join(terminal.check_lines(answer, screen.out, again=again)))

    def exit_code(self, _known: object, answer: CheckResult) -> int:
        return exit_codes.PASSED if answer.verdict in ("proven", "no_change") else exit_codes.FAILED
