"""What the child reports: one tuple for each kind of event, in one row if it has only a few fields.

The fields are those of the records that `child` writes; a test compares the two. Tests can write records too, so
`decode` checks the types of fields; what goes into a sentence or is counted is checked here, by a ValueError.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias

from pytest_mcp.run.recordings import MAX_MISSED, ChangedCode, Executed, Probed, check_lines

# No child tells more exceptions of a failure, or more frames of one: it leaves out the middle.
MAX_ENTRIES = 1000
# The way up from a root, however deep a path can be, and one plain name.
_ABOVE = re.compile(r"(?:\.\./){1,2048}[a-z._-]{1,40}")

# --- the session ---------------------------------------------------------------------------------

# The interpreter has started; `pytest` is its version, or None with the reason in `error`.
Hello = NamedTuple("Hello", [("python", str), ("executable", str), ("pytest", str | None), ("error", str | None)])
Configured = NamedTuple("Configured", [("inifile", str | None), ("from_cache", list[str])])
# With --lf: how many failures pytest's cache remembers, and how many tests it knows.
Remembered = NamedTuple("Remembered", [("failures", int), ("tests", int)])
# pytest's own UsageError, and the file that configures it, if there is one.
UsageFault = NamedTuple("UsageFault", [("messages", list[str]), ("configuration", str | None)])
# An exception that left pytest altogether.
Escaped = NamedTuple("Escaped", [("error_type", str), ("message", str), ("traceback", str)])
# pytest is configured and begins to collect.
SessionStarted = NamedTuple("SessionStarted", [])
# A package or module that the project has, and that was imported from another place than its own.
ImportedElsewhere = NamedTuple("ImportedElsewhere", [("name", str), ("file", str), ("own", str)])
# The seed that pytest-randomly orders tests by, and seeds random numbers with.
Seeded = NamedTuple("Seeded", [("seed", int)])
# Something happened that the reporter could not describe; whatever it was, the run is no pass.
Unreported = NamedTuple("Unreported", [("what", str)])
InternalFault = NamedTuple("InternalFault", [("text", str)])
Interrupted = NamedTuple("Interrupted", [("error_type", str), ("message", str), ("stack", list[str])])
# The time is over, or a person interrupts the run. Written by the supervisor, just before it sends SIGINT.
Ending = NamedTuple("Ending", [])
# pytest has come back, with all hooks after its session; its process has nothing more to do but exit with this.
Returned = NamedTuple("Returned", [("exit_status", int)])


@dataclass(frozen=True)
class AboveRoot:
    """What pytest would have used if its search did not end at the root: paths as seen from there."""

    settings: list[str]
    conftests: list[str]

    def __post_init__(self) -> None:
        """These go into a sentence of ours, so only the way up and a name that pytest looks for are accepted."""
        if not all(_ABOVE.fullmatch(path) for path in (*self.settings, *self.conftests)):
            raise ValueError("not above the root")


class Portrait(NamedTuple):
    """What pytest runs with, only where that was asked for."""

    prefix: str
    rootdir: str
    inifile: str | None
    plugins: list[str]
    testpaths: list[str]
    addopts: list[str]
    python_files: list[str]
    markers: list[str]


class SessionEnded(NamedTuple):
    exit_status: int
    duration: float
    created: float
    root: str | None
    collected: int
    json_exit_code: int
    stopped: str | None
    clipped_texts: int
    clipped_characters: int


class Warned(NamedTuple):
    message: str
    category: str
    when: str
    filename: str
    lineno: int
    id: str | None


# --- the tests -----------------------------------------------------------------------------------


class Frame(NamedTuple):
    # Compiled code can have any text for its file, and places are shown in one line.
    path: Annotated[str, lambda path: path.replace("\n", "\\n")]
    line: int
    # None for code of a module, a lambda or a comprehension.
    function: str | None
    # None where the source is not known.
    statement: str | None
    arguments: tuple[tuple[str, str], ...]
    # One line for each local variable; empty unless they were asked for.
    variables: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Raised(NamedTuple):
    """One exception of a chain, from the first raised to the last."""

    # How the next one came about: "cause" (raise ... from) or "context" (while this one was handled); or the next one
    # is in this "group", or another "member" of the group that this one is in.
    link: str | None
    note: str | None
    text: tuple[str, ...]
    frames: tuple[Frame, ...]

    @property
    def headline(self) -> str:
        return self.text[0] if self.text else ""


Chain = tuple[Raised, ...]


Started = NamedTuple("Started", [("id", str)])
# With xdist: the test's place in the collection. Its workers run tests in another order.
StartedAt = NamedTuple("StartedAt", [("id", str), ("index", int)])
# A test is over. `passed` is false where it failed, was skipped, or was never called (--setup-plan).
Finished = NamedTuple("Finished", [("id", str), ("duration", float), ("passed", bool)])


@dataclass(frozen=True)
class Phase:
    """Setup, call or teardown of a test that was not a plain pass, or any of them with detail full."""

    id: str
    when: str
    outcome: str
    xfail: str | None
    message: str | None
    # A path and a line.
    location: tuple[str, int] | None
    # pytest's own rendering; None where the chain says it all.
    traceback: str | None
    chain: Chain | None
    # Each a title and its text.
    sections: list[tuple[str, str]]
    subtest: str | None
    stage: dict[str, Any] | None

    def __post_init__(self) -> None:
        if any(len(entries) > MAX_ENTRIES for entries in (self.exceptions, *(each.frames for each in self.exceptions))):
            raise ValueError("too many of them")

    @property
    def exceptions(self) -> Chain:
        """The chain of exceptions; empty where pytest has only text."""
        return self.chain or ()


# --- the collection ------------------------------------------------------------------------------

# Files that were named explicitly and that the project's own collection would not take.
FilesRefused = NamedTuple("FilesRefused", [("files", list[str])])
# How many modules a call reached that the project's own collection does not, and the first of them.
DoctestsLeftOut = NamedTuple("DoctestsLeftOut", [("count", int), ("first", str)])
# Files with tests that no call can name: by a link they lie outside the root, or `::` stands in their path.
Unreachable = NamedTuple("Unreachable", [("files", list[str])])
# A whole module that asked to be skipped; pytest counts it as one skipped test.
CollectionSkipped = NamedTuple("CollectionSkipped", [("id", str), ("reason", str)])
# One collector in the pytest-json-report plugin's shape; only with detail full.
Collected = NamedTuple("Collected", [("collector", dict[str, Any])])
Deselected = NamedTuple("Deselected", [("count", int), ("ids", list[str] | None)])
Selected = NamedTuple("Selected", [("count", int)])
# The share of this shard: its tests, all tests and their files, and a digest of how many tests each file has.
Divided = NamedTuple("Divided", [("tests", int), ("total", int), ("files", int), ("digest", str)])
# How many tests were deselected because the change cannot reach them.
Unreached = NamedTuple("Unreached", [("count", int)])
# A named target of which no test is left: how many were found, and the options or code that left them out.
TargetLeftOut = NamedTuple("TargetLeftOut", [("id", str), ("found", int), ("by", list[str])])
# All named targets were compared with the collected tests. Not known of xdist's workers without our plugin.
TargetsCompared = NamedTuple("TargetsCompared", [])
# Options that left tests out for what failed last time.
FromCache = NamedTuple("FromCache", [("options", list[str])])
# Which marks are registered, and which the tests have; only where marks were to choose the tests.
Marks = NamedTuple("Marks", [("registered", list[str]), ("used", list[str])])
# A discovered test, and some of them: there may be a hundred thousand.
Item = NamedTuple("Item", [("id", str), ("classes", list[str]), ("function", str), ("line", int | None)])
Items = NamedTuple("Items", [("rows", list[Item])])


class CollectionFailed(NamedTuple):
    file: str
    error_type: str | None
    message: str | None
    line: int | None
    traceback: str


class NothingSelected(NamedTuple):
    """Options that leave tests out, where pytest looked, and for which names of files."""

    options: list[str]
    patterns: list[str]
    places: list[str]


# --- workers of pytest-xdist ---------------------------------------------------------------------

# A call asks for workers, but pytest-xdist is not installed, or the project does not load it.
NoXdist = NamedTuple("NoXdist", [("installed", bool)])
# xdist has started: with how many workers.
Distributed = NamedTuple("Distributed", [("workers", int)])
# The tests that one worker ran, by their places in the collection.
RanOn = NamedTuple("RanOn", [("worker", str), ("indexes", list[int])])
# What a worker was doing when the run was interrupted: the test it ran, and the frames of its main thread.
WorkerStack = NamedTuple("WorkerStack", [("id", str | None), ("stack", list[str])])


class WorkerDown(NamedTuple):
    """A worker process died; xdist may have replaced it."""

    worker: str
    error: str

    @property
    def reason(self) -> str:
        """The last line: the others are a traceback."""
        return (self.error.strip().splitlines() or [""])[-1].strip()


# --- coverage ------------------------------------------------------------------------------------

# A call asks for coverage, but coverage.py cannot be imported.
NoCoverage = NamedTuple("NoCoverage", [("error", str)])
# pytest has come back; before its process exits with this, what was measured is put together.
Measuring = NamedTuple("Measuring", [("exit_status", int)])


@dataclass(frozen=True)
class CoveredFile:
    """How many lines of a file count, how many of them did not run, and the first of those as ranges (`3-5,9`)."""

    file: str
    lines: int
    missed: int
    ranges: str
    # Branches that were not taken, as pairs of lines; a negative one leaves the function. None: not measured.
    untaken: list[list[int]] | None

    def __post_init__(self) -> None:
        check_lines([self.ranges] if self.ranges else [], MAX_MISSED)
        if any(len(pair) != 2 for pair in self.untaken or ()):
            raise ValueError("not lines")


class Covered(NamedTuple):
    """All files together; `error` is why nothing is known. None: not measured, or only some lines were asked for."""

    percent: float | None
    lines: int
    missed: int
    branches: int | None
    untaken: int | None
    files: int
    error: str | None


# --- time ----------------------------------------------------------------------------------------

# A name, seconds, and how often.
SpentRow = tuple[str, float, int]


class Timed(NamedTuple):
    """Where the time of one process went: all of it, until its first test, its parts, and what took longest.

    The rows have the keys of the answer, in their order.
    """

    worker: bool
    seconds: float
    before: float
    parts: list[SpentRow]
    imports: list[SpentRow]
    collection: list[SpentRow]
    fixtures: list[tuple[str, str, str, float, int, float, float, str]]
    tests: list[tuple[str, float, float, float, float]]
    sleeps: list[SpentRow]


Event: TypeAlias = tuple[Any, ...] | AboveRoot | Phase | CoveredFile | Executed | Probed | ChangedCode
