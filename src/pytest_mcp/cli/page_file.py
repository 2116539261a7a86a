"""`--html FILE` and `--open`: write a page, and show it.

In come the parsed command line and what a call came to; out come a file and one line on stderr that says where it is.
What the page shows is decided in `page`, which is loaded only when a page was asked for. A viewer that runs no scripts
shows the printed report.
"""

import argparse
import os
import shlex
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.cli import render_run, tool_flags
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.model import MAX_REPLY_BYTES, Config, ConfigError
from pytest_mcp.config.options import typed_flags
from pytest_mcp.python import git_files
from pytest_mcp.report import budget
from pytest_mcp.report.report import Report, of_no_run
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.terminal.output import UNWRITTEN, print_message
from pytest_mcp.text import in_line

if TYPE_CHECKING:
    from pytest_mcp.investigation.answer import Findings
    from pytest_mcp.page.content import Content, Origin, Result

# What is known of a call, where the page comes from and when; out comes its text.
Draw = Callable[[Any, "Origin", str], str]
_PLAIN = Painter(has_colours=False)
# Of the report for viewers that run no scripts.
PRINTED_TOKENS = 25_000


def wanted(options: argparse.Namespace) -> "PageFile | None":
    """Raises ConfigError if the page cannot be written, before any test runs."""
    if options.html is None:
        if options.open:
            raise ConfigError("--open needs --html FILE.")
        return None
    path = Path(options.html).absolute()
    if path.is_dir():
        raise ConfigError(f"--html: {in_line(options.html)} is a folder.")
    _check_folder(path.parent)
    return PageFile(path, opens=options.open)


def _check_folder(folder: Path) -> None:
    try:
        folder.stat()
        usable = os.access(folder, os.W_OK | os.X_OK)
    except FileNotFoundError:
        raise ConfigError(f"--html: {in_line(str(folder))} does not exist.") from None
    except OSError:
        usable = False
    if not usable:
        raise ConfigError(f"--html: {in_line(str(folder))} is not a folder that can be written to.")


def origin(command: str, given: Arguments, options: argparse.Namespace, root: Path) -> "Origin":
    """`given` are the arguments of the command."""
    from pytest_mcp.page.content import Origin  # noqa: PLC0415 - here and below: other calls do not need it

    settings = typed_flags(options, os.environ)
    return Origin(
        project=root.name,
        command=tool_flags.command(command, given, settings),
        again=tool_flags.command("run", {}, settings),
        commit=git_files.head_commit(root),
    )


def of_report(report: Report, origin: "Origin", created: str) -> str:
    from pytest_mcp.page.content import Content  # noqa: PLC0415

    return _of_content(Content(report), origin, created)


def _of_content(content: "Content", origin: "Origin", created: str) -> str:
    from pytest_mcp.page import document, frame  # noqa: PLC0415

    plain = "\n".join(_printed(content.report, origin))
    return frame.file(document.of_run(content, origin, created=created, most=frame.room(plain)), plain)


def _printed(report: Report, origin: "Origin") -> list[str]:
    """The report as a terminal shows it."""
    problem = [] if report.problem is None else render_run.of_error(report.problem, _PLAIN)
    if problem and not report.has_begun:
        return problem
    request = ExecuteTests().model_copy(update={"max_tokens": PRINTED_TOKENS})
    answer = budget.fit_execution(report, request, ceiling=MAX_REPLY_BYTES)
    return [*problem, *render_run.of_run(report, answer, _PLAIN, again=_again(answer.rerun, origin))]


def _again(rerun: Arguments | None, origin: "Origin") -> str | None:
    return None if rerun is None else f"{origin.again} {shlex.join(tool_flags.as_typed(rerun))}"


def of_run(report: Report, origin: "Origin", created: str, *, config: Config) -> str:
    """The page of `run --html`: the whole run and, with `--history`, what is recorded of its tests."""
    from pytest_mcp.page import missed_lines, sections  # noqa: PLC0415
    from pytest_mcp.page.content import Content  # noqa: PLC0415

    shown = Content(report, missed_lines.read(config.root, report.coverage))
    return _of_content(replace(shown, past=_recorded(config, sections.recorded_ids(shown))), origin, created)


def _recorded(config: Config, node_ids: Sequence[str]) -> "Mapping[str, Sequence[Result]] | None":
    if config.history is None:
        return None
    from pytest_mcp.history import last_results  # noqa: PLC0415

    return last_results.look(config.history, config.root, node_ids)


def of_investigation(known: "Findings | CallError", origin: "Origin", created: str) -> str:
    """The page of `investigate --html`."""
    if isinstance(known, CallError):
        return of_report(of_no_run(known), origin, created)
    from pytest_mcp.investigation import answer, page, terminal  # noqa: PLC0415
    from pytest_mcp.page import frame  # noqa: PLC0415

    result = answer.of(known)
    outcomes = {"alone": known.alone.outcomes}
    if known.base is not None:
        outcomes[f"at {known.base.name}"] = known.base.outcomes
    runs = {place: [(each.letter, each.seconds) for each in made] for place, made in outcomes.items()}
    found = page.Investigated(known.node_id, result, runs, known.failure, known.environment)
    plain = "\n".join(terminal.of(result, _PLAIN, again=_again(result.rerun, origin)))
    return frame.file(page.of(found, origin, created=created, most=frame.room(plain)), plain)


class PageFile:
    def __init__(self, path: Path, *, opens: bool) -> None:
        self.path = path
        self.opens = opens

    def write(self, known: Any, origin: "Origin", draw: Draw = of_report) -> int | None:
        """Returns an exit code if it could not be written."""
        created = f"{datetime.now(tz=UTC).astimezone():%Y-%m-%d %H:%M %Z}"
        try:
            _replace(self.path.resolve(), draw(known, origin, created).encode("utf-8"))
        except Exception as error:  # noqa: BLE001 - a page costs itself alone: the answer has been printed
            why = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}, a bug of pytest-mcp"
            print_message(f"the page could not be written to {in_line(str(self.path))}: {why}")
            return UNWRITTEN
        print_message(f"the page is in {in_line(str(self.path))}")
        if self.opens and not webbrowser.open(self.path.as_uri()):
            print_message("no browser was found to open it")
        return None


def _replace(path: Path, content: bytes) -> None:
    """The whole file or none of it, unless it is a device or a pipe, which cannot be replaced."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("xb") as opened:
            opened.write(content)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
