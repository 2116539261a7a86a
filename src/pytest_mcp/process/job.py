"""What a child is: the program that is started, the job that it reads, and how it ended.

The launcher reads the job from job.json in the run's folder. The child imports nothing of ours; only the type checker
reads that class for it. Standard library only.
"""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from pytest_mcp.config.model import PREFIX, Config
from pytest_mcp.process.supervisor_protocol import Reason

# The script that the project's Python runs.
LAUNCHER = Path(__file__).parents[1] / "child" / "launcher.py"

# Variables that would change what pytest does or prints, or that belong to the server.
_WITHHELD = {
    *("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"),
    *("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"),
    *("PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONVERBOSE", "PYTHONOPTIMIZE", "PYTHONBREAKPOINT"),
    *("PY_COLORS", "FORCE_COLOR", "CLICOLOR_FORCE", "__PYVENV_LAUNCHER__"),
}
# The program itself is at fault, not the machine.
_UNUSABLE = (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR, errno.EPERM)


class SpawnError(Exception):
    """It could not be started. `unusable` means that the program is the cause, not the machine."""

    def __init__(self, why: str, number: int | None = None) -> None:
        super().__init__(why)
        self.unusable = number in _UNUSABLE


@dataclass(frozen=True)
class Launch:
    """What is known of a child before its job: calls with an equal launch can use the same spare."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    # In bytes, for each process; None: no limit.
    max_memory: int | None = None


def child_launch(python: Path, config: Config, *, own_prefix: Path) -> Launch:
    """`own_prefix` is the server's environment: that it is active says nothing about the project."""
    env = _activated(python, child_variables(config, own_prefix=own_prefix))
    return Launch((str(python), str(LAUNCHER)), config.root, env, config.max_memory)


def child_variables(config: Config, *, own_prefix: Path) -> dict[str, str]:
    inherited = config.environment
    env = {name: value for name, value in inherited.items() if name not in _WITHHELD and not name.startswith(PREFIX)}
    if env.get("VIRTUAL_ENV") == str(own_prefix):
        del env["VIRTUAL_ENV"]
    return env


def _activated(python: Path, env: dict[str, str]) -> dict[str, str]:
    """As in a shell in which the environment of this Python is active: tests start its programs by their names."""
    folder, prefix = python.parent, python.parent.parent
    is_virtual = (prefix / "pyvenv.cfg").exists()
    if not (is_virtual or (prefix / "conda-meta").exists()):
        return env
    search = [str(folder), *filter(None, [env.get("PATH", os.defpath)])]
    return env | {"PATH": os.pathsep.join(search)} | ({"VIRTUAL_ENV": str(prefix)} if is_virtual else {})


class Trace(TypedDict):
    """Record which lines each test runs, and run only tests that help to explain a failure."""

    # These run first.
    failing: list[str]
    # How many others run after them, and for how long.
    most_tests: int
    seconds: float


class LinesOf(TypedDict):
    """A call whose lines are recorded: the function, the line where its code begins, and which of its calls."""

    function: str
    line: int
    number: int


class CallTrace(TypedDict):
    """Record the calls of each of these tests, with values of at most so many parts."""

    tests: list[str]
    depth: int
    parts: int
    # Whether the calls during imports are recorded too, as those of the first test; this takes longer.
    imports: bool
    lines_of: list[LinesOf]


class MutantJob(TypedDict):
    """A span of a file's bytes, from the start of the file, and the text in its place; the lines of its statement."""

    number: int
    file: str
    line: int
    last: int
    start: int
    end: int
    text: str


class Proof(TypedDict):
    """Run the tests in forks, and then the mutants that their lines have."""

    # The lines that matter of each file, as ranges.
    lines: dict[str, str]
    mutants: list[MutantJob]
    # So many of them, not counting those that no test runs.
    most: int
    # Names of tests, without parameters, that run first.
    first: list[str]
    # Before the last mutant is begun: so many seconds, and so many times what all tests took.
    seconds: float
    times: float
    # How long each test takes elsewhere: each runs in a fork of its own, limited by that, and no mutants are tried.
    limits: dict[str, float] | None


class JobCoverage(TypedDict):
    """Measure which lines the tests run."""

    # Only these lines of these files, as ranges (`3-5,9`) or `all`; None: all that the project's settings name.
    changed: dict[str, str] | None


class Job(TypedDict):
    # The project's root, and pytest's arguments behind those that the child adds itself.
    root: str
    args: list[str]
    # Only collect, and leave nothing in the project.
    collect_only: bool
    # Whether the call names a part of the suite, and whether it has an expression for its tests.
    part: bool
    filtered: bool
    # The absolute paths of the arguments, and which of them are files that a call names.
    targets: list[str]
    explicit_files: list[str]
    # Every node id that was asked for; those that another argument covers, each with the argument it would have been.
    named: list[str]
    covered: list[list[str]]
    # What the child reports besides: everything of every phase, the marks of the tests, what pytest runs with.
    full: bool
    by_marks: bool
    portrait: bool
    # The most characters of one text of a test.
    text_limit: int
    # The number of the shard that runs, from 1, and how many there are; None runs the whole selection.
    shard: list[int] | None
    # Files that a change can reach, nearest first, and those that it cannot; None runs everything as it is collected.
    files: list[str] | None
    unreached: list[str]
    # How many of xdist's workers run the tests, whatever the project's addopts say; None leaves it to those.
    workers: int | None
    # The most of them where addopts say `auto`: as many as there are cores for.
    max_workers: int
    # Exactly these tests, in this order and in one process. None: whatever the arguments select.
    ids: list[str] | None
    trace: Trace | None
    calls: CallTrace | None
    proof: Proof | None
    # A checkout and the copy that is tested instead of it: no module may come from the checkout.
    moved: list[str] | None
    coverage: JobCoverage | None
    # Whether the child measures where the time goes.
    timing: bool
    # Its memory is limited: some of it is kept for reporting.
    limited_memory: bool


@dataclass(frozen=True)
class Command:
    """What to start, its job, and the command that a person would type for it."""

    launch: Launch
    job: Job
    reproduction: tuple[str, ...]


# The report file at the end: nothing was ever written, it is complete, something has truncated it, or it has so many
# records that not all of them were read.
ReportState = Literal["unwritten", "kept", "truncated", "unread"]


@dataclass(frozen=True)
class Exit:
    """How the child's process ended. The child cannot report this itself."""

    code: int | None
    signal: str | None
    reason: Reason
    duration: float
    stdout: str
    stderr: str
    # Processes that it started, left behind, and that were killed.
    strays: int = 0
    # How many of them were still there when the time for that had passed.
    left: int = 0
    # Bytes that are missing from the middle of what it printed.
    left_out: int = 0
    report: ReportState = "kept"
    # The signal by which whoever had asked for the run ended it at once.
    stopped_by: str | None = None

    @property
    def timed_out(self) -> bool:
        return self.reason == "timeout"
