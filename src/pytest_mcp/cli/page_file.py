"""`--html FILE` and `--open`: write a page, and show it.

What the page shows is decided in `page`, which is loaded only when a page was asked for. A viewer that runs no scripts
shows the printed report.
"""

import argparse
import os
import shlex
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.cli import render_run, tool_flags
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.model import MAX_REPLY_BYTES, Config, ConfigError
from pytest_mcp.python import git_files
from pytest_mcp.report import budget
from pytest_mcp.report.report import Report
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.terminal.output import UNWRITTEN, print_message
from pytest_mcp.text import in_line

if TYPE_CHECKING:
    from pytest_mcp.investigation.answer import Findings
    from pytest_mcp.page.content import PageOrigin
    from pytest_mcp.proof.findings import ProofFindings

_PLAIN = Painter(has_colours=False)
# The size of the report for viewers that run no scripts.
PRINTED_TOKENS = 25_000


@dataclass(frozen=True)
class PageFile:
    path: Path
    opens: bool

    def write(self, draw: Callable[[str], str]) -> int | None:
        """`draw` gets the time and returns the page. Returns an exit code if it could not be written."""
        created = f"{datetime.now(tz=UTC).astimezone():%Y-%m-%d %H:%M %Z}"
        try:
            self.path.write_text(draw(created), encoding="utf-8")
        except Exception as error:  # noqa: BLE001 - a page costs itself alone: the answer has been printed
            why = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}, a bug of pytest-mcp"
            print_message(f"the page could not be written to {in_line(str(self.path))}: {why}")
            return UNWRITTEN
        print_message(f"the page is in {in_line(str(self.path))}")
        if self.opens and not webbrowser.open(self.path.as_uri()):
            print_message("no browser was found to open it")
        return None


def wanted(options: argparse.Namespace) -> PageFile | None:
    """Raises ConfigError if the page cannot be written, before any test runs."""
    if getattr(options, "html", None) is None:
        if getattr(options, "open", False):
            raise ConfigError("--open needs --html FILE.")
        return None
    path = Path(options.html).absolute()
    if path.is_dir():
        raise ConfigError(f"--html: {in_line(str(path))} is a folder.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigError(f"--html: {in_line(str(path.parent))} is not a folder that can be written to.")
    return PageFile(path, options.open)


def origin(command: str, given: Arguments, settings: Sequence[str], root: Path) -> "PageOrigin":
    """`given` are the arguments of the command, `settings` the operator's flags that were typed."""
    from pytest_mcp.page.content import PageOrigin  # noqa: PLC0415 - here and below: other calls do not need it

    return PageOrigin(
        project=root.name,
        command=tool_flags.command(command, given, settings),
        again=tool_flags.command("run", {}, settings),
        commit=git_files.head_commit(root),
    )


def run_page(report: Report, origin: "PageOrigin", config: Config | None, created: str) -> str:
    """The whole run; of a project here also the text of lines that did not run and, with `--history`, earlier runs."""
    from pytest_mcp.page import document, frame  # noqa: PLC0415
    from pytest_mcp.page.content import Content, read_missed_lines  # noqa: PLC0415
    from pytest_mcp.page.sections import recorded_ids  # noqa: PLC0415

    content = Content(report)
    if config is not None:
        content = replace(content, missed_lines=read_missed_lines(config.root, report.coverage))
    if config is not None and config.history is not None:
        from pytest_mcp.history.remarks import last_results  # noqa: PLC0415

        content = replace(content, past=last_results(config.history, config.root, recorded_ids(content)))
    plain = "\n".join(_printed(report, origin))
    return frame.file(document.run_document(content, origin, created=created, most=frame.room(plain)), plain)


def page_of(known: "Findings | ProofFindings | Report", origin: "PageOrigin", config: Config, created: str) -> str:
    """The page of a check, an investigation or a run; a call that was refused has a report too."""
    if isinstance(known, Report):
        return run_page(known, origin, config, created)
    from pytest_mcp.investigation import answer, page, terminal  # noqa: PLC0415
    from pytest_mcp.investigation.answer import Findings  # noqa: PLC0415
    from pytest_mcp.page import frame  # noqa: PLC0415

    if not isinstance(known, Findings):
        return _proof_page(known, origin, created)
    result = answer.answer_of(known)
    plain = "\n".join(terminal.report_lines(result, _PLAIN, again=again(result.rerun, origin)))
    return frame.file(page.page_of(known, result, origin, created=created, most=frame.room(plain)), plain)


def _proof_page(known: "ProofFindings", origin: "PageOrigin", created: str) -> str:
    from pytest_mcp.page import frame  # noqa: PLC0415
    from pytest_mcp.proof import answer, page, terminal  # noqa: PLC0415

    result = answer.proof_answer(known)
    plain = "\n".join(terminal.check_lines(result, _PLAIN, again=again(result.rerun, origin)))
    return frame.file(page.page_of_proof(result, origin, created=created, most=frame.room(plain)), plain)


def _printed(report: Report, origin: "PageOrigin") -> list[str]:
    """The report as a terminal shows it."""
    problem = [] if report.problem is None else render_run.error_lines(report.problem, _PLAIN)
    if problem and not report.has_begun:
        return problem
    request = ExecuteTests().model_copy(update={"max_tokens": PRINTED_TOKENS})
    answer = budget.fit_execution(report, request, ceiling=MAX_REPLY_BYTES)
    return [*problem, *render_run.report_lines(report, answer, _PLAIN, again=again(answer.rerun, origin))]


def again(rerun: Arguments | None, origin: "PageOrigin") -> str | None:
    return None if rerun is None else f"{origin.again} {shlex.join(tool_flags.as_typed(rerun))}"
