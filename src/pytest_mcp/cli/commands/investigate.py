"""`pytest-mcp investigate`: call investigate_failure from the command line.

In come a node id and the tool's parameters as flags; out come a report and an exit code: 0 if the test passes, 1 if it
fails or that is not known. `--json` prints the tool's answer unchanged, `--html` writes a page about it.
"""

import argparse
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_mcp.cli import exit_codes, local_call, page_file, tool_flags, typed_paths
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.page_file import PageFile
from pytest_mcp.config.options import LoadConfig, typed_flags
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
    config = load_config()
    print_result = partial(_print, settings=typed_flags(options, os.environ), root=config.root)
    exit_code = lambda _known, answer: exit_codes.of_investigation(answer)  # noqa: E731 - one line in a table
    command = ToolCommand(TOOL, lambda typed, _: typed, print_result, exit_code)
    if (file := page_file.wanted(options)) is not None:
        command = _with_page(command, file, options, config.root)
    return local_call.run(command, options, config)


def _with_page(command: ToolCommand, file: PageFile, options: argparse.Namespace, root: Path) -> ToolCommand:
    typed = tool_flags.arguments(options)
    # A list is typed without a flag.
    origin = page_file.origin("investigate", typed | {"node_id": [typed["node_id"]]}, options, root)
    return replace(command, after=partial(file.write, origin=origin, draw=page_file.of_investigation))


def _print(_known: object, result: InvestigateResult, screen: Screen, *, settings: list[str], root: Path) -> None:
    again = typed_paths.again(result.rerun, settings, root)
    show("\n".join(terminal.of(result, screen.out, again=again)))
