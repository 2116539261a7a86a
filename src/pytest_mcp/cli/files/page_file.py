"""`--html FILE` and `--open`: write a page, and show it.

In come the parsed command line and what a call came to; out come a file and one line on stderr that says where it is.
What the page shows is decided in `page`, which is loaded only when a page was asked for.
"""

import argparse
import os
import webbrowser
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_mcp.cli.arguments import tool_flags
from pytest_mcp.cli.arguments.tool_flags import Arguments
from pytest_mcp.cli.output import UNWRITTEN, print_message
from pytest_mcp.config.model import ConfigError
from pytest_mcp.config.options import typed_flags
from pytest_mcp.environments import git_files
from pytest_mcp.page.origin import Origin
from pytest_mcp.report.report import Report
from pytest_mcp.text import in_line

# What is known of a call, where the page comes from and when; out comes its text.
Draw = Callable[[Any, Origin, str], str]


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


def origin(command: str, given: Arguments, options: argparse.Namespace, root: Path) -> Origin:
    """`given` are the arguments of the command."""
    settings = typed_flags(options, os.environ)
    return Origin(
        project=root.name,
        command=tool_flags.command(command, given, settings),
        again=tool_flags.command("run", {}, settings),
        commit=git_files.head_commit(root),
    )


def of_report(report: Report, origin: Origin, created: str) -> str:
    # No other command needs them.
    from pytest_mcp.page import content, document  # noqa: PLC0415

    return document.render(content.of_report(report), origin, created=created)


class PageFile:
    def __init__(self, path: Path, *, opens: bool) -> None:
        self.path = path
        self.opens = opens

    def write(self, known: Any, origin: Origin, draw: Draw = of_report) -> int | None:
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
