"""`pytest-mcp investigate`: call investigate_failure from the command line.

The exit code is 0 if the test passes, 1 if it fails or that is not known.
"""

import argparse

from pytest_mcp.cli import exit_codes, local_call, tool_flags
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.investigation import terminal
from pytest_mcp.investigation.result import InvestigateResult
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.output import show
from pytest_mcp.tools import BY_NAME

TOOL = BY_NAME["investigate_failure"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tool_flags.add_to(parser, TOOL.name, TOOL.input_schema)
    tool_flags.add_page_flags(parser)


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    tool_flags.take_one(options, "node_ids", "node_id")
    return local_call.run(InvestigateCommand(TOOL, options, load_config()))


class InvestigateCommand(ToolCommand):
    def print_answer(self, _known: object, answer: InvestigateResult, screen: Screen) -> None:
        show("\n".join(terminal.report_lines(answer, screen.out, again=self.rerun_command(answer.rerun))))

    def exit_code(self, _known: object, answer: InvestigateResult) -> int:
        return exit_codes.PASSED if answer.kind == "passes" else exit_codes.FAILED
