"""`pytest-mcp discover`: what discover_tests does, for a person or a script.

In come the tool's parameters as flags; out come the tests and an exit code. On a terminal the tests stand below their
files. Into a pipe goes one node id in each line and nothing else; what else is to be said goes to standard error.
With `--json` the tool's answer is printed as it is. Otherwise every test is listed, however many there are: that is
detail full, unless `--detail` or `--max-tokens` is typed.
"""

import argparse

from pytest_mcp.api.results import DiscoverResult
from pytest_mcp.cli import exit_codes, local_call, render_discovery
from pytest_mcp.cli.local_call import Errand
from pytest_mcp.cli.output import remark, show
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.options import Settle
from pytest_mcp.tools import BY_NAME

TOOL = BY_NAME["discover_tests"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Lists every test, unless --json, --detail or --max-tokens is given."
    local_call.add_arguments(parser, TOOL)


def main(options: argparse.Namespace, project: Settle) -> int:
    return local_call.fulfil(Errand(TOOL, _for_a_person, _tell, exit_codes.of_discovery), options, project())


def _for_a_person(typed: Arguments, _screen: Screen) -> Arguments:
    return typed if "max_tokens" in typed else {"detail": "full", **typed}


def _tell(result: DiscoverResult, screen: Screen) -> None:
    if screen.is_read_by_a_person:
        show("\n".join(render_discovery.for_a_person(result, screen.out)))
        return
    if listed := render_discovery.for_a_program(result):
        show("\n".join(listed))
    if remarks := render_discovery.remarks(result, screen.err):
        remark("\n".join(remarks))
