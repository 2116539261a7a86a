"""`pytest-mcp run` after its flags were parsed: the call of execute_tests, and the report.

In come the parsed command line, the settings and a child that waits for its job; out comes an exit code. Every import
here is loaded while that child starts.
"""

import argparse
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_mcp import engine
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli import annotations, exit_codes, local_call, page_file, render
from pytest_mcp.cli.arguments import pytest_flags, tool_flags, typed_paths
from pytest_mcp.cli.arguments.tool_flags import Arguments
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.output import show
from pytest_mcp.cli.run_page import RunPage
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.config.model import Config
from pytest_mcp.config.options import typed_flags
from pytest_mcp.environments import git
from pytest_mcp.execution.start.early import Early
from pytest_mcp.tools import BY_NAME

TOOL = BY_NAME["execute_tests"]


def main(options: argparse.Namespace, config: Config, child: Early | None) -> int:
    config = config._replace(pytest_options=pytest_flags.for_pytest(options))
    tool_flags.add_typed(options, pytest_flags.translated(options))
    if options.timeout is None:
        config = config._replace(default_timeout=config.max_timeout)
    if options.shard is not None:
        config = config._replace(shard=options.shard._replace(commit=git.head_commit(config.root)))
    print_result = partial(_print, options=options, root=config.root)
    for_people = partial(_for_people, most_tokens=config.most_tokens)
    command = ToolCommand(TOOL, for_people, print_result, exit_codes.of_execution, runs_tests=True, child=child)
    if (file := page_file.wanted(options)) is not None:
        page = RunPage(config)
        tool = replace(TOOL, handler=partial(engine.execute, on_run=page.keep))
        origin = page_file.origin("run", tool_flags.arguments(options), options, config.root)
        command = replace(command, tool=tool, after=partial(file.write, origin=origin, draw=page.draw))
    return local_call.run(command, options, config)


def _for_people(typed: Arguments, screen: Screen, *, most_tokens: int) -> Arguments:
    return {"max_tokens": most_tokens, "color": screen.out.has_colours, **typed}


def _print(result: ExecuteResult, screen: Screen, *, options: argparse.Namespace, root: Path) -> None:
    again = typed_paths.again(result.rerun, typed_flags(options, os.environ), root)
    annotated = annotations.of_run(result, _prefix(root)) if os.environ.get("GITHUB_ACTIONS") else []
    show("\n".join([*annotated, *render.of_run(_styled(result, options), screen.out, again=again)]))


def _styled(result: ExecuteResult, options: argparse.Namespace) -> ExecuteResult:
    if pytest_flags.has_no_tracebacks(options):
        return render.without_tracebacks(result)
    if pytest_flags.has_own_tracebacks(options):
        return render.condensed(result)
    return render.only_failures(result) if options.quieter > options.louder else result


def _prefix(root: Path) -> str:
    """From the top of the repository to the root."""
    top = Path(os.environ.get("GITHUB_WORKSPACE") or root).resolve()
    return f"{root.relative_to(top).as_posix()}/" if root != top and root.is_relative_to(top) else ""
