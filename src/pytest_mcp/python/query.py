"""Run a program to ask it something: find it outside the project, limit its environment variables, time and output.

What is asked and what an answer means is decided in `asked_managers`, and for git in `changed/git_commands.py`.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_mcp.process.job import Exit, Launch, SpawnError
from pytest_mcp.python import user_dirs
from pytest_mcp.text import cut_middle

# Managers take a second to start, on a busy machine several.
QUESTION_SECONDS = 10
# Answers have a few lines. Half of this is kept from the beginning and half from the end of each stream.
MAX_OUTPUT = 64 * 1024
# How much of its error message is repeated, in characters.
MAX_COMPLAINT = 300

# Variables for the project's Python or for ours, and those that name an active environment.
_WITHHELD_PREFIXES = ("PYTEST", "PYTHON", "__PYVENV", "CONDA_")
_SETTINGS: Mapping[str, str | None] = {
    "VIRTUAL_ENV": None,
    "FORCE_COLOR": None,
    "CLICOLOR_FORCE": None,
    "NO_COLOR": "1",
    # Write nothing where the program is installed.
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    # Do not wrap error messages.
    "COLUMNS": "1000",
}


class Unanswered(Exception):
    """There is no answer; the message says why."""


@dataclass(frozen=True)
class Question:
    program: str
    arguments: tuple[str, ...]
    # The working directory.
    folder: Path
    # No program inside is started, since a repository must not decide what runs.
    root: Path
    environment: Mapping[str, str]
    # Variables to set, or to remove: None.
    settings: Mapping[str, str | None] = field(default_factory=dict)

    def trusted(self, *more: str) -> str:
        """PATH and these folders, without relative ones and those of the project."""
        entries = [*self.environment.get("PATH", "").split(os.pathsep), *more]
        trusted = [each for each in entries if Path(each).is_absolute() and not _lies_in(Path(each), self.root)]
        return os.pathsep.join(trusted)


def find(question: Question) -> Path:
    """The program on PATH, or where it is usually installed for one user."""
    usual = str(user_dirs.home(question.environment) / user_dirs.PROGRAMS)
    program = shutil.which(question.program, path=question.trusted(usual))
    if program is None or _lies_in(Path(program), question.root):
        raise Unanswered(f"{question.program} is not on the PATH of the server")
    return Path(program)


def launch(question: Question, program: Path) -> Launch:
    given = question.environment
    kept = {name: value for name, value in given.items() if not name.startswith(_WITHHELD_PREFIXES)}
    wanted = {**kept, **_SETTINGS, **question.settings, "PATH": question.trusted() or os.defpath}
    variables = {name: value for name, value in wanted.items() if value is not None}
    return Launch((str(program), *question.arguments), question.folder, variables)


async def ask(question: Question, program: Path) -> Exit:
    """Whatever its exit code. All processes that it started have ended by then."""
    # A command finds its interpreter before it loads the event loop.
    from pytest_mcp.process import process  # noqa: PLC0415

    try:
        ended = await process.ask(launch(question, program), time_limit=QUESTION_SECONDS, kept_output=MAX_OUTPUT // 2)
    except SpawnError as error:
        raise Unanswered(f"{question.program} could not be started: {error}") from error
    if ended.timed_out:
        raise Unanswered(f"{question.program} did not answer within {QUESTION_SECONDS} seconds")
    if ended.code is None:
        raise Unanswered(f"{question.program} was ended by {ended.signal}")
    if ended.left_out:
        raise Unanswered(f"{question.program} printed more than {MAX_OUTPUT // 1024} KiB, which is no answer")
    return ended


def complaint(program: str, ended: Exit) -> Unanswered:
    """The most useful line of an error message."""
    lines = [line.strip() for line in (ended.stderr.strip() or ended.stdout).splitlines() if line.strip()]
    if not lines:
        return Unanswered(f"{program} exited with {ended.code} and printed nothing")
    # The last line of a traceback; a heading together with the line below it.
    line = lines[-1] if lines[0].startswith("Traceback") else " ".join(lines[: 2 if lines[0].endswith(":") else 1])
    return Unanswered(f"{program} said: {cut_middle(line, MAX_COMPLAINT, separator=' ')}")


def _lies_in(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return True
