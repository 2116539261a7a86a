"""The vocabulary the child speaks: one class for each kind of event.

Pure. How a line becomes one of them is decided in `decode`, what they add up to in `ledger`.
"""

import re
from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar, Literal, NamedTuple

# The way up from a root, however deep a path can be, and one plain name.
_ABOVE = re.compile(r"(?:\.\./){1,2048}[a-z._-]{1,40}")


@dataclass(frozen=True)
class Event:
    kind: ClassVar[str]


@dataclass(frozen=True)
class Hello(Event):
    """The interpreter has started; `pytest` is its version, or None with the reason in `error`."""

    kind = "hello"
    python: str
    executable: str
    pytest: str | None
    error: str | None


@dataclass(frozen=True)
class AboveRoot(Event):
    """What pytest would have used if its search did not end at the root: paths as seen from there."""

    kind = "above_root"
    settings: list[str]
    conftests: list[str]

    def __post_init__(self) -> None:
        """These stand in a sentence of ours, so nothing passes but the way up and a name that pytest looks for."""
        if not all(_ABOVE.fullmatch(path) for path in (*self.settings, *self.conftests)):
            raise ValueError("not above the root")


@dataclass(frozen=True)
class Configured(Event):
    kind = "configured"
    inifile: str | None
    from_cache: list[str]


@dataclass(frozen=True)
class Portrait(Event):
    """What pytest runs with, only where that was asked for."""

    kind = "portrait"
    prefix: str
    rootdir: str
    inifile: str | None
    plugins: list[str]
    testpaths: list[str]
    addopts: list[str]
    python_files: list[str]
    markers: list[str]


@dataclass(frozen=True)
class Refused(Event):
    """Files that were named explicitly and that the project's own collection would not take."""

    kind = "refused"
    files: list[str]


@dataclass(frozen=True)
class DoctestsLeftOut(Event):
    """Modules that a call reached and the project's own collection does not: how many, None where it is not known."""

    kind = "doctests_left_out"
    count: int | None
    first: str | None


@dataclass(frozen=True)
class Unreachable(Event):
    """Files with tests that no call can name: by a link they lie outside the root, or `::` stands in their path."""

    kind = "unreachable"
    files: list[str]


@dataclass(frozen=True)
class UsageFault(Event):
    """pytest's own UsageError, and the file that configures it, if there is one."""

    kind = "usage_error"
    messages: list[str]
    configuration: str | None


@dataclass(frozen=True)
class Escaped(Event):
    """An exception that left pytest altogether."""

    kind = "escaped"
    error_type: str
    message: str
    traceback: str


@dataclass(frozen=True)
class SessionStarted(Event):
    kind = "session_started"


@dataclass(frozen=True)
class CollectionFailed(Event):
    kind = "collection_error"
    file: str
    error_type: str | None
    message: str | None
    line: int | None
    traceback: str


@dataclass(frozen=True)
class CollectionSkipped(Event):
    """A whole module that asked to be skipped; pytest counts it as one skipped test."""

    kind = "collection_skipped"
    id: str
    reason: str


@dataclass(frozen=True)
class Collected(Event):
    """One collector in the pytest-json-report plugin's shape; only with detail full."""

    kind = "collector"
    collector: dict[str, Any]


@dataclass(frozen=True)
class Deselected(Event):
    kind = "deselected"
    count: int
    ids: list[str] | None


@dataclass(frozen=True)
class Selected(Event):
    kind = "selected"
    count: int


@dataclass(frozen=True)
class LeftOut(Event):
    """A named target of which no test is left: how many were found, and the options or code that left them out."""

    kind = "left_out"
    id: str
    found: int
    by: list[str]


@dataclass(frozen=True)
class Compared(Event):
    """All named targets were compared with the collected tests. Never told by xdist's controller: it collects none."""

    kind = "compared"


@dataclass(frozen=True)
class FromCache(Event):
    """Options that left tests out for what failed last time. Not `certain` under xdist, whose workers do not tell."""

    kind = "from_cache"
    options: list[str]
    certain: bool


@dataclass(frozen=True)
class Marks(Event):
    """Which marks are registered, and which the tests have; only where marks were to choose the tests."""

    kind = "marks"
    registered: list[str]
    used: list[str]


@dataclass(frozen=True)
class NothingSelected(Event):
    """Options that leave tests out, where pytest looked, for which names, and how many Python files (do not) match."""

    kind = "nothing_selected"
    options: list[str]
    patterns: list[str]
    places: list[str]
    matching: int
    others: int


class Item(NamedTuple):
    """A discovered test."""

    id: str
    classes: list[str]
    function: str
    line: int | None


@dataclass(frozen=True)
class Items(Event):
    """Some discovered tests, each a row in the order of an item's fields: there may be a hundred thousand."""

    kind = "items"
    rows: list[list[Any]]

    def __post_init__(self) -> None:
        for id_, classes, function, line in self.rows:
            texts = [id_, function, *classes]
            if not all(type(text) is str for text in texts) or type(line) not in (int, NoneType):
                raise ValueError("not an item")

    @property
    def items(self) -> list[Item]:
        return [Item(*row) for row in self.rows]


@dataclass(frozen=True)
class Started(Event):
    kind = "started"
    id: str


@dataclass(frozen=True)
class Phase(Event):
    """Setup, call or teardown of a test that was not a plain pass, or any of them with detail full."""

    kind = "phase"
    id: str
    when: str
    outcome: str
    xfail: str | None
    message: str | None
    location: list[Any] | None
    traceback: str | None
    sections: list[list[str]]
    subtest: str | None
    stage: dict[str, Any] | None

    def __post_init__(self) -> None:
        """A section is a title and its text; a location is a path and a line."""
        pairs = [*self.sections, *([] if self.location is None else [self.location])]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("not a pair")


@dataclass(frozen=True)
class Finished(Event):
    """A test is over. `passed` is false where it failed, was skipped, or was never called (--setup-plan)."""

    kind = "finished"
    id: str
    duration: float
    passed: bool


@dataclass(frozen=True)
class Warned(Event):
    kind = "warning"
    message: str
    category: str
    when: str
    filename: str
    lineno: int
    id: str | None


@dataclass(frozen=True)
class ImportedElsewhere(Event):
    """A package or module that the project has, and that was imported from another place than its own."""

    kind = "imported_elsewhere"
    name: str
    file: str
    own: str


@dataclass(frozen=True)
class Seeded(Event):
    """The seed that pytest-randomly orders tests by, and seeds random numbers with."""

    kind = "seeded"
    seed: int


@dataclass(frozen=True)
class Unreported(Event):
    """Something happened that the reporter could not describe; whatever it was, the run is no pass."""

    kind = "unreported"
    what: str


@dataclass(frozen=True)
class InternalFault(Event):
    kind = "internal_error"
    text: str


@dataclass(frozen=True)
class Interrupted(Event):
    kind = "interrupted"
    error_type: str
    message: str
    stack: list[str]


@dataclass(frozen=True)
class SessionEnded(Event):
    kind = "session_ended"
    exit_status: int
    duration: float
    created: float
    root: str | None
    collected: int
    json_exit_code: int
    stopped: str | None
    clipped_texts: int
    clipped_characters: int


@dataclass(frozen=True)
class Returned(Event):
    """pytest has come back, with all hooks after its session; its process has nothing more to do but exit with this."""

    kind = "returned"
    exit_status: int


# Why a process is over: by itself, at the deadline, on our order, for filling the disk, or unknown
# because its supervisor was killed.
Reason = Literal["exited", "timeout", "stopped", "overflow", "lost"]
# What became of its report: nothing was ever written, it is all there, something has truncated it, or it holds so many
# records that not all of them were read.
ReportState = Literal["unwritten", "kept", "truncated", "unread"]


@dataclass(frozen=True)
class Exit:
    """How the child's process ended. The only news that is not the child's own: `process` tells it."""

    code: int | None
    signal: str | None
    reason: Reason
    duration: float
    stdout: str
    stderr: str
    # Processes it had started, left behind, and that were ended for it.
    strays: int = 0
    # How many of them would not go in time.
    left: int = 0
    # Bytes that are missing from the middle of what it printed.
    left_out: int = 0
    report: ReportState = "kept"

    @property
    def timed_out(self) -> bool:
        return self.reason == "timeout"
