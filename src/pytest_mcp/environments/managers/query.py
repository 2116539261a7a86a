"""A question to another program: which program is meant, what it may see, and how long it may take.

In comes the question; out comes what the program printed, or the reason why there is no answer. What is asked, and
what an answer means, is decided in `registry` and `poetry`; the process itself is the business of `process`.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_mcp.environments import user_dirs
from pytest_mcp.events.run import Exit
from pytest_mcp.execution import process
from pytest_mcp.execution.command import Launch
from pytest_mcp.execution.supervision import SpawnError
from pytest_mcp.text import cut_middle

# Such a program takes a second to start; on a busy machine several.
QUESTION_SECONDS = 10
# An answer is a line or two. Kept are half of this from the beginning and half from the end of each stream.
MOST_OUTPUT = 64 * 1024
# What is repeated of its complaints, in characters.
MOST_COMPLAINT = 300

# Where they are installed for one user: a client may start the server with a PATH that lacks these.
_IN_THE_HOME = (".local/bin", ".local/share/pypoetry/venv/bin")
# What is meant for the project's Python or for ours, and what has an active environment taken for the project's.
_WITHHELD_PREFIXES = ("PYTEST", "PYTHON", "__PYVENV", "CONDA_")
_WITHHELD = frozenset(
    {"VIRTUAL_ENV", "POETRY_ACTIVE", "PIPENV_ACTIVE", "PIPENV_PIPFILE", "FORCE_COLOR", "CLICOLOR_FORCE"}
)
_ADDED = {
    # Nothing is written where the program is installed.
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "NO_COLOR": "1",
    # A complaint is one line.
    "COLUMNS": "1000",
}


class Unanswered(Exception):
    """There is no answer; the message says why."""


@dataclass(frozen=True)
class Question:
    program: str
    arguments: tuple[str, ...]
    # Where it is asked.
    folder: Path
    environment: Mapping[str, str]
    # Variables on top of those.
    settings: Mapping[str, str] = field(default_factory=dict)
    # The files that the answer rests on.
    sources: tuple[Path, ...] = ()
    # The project that all this is about; None: the folder itself.
    root: Path | None = None

    @property
    def suspect(self) -> Path:
        """No program from in there is started: whoever can write to a project would decide which."""
        return self.root or self.folder


def find(question: Question) -> Path:
    """The program: from PATH, or from where it is installed for one user."""
    home = user_dirs.home(question.environment)
    usual = [str(home / name) for name in _IN_THE_HOME]
    found = shutil.which(question.program, path=os.pathsep.join(_trusted(_path(question) + usual, question.suspect)))
    if found is None or _lies_in(Path(found), question.suspect):
        raise Unanswered(f"{question.program} is not on the PATH of the server")
    return Path(found)


async def ask(question: Question, program: Path) -> Exit:
    """What it said, whatever its exit code. Nothing that it started is left by then."""
    launch = Launch((str(program), *question.arguments), question.folder, _environment(question))
    try:
        ended = await process.ask(launch, time_limit=QUESTION_SECONDS, kept_output=MOST_OUTPUT // 2)
    except SpawnError as error:
        raise Unanswered(f"{question.program} could not be started: {error}") from error
    if ended.timed_out:
        raise Unanswered(f"{question.program} did not answer within {QUESTION_SECONDS} seconds")
    if ended.code is None:
        raise Unanswered(f"{question.program} was ended by {ended.signal}")
    if ended.left_out:
        raise Unanswered(f"{question.program} printed more than {MOST_OUTPUT // 1024} KiB, which is no answer")
    return ended


def complaint(program: str, ended: Exit) -> Unanswered:
    """The line that a person would read first."""
    lines = [line.strip() for line in (ended.stderr.strip() or ended.stdout).splitlines() if line.strip()]
    if not lines:
        return Unanswered(f"{program} exited with {ended.code} and said nothing")
    # A traceback has its reason at the end, a heading has it below.
    line = lines[-1] if lines[0].startswith("Traceback") else " ".join(lines[: 2 if lines[0].endswith(":") else 1])
    return Unanswered(f"{program} said: {cut_middle(line, MOST_COMPLAINT, separator=' ')}")


def _environment(question: Question) -> dict[str, str]:
    kept = {
        name: value
        for name, value in question.environment.items()
        if name not in _WITHHELD and not name.startswith(_WITHHELD_PREFIXES)
    }
    path = os.pathsep.join(_trusted(_path(question), question.suspect))
    return {**kept, **_ADDED, **question.settings, "PATH": path or os.defpath}


def _path(question: Question) -> list[str]:
    return question.environment.get("PATH", "").split(os.pathsep)


def _trusted(entries: list[str], folder: Path) -> list[str]:
    """Whoever can write to a project does not decide which programs are started to ask about it."""
    return [entry for entry in entries if Path(entry).is_absolute() and not _lies_in(Path(entry), folder)]


def _lies_in(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return True
