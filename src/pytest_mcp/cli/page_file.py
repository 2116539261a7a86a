"""`--html FILE` and `--open`: write the page of a run, and show it.

In come the parsed command line and what a call came to; out come a file and one line on stderr that says where it is.
What the page shows is decided in `page`, which is loaded only when a page was asked for.
"""

import argparse
import os
import webbrowser
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli.output import UNWRITTEN, print_message
from pytest_mcp.config.model import ConfigError
from pytest_mcp.events.run import Run
from pytest_mcp.page.origin import Origin
from pytest_mcp.text import in_line

# A run, or what is known of one that was cut short.
Part = Run[ExecuteTests] | ExecuteResult
OnPart = Callable[[Part], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", metavar="FILE", help="write a page about the run: one file that needs nothing else")
    parser.add_argument("--open", action="store_true", help="open the page of --html in a browser")


def wanted(options: argparse.Namespace) -> "PageFile | None":
    """Raises ConfigError if the page cannot be written, before any test runs."""
    if options.html is None:
        if options.open:
            raise ConfigError("--open needs --html FILE.")
        return None
    path = Path(options.html).absolute()
    if path.is_dir():
        raise ConfigError(f"--html: {in_line(options.html)} is a folder.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigError(f"--html: {in_line(str(path.parent))} is not a folder that can be written to.")
    return PageFile(path, opens=options.open)


class PageFile:
    def __init__(self, path: Path, *, opens: bool) -> None:
        self.path = path
        self.opens = opens
        self.parts: list[Part] = []

    def keep(self, part: Part) -> None:
        """For the page; without any part it shows what the answer has."""
        self.parts.append(part)

    def write(self, outcome: ExecuteResult | CallError, origin: Origin) -> int | None:
        """Returns an exit code if it could not be written."""
        try:
            _replace(self.path.resolve(), self._text(outcome, origin).encode("utf-8"))
        except OSError as error:
            print_message(f"the page could not be written to {in_line(str(self.path))}: {error.strerror}")
            return UNWRITTEN
        print_message(f"the page is in {in_line(str(self.path))}")
        if self.opens and not webbrowser.open(self.path.as_uri()):
            print_message("no browser was found to open it")
        return None

    def _text(self, outcome: ExecuteResult | CallError, origin: Origin) -> str:
        # No other command needs them.
        from pytest_mcp.page import content, document  # noqa: PLC0415

        if isinstance(outcome, CallError):
            shown = content.of_error(outcome)
        elif not self.parts:
            shown = content.of_answer(outcome)
        elif len(self.parts) == 1 and isinstance(self.parts[0], Run):
            shown = content.of_run(self.parts[0], outcome)
        else:
            shown = content.of_parts(self.parts, outcome)
        return document.render(shown, origin, created=f"{datetime.now(tz=UTC).astimezone():%Y-%m-%d %H:%M %Z}")


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
