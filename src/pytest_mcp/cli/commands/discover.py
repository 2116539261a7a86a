"""`pytest-mcp discover`: call discover_tests from the command line.

In come the tool's parameters as flags, and paths or node ids; out come the tests and an exit code. A terminal gets the
tests under their files. A pipe gets one node id per line; everything else goes to stderr. `--json` prints the tool's
answer unchanged. Otherwise every test is listed (detail full), unless `--detail` is typed or they exceed a typed
`--max-tokens`.
"""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_mcp.api.requests import DiscoverTargets
from pytest_mcp.api.results import DiscoverResult
from pytest_mcp.cli import exit_codes, local_call, render_discovery
from pytest_mcp.cli.arguments import tool_flags, typed_paths
from pytest_mcp.cli.arguments.tool_flags import Arguments
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.output import show, show_on_stderr
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.tools import BY_NAME

# The tool has one path; the command takes several, and node ids.
TOOL = replace(BY_NAME["discover_tests"], request=DiscoverTargets)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Lists every test, unless --json, --detail or --max-tokens is given."
    tool_flags.add_to(parser, TOOL.name, TOOL.input_schema)


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    command = ToolCommand(TOOL, _for_people, partial(_print, root=config.root), exit_codes.of_discovery)
    return local_call.run(command, options, config)


def _for_people(typed: Arguments, _screen: Screen) -> Arguments:
    return {"detail": "tests" if "max_tokens" in typed else "full", **typed}


def _print(result: DiscoverResult, screen: Screen, *, root: Path) -> None:
    if screen.is_terminal:
        show("\n".join(render_discovery.for_people(result, screen.out)))
        return
    if listed := render_discovery.for_programs(result):
        show("\n".join(typed_paths.typed(name, root) for name in listed))
    if remarks := render_discovery.remarks(result, screen.err):
        show_on_stderr("\n".join(remarks))
