"""`pytest-mcp discover`: call discover_tests from the command line.

A terminal gets the tests under their files. A pipe gets one node id per line; everything else goes to stderr. Every
test is listed (detail full), unless `--detail` is typed or they exceed a typed `--max-tokens`. Paths with different
environments are collected one after the other, and the answers become one; if one of them cannot be collected, its
error is the answer.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import DiscoverTargets
from pytest_mcp.api.results import CollectionError, DiscoverResult, FileTests, OmittedTests
from pytest_mcp.cli import exit_codes, local_call, member_runs, render_run, tool_flags, typed_advice
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.member_runs import Parts
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.model import LEAST_REPLY_BYTES, LEAST_TOKENS
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.python import members
from pytest_mcp.python.members import by_environment
from pytest_mcp.run.run import Project
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.colours import Lines, Painter, lines_of_notices
from pytest_mcp.terminal.output import show, show_on_stderr
from pytest_mcp.text import safe_line
from pytest_mcp.tools import BY_NAME

# What follows the name of a test in a list by file: its line, and how many parameter sets it has.
_LINE_AND_NUMBER = re.compile(r"(?::\d+)?(?: \(\d+\))?$")
_ROOT_ERROR = CollectionError(
    file=members.ROOT,
    error_type="CollectionError",
    message=member_runs.NO_ENVIRONMENT,
    line=None,
    traceback=None,
    also=0,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Lists every test, unless --json, --detail or --max-tokens is given."
    tool_flags.add_to(parser, TOOL.name, TOOL.input_schema)


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    return local_call.run(DiscoverCommand(TOOL, options, load_config()))


class DiscoverCommand(ToolCommand):
    def for_people(self, typed: Arguments, _screen: Screen) -> Arguments:
        return {"detail": "tests" if "max_tokens" in typed else "full", **typed}

    def print_answer(self, _known: object, answer: DiscoverResult, screen: Screen) -> None:
        root = self.config.root
        answer = answer.model_copy(update={"notices": typed_advice.notices(answer.notices, root)})
        if screen.is_terminal:
            show("\n".join(for_people(answer, screen.out)))
            return
        if listed := for_programs(answer):
            show("\n".join(tool_flags.typed_path(name, root) for name in listed))
        if remarks := _remarks(answer, screen.err):
            show_on_stderr("\n".join(remarks))

    def exit_code(self, _known: object, answer: DiscoverResult) -> int:
        return exit_codes.of_discovery(answer)


async def _discover(request: DiscoverTargets, project: Project) -> DiscoverResult:
    config = project.config
    targets = [target for _, target in request.targets]
    parts = by_environment(targets, config) if len(targets) > 1 else []
    if len(parts) > 1:
        return await _discover_each(request, project, parts)
    try:
        return await engine.discover(request, project)
    except CallError as error:
        if not (parts := await member_runs.instead_of_root(error, request, config)):
            raise
    able = [part for part in parts if not member_runs.is_root(part)]
    result = await _discover_each(request, project, able)
    notices = [*result.notices, member_runs.instead_notice(able)]
    errors = [*result.collection_errors, *([_ROOT_ERROR] if able != parts else [])]
    return result.model_copy(update={"notices": notices, "collection_errors": errors})


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


def for_people(result: DiscoverResult, painter: Painter) -> Lines:
    """The tests under their files, with counts, then errors, notices and the total."""
    files = []
    ways = {entry.file: entry.why for entry in result.files}
    for file, tests in groupby(result.tests, key=lambda test: test.file):
        names = [test.node_id.removeprefix(f"{file}::") for test in tests]
        files.append(FileTests(file=file, count=len(names), tests=names, why=ways.get(file)))
    lines: Lines = []
    for entry in [*files, *_of_files(result)]:
        lines.append(f"{painter.paint(safe_line(entry.file), 'bold')} ({entry.count})")
        lines += [f"  because {safe_line(entry.why)}"] if entry.why else []
        lines += [f"  {safe_line(name)}" for name in entry.tests or ()]
    closing = f"{result.count or 'no'} test{'' if result.count == 1 else 's'}"
    return [*lines, *([""] if lines else []), *_remarks(result, painter), painter.paint(closing, "bold")]


def _of_files(result: DiscoverResult) -> list[FileTests]:
    """Those whose tests are not listed one by one."""
    return [entry for entry in result.files if entry.tests != []]


def for_programs(result: DiscoverResult) -> Lines:
    """If the tests do not fit, what contains them and can be run instead: functions, files or folders."""
    files = [entry.file for entry in _of_files(result)]
    listed = tuple(file.removeprefix("./") if file.endswith("/") else f"{file}::" for file in files)
    names = [test.node_id for test in result.tests if not test.node_id.startswith(listed)]
    for entry in _of_files(result):
        functions = [_LINE_AND_NUMBER.sub("", name, count=1) for name in entry.tests or ()]
        names += [entry.file] if entry.tests is None else [f"{entry.file}::{name}" for name in functions]
    return [safe_line(name) for name in dict.fromkeys(names)]


def _remarks(result: DiscoverResult, painter: Painter) -> Lines:
    errors: Lines = []
    for error in result.collection_errors:
        errors += [*render_run.collection_error_lines(error, painter), ""]
    cut = result.omitted
    left_out = [f"Not everything is listed: {cut.hint}."] if cut is not None else []
    return errors + lines_of_notices([*result.notices, *left_out], painter)
