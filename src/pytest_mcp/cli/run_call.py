"""`pytest-mcp run` after its flags were parsed: the call of execute_tests, and what becomes of its report.

Every import here is loaded while the child starts. Targets with different environments are run in `cli/member_runs.py`.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from pytest_mcp import engine
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli import exit_codes, local_call, pytest_flags, render_run, tool_flags, typed_advice
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.model import Config
from pytest_mcp.process.start import Waiting
from pytest_mcp.python import git_files
from pytest_mcp.python.members import by_environment
from pytest_mcp.report import budget, pytest_output
from pytest_mcp.report.report import Report
from pytest_mcp.run.run import Project
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.output import show, show_on_stderr
from pytest_mcp.tools import BY_NAME


def main(options: argparse.Namespace, config: Config, child: Waiting | None) -> int:
    config = config._replace(pytest_options=pytest_flags.for_pytest(options), outputs=_outputs(options))
    tool_flags.add_typed(options, pytest_flags.translated(options))
    if options.timeout is None:
        config = config._replace(default_timeout=config.max_timeout)
    if options.shard is not None:
        config = config._replace(shard=options.shard._replace(commit=git_files.head_commit(config.root)))
    tool = replace(BY_NAME["execute_tests"], handler=_execute)
    return local_call.run(RunCommand(tool, options, config, child))


def _outputs(options: argparse.Namespace) -> tuple[str, ...]:
    junit = Path(options.junitxml).expanduser() if options.junitxml is not None else None
    return tuple(str(Path.cwd() / path) for path in (junit, options.html) if path is not None)


async def _execute(request: ExecuteTests, project: Project) -> Report:
    """One run, or one run for each environment if the targets have several."""
    targets = [target for _, target in request.targets]
    parts = by_environment(targets, project.config) if len(targets) > 1 else []
    known = await engine.execute(request, project) if len(parts) < 2 else None
    if known is not None and known.problem is None:
        return known
    # Few commands need it.
    from pytest_mcp.cli import member_runs  # noqa: PLC0415

    if known is not None and known.problem is not None:
        parts = await member_runs.instead_of_root(known.problem, request, project.config)
        if not parts:
            return known
    return await member_runs.MemberRuns(request, project, parts, stand_for_root=known is not None).execute()


class RunCommand(ToolCommand):
    runs_tests = True

    def for_people(self, typed: Arguments, screen: Screen) -> Arguments:
        return {"max_tokens": self.config.most_tokens, "color": screen.out.has_colours, **typed}

    def print_answer(self, known: Report, answer: ExecuteResult, screen: Screen) -> None:
        show("\n".join(self._lines(known, answer, screen)))

    def exit_code(self, known: Report, _answer: ExecuteResult) -> int:
        return exit_codes.of_report(known)

    def print_problem(self, known: Report, request: ExecuteTests | None, screen: Screen, text: str) -> None:
        """The error stands above the verdict, which is last as in every report."""
        if request is None or not known.has_begun:
            show_on_stderr(text)
            return
        partial_answer = budget.fit_execution(known, request, ceiling=budget.PARTIAL_BYTES)
        *lines, verdict = self._lines(known, partial_answer, screen)
        if lines:
            show("\n".join(lines))
        show_on_stderr(text)
        show(verdict)

    def _lines(self, known: Report, answer: ExecuteResult, screen: Screen) -> list[str]:
        root = self.config.root
        answer = answer.model_copy(update={"notices": typed_advice.notices(answer.notices, root)})
        annotated = render_run.annotations(known, answer, _prefix(root)) if os.environ.get("GITHUB_ACTIONS") else []
        again = self.rerun_command(answer.rerun)
        return [*annotated, *render_run.report_lines(known, self._styled(known, answer), screen.out, again=again)]

    def _styled(self, known: Report, answer: ExecuteResult) -> ExecuteResult:
        """By -q and --tb. What pytest printed besides its own tracebacks is what we print ourselves."""
        options, tests, printed = self.options, answer.tests, answer.text_output
        has_own = pytest_flags.has_own_tracebacks(options)
        if has_own or options.quieter > options.louder:
            tests = list(filter(render_run.is_failed, tests))
        if has_own:
            printed = known.condensed
        elif options.tb is not None:
            tests = [test.model_copy(update={"traceback": None}) for test in tests]
        if printed != known.printed:
            printed = "\n\n".join(filter(None, [pytest_output.tables(known.printed), printed]))
        return answer.model_copy(update={"tests": tests, "text_output": printed})


def _prefix(root: Path) -> str:
    """From the top of the repository to the root."""
    top = Path(os.environ.get("GITHUB_WORKSPACE") or root).resolve()
    return f"{root.relative_to(top).as_posix()}/" if root != top and root.is_relative_to(top) else ""
