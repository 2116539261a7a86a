"""`pytest-mcp discover`: call discover_tests from the command line.

In come the tool's parameters as flags, and paths or node ids; out come the tests and an exit code. A terminal gets the
tests under their files. A pipe gets one node id per line; everything else goes to stderr. `--json` prints the tool's
answer unchanged. Otherwise every test is listed (detail full), unless `--detail` is typed or they exceed a typed
`--max-tokens`. Paths with different environments are collected one after the other, and the answers become one; if one
of them cannot be collected, its error is the answer.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import DiscoverTargets
from pytest_mcp.api.results import DiscoverResult, OmittedTests
from pytest_mcp.cli import exit_codes, local_call, members, render_discovery, tool_flags, typed_advice, typed_paths
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.members import Parts
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.model import LEAST_REPLY_BYTES, LEAST_TOKENS
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.python import by_environment
from pytest_mcp.run.run import Project
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.output import show, show_on_stderr
from pytest_mcp.tools import BY_NAME


async def _discover(request: DiscoverTargets, project: Project) -> DiscoverResult:
    config = project.config
    targets = [target for _, target in request.targets]
    parts = by_environment.split(targets, config) if len(targets) > 1 else []
    if len(parts) > 1:
        return await _discover_each(request, project, parts)
    try:
        return await engine.discover(request, project)
    except CallError as error:
        if not (parts := await members.instead_of_root(error, request, config)):
            raise
    able = [part for part in parts if not members.is_root(part)]
    found = await _discover_each(request, project, able)
    missed = [f"The project root is not listed: {members.NO_ENVIRONMENT}."] if able != parts else []
    return found.model_copy(update={"notices": [*found.notices, members.instead_notice(able), *missed]})


async def _discover_each(request: DiscoverTargets, project: Project, parts: Parts) -> DiscoverResult:
    config = project.config
    most = max(LEAST_TOKENS, (request.max_tokens or request.default_max_tokens) // len(parts))
    config = config._replace(max_reply_bytes=max(LEAST_REPLY_BYTES, config.max_reply_bytes // len(parts)))
    changes = [{"path": None, "node_ids": tuple(part), "max_tokens": most} for part in parts]
    requests = [request.model_copy(update=change) for change in changes]
    within = replace(project, config=config)
    return _merged([await engine.discover(each, within) for each in requests])


def _merged(results: Sequence[DiscoverResult]) -> DiscoverResult:
    omitted = [result.omitted for result in results if result.omitted is not None]
    return DiscoverResult(
        count=sum(result.count for result in results),
        notices=list(dict.fromkeys(notice for result in results for notice in result.notices)),
        collection_errors=[error for result in results for error in result.collection_errors],
        tests=[test for result in results for test in result.tests],
        files=[file for result in results for file in result.files],
        omitted=OmittedTests(tests=sum(each.tests for each in omitted), hint=omitted[0].hint) if omitted else None,
    )


# The tool has one path; the command takes several, and node ids.
TOOL = replace(BY_NAME["discover_tests"], request=DiscoverTargets, handler=_discover)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Lists every test, unless --json, --detail or --max-tokens is given."
    tool_flags.add_to(parser, TOOL.name, TOOL.input_schema)


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    exit_code = lambda _known, answer: exit_codes.of_discovery(answer)  # noqa: E731 - one line in a table
    command = ToolCommand(TOOL, _for_people, partial(_print, root=config.root), exit_code)
    return local_call.run(command, options, config)


def _for_people(typed: Arguments, _screen: Screen) -> Arguments:
    return {"detail": "tests" if "max_tokens" in typed else "full", **typed}


def _print(_known: object, result: DiscoverResult, screen: Screen, *, root: Path) -> None:
    result = result.model_copy(update={"notices": typed_advice.notices(result.notices, root)})
    if screen.is_terminal:
        show("\n".join(render_discovery.for_people(result, screen.out)))
        return
    if listed := render_discovery.for_programs(result):
        show("\n".join(typed_paths.typed(name, root) for name in listed))
    if remarks := render_discovery.remarks(result, screen.err):
        show_on_stderr("\n".join(remarks))
