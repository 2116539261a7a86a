"""`pytest-mcp run` after its flags were parsed: the call of execute_tests, and the report.

In come the parsed command line, the settings and a child that waits for its job; out comes an exit code. Every import
here is loaded while that child starts. Targets with different environments are run in `cli/members.py`.
"""

import argparse
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult, PartialResult
from pytest_mcp.cli import annotations, exit_codes, local_call, render
from pytest_mcp.cli.arguments import pytest_flags, tool_flags, typed_advice, typed_paths
from pytest_mcp.cli.arguments.tool_flags import Arguments
from pytest_mcp.cli.files import page_file
from pytest_mcp.cli.files.run_page import OnPart, RunPage
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.output import show, show_on_stderr
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.config.model import Config
from pytest_mcp.config.options import typed_flags
from pytest_mcp.environments import by_environment, git_files
from pytest_mcp.execution.spare import Spare
from pytest_mcp.execution.start import Waiting
from pytest_mcp.running.attempt import OnProgress
from pytest_mcp.tools import BY_NAME

if TYPE_CHECKING:
    from pytest_mcp.cli.members import Members

TOOL = BY_NAME["execute_tests"]


def main(options: argparse.Namespace, config: Config, child: Waiting | None) -> int:
    config = config._replace(pytest_options=pytest_flags.for_pytest(options), outputs=_outputs(options))
    tool_flags.add_typed(options, pytest_flags.translated(options))
    if options.timeout is None:
        config = config._replace(default_timeout=config.max_timeout)
    if options.shard is not None:
        config = config._replace(shard=options.shard._replace(commit=git_files.head_commit(config.root)))
    print_result = partial(_print, options=options, root=config.root)
    print_partial = partial(_print_partial, options=options, root=config.root)
    for_people = partial(_for_people, most_tokens=config.most_tokens)
    file = page_file.wanted(options)
    page = RunPage(config) if file is not None else None
    execution = _Execution(page, condenses=pytest_flags.has_own_tracebacks(options) and not options.json)
    tool = replace(TOOL, handler=execution.start)
    command = ToolCommand(tool, for_people, print_result, exit_codes.of_execution, runs_tests=True, child=child)
    command = replace(command, print_partial=print_partial, rescued=execution.rescued, after=execution.unwritten)
    if file is not None and page is not None:
        origin = page_file.origin("run", tool_flags.arguments(options), options, config.root)
        write = partial(file.write, origin=origin, draw=page.draw)
        command = replace(command, after=lambda outcome: write(outcome) or execution.unwritten(outcome))
    return local_call.run(command, options, config)


def _outputs(options: argparse.Namespace) -> tuple[str, ...]:
    junit = Path(options.junitxml).expanduser() if options.junitxml is not None else None
    return tuple(str(Path.cwd() / path) for path in (junit, options.html) if path is not None)


class _Execution:
    """The run of the tests, or one run for each environment if the targets have several."""

    def __init__(self, page: RunPage | None, *, condenses: bool) -> None:
        self.condenses = condenses
        self.keep: OnPart = page.keep if page is not None else lambda _: None
        self.members: Members | None = None

    async def start(
        self, request: ExecuteTests, config: Config, spare: Spare | None, on_progress: OnProgress
    ) -> ExecuteResult:
        targets = [target for _, target in request.targets]
        parts = by_environment.split(targets, config) if len(targets) > 1 else []
        error: CallError | None = None
        if len(parts) < 2:
            try:
                return await engine.execute(request, config, spare, on_progress, on_run=self.keep)
            except CallError as raised:
                error = raised
        # Few commands need it.
        from pytest_mcp.cli import members  # noqa: PLC0415

        if error is not None and not (parts := await members.instead_of_root(error, request, config)):
            raise error
        self.members = members.Members(request, config, parts, self.keep, self.condenses, error is not None)
        result = await self.members.execute(spare, on_progress)
        return result if error is None else members.with_notice(result, parts)

    def rescued(self, error: CallError) -> ExecuteResult | None:
        return self.members.rescued(error) if self.members is not None else None

    def unwritten(self, _outcome: ExecuteResult | CallError) -> int | None:
        return self.members.unwritten if self.members is not None else None


def _for_people(typed: Arguments, screen: Screen, *, most_tokens: int) -> Arguments:
    return {"max_tokens": most_tokens, "color": screen.out.has_colours, **typed}


def _print(result: ExecuteResult, screen: Screen, *, options: argparse.Namespace, root: Path) -> None:
    show("\n".join(_lines(result, screen, options, root)))


def _print_partial(
    result: PartialResult, screen: Screen, error: str, *, options: argparse.Namespace, root: Path
) -> None:
    """The error stands above the verdict, which is last as in every report."""
    *report, verdict = _lines(result, screen, options, root)
    if report:
        show("\n".join(report))
    show_on_stderr(error)
    show(verdict)


def _lines(result: ExecuteResult, screen: Screen, options: argparse.Namespace, root: Path) -> list[str]:
    again = typed_paths.again(result.rerun, typed_flags(options, os.environ), root)
    result = result.model_copy(update={"notices": typed_advice.notices(result.notices, root)})
    annotated = annotations.of_run(result, _prefix(root)) if os.environ.get("GITHUB_ACTIONS") else []
    return [*annotated, *render.of_run(_styled(result, options), screen.out, again=again)]


def _styled(result: ExecuteResult, options: argparse.Namespace) -> ExecuteResult:
    if options.quieter > options.louder:
        result = render.only_failures(result)
    if pytest_flags.has_no_tracebacks(options):
        return render.without_tracebacks(result)
    return render.condensed(result) if pytest_flags.has_own_tracebacks(options) else result


def _prefix(root: Path) -> str:
    """From the top of the repository to the root."""
    top = Path(os.environ.get("GITHUB_WORKSPACE") or root).resolve()
    return f"{root.relative_to(top).as_posix()}/" if root != top and root.is_relative_to(top) else ""
