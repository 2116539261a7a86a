"""What the child reports: one class for each kind of event.

The fields are those of the records that `child` writes; a test compares the two. Tests can write records too, so what
goes into a sentence, is unpacked or is counted is checked here; the types of fields are checked in `decode`.
"""

import re
from collections.abc import Iterator
from dataclasses import Field, dataclass
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, dataclass_transform

from pytest_mcp.run.exceptions import Chain, parse_chain

# The most lines of one record of a traced test, and the largest number of a line.
MAX_LINES = 100_000
LAST_LINE = 10_000_000
# Lines of a file (`3-5,9`).
_RANGES = re.compile(r"\d{1,8}(?:-\d{1,8})?(?:,\d{1,8}(?:-\d{1,8})?)*")
# The way up from a root, however deep a path can be, and one plain name.
_ABOVE = re.compile(r"(?:\.\./){1,2048}[a-z._-]{1,40}")


@dataclass_transform(frozen_default=True)
class Event:
    """Each kind is a frozen dataclass, as the type checker sees it: equal to another one with equal values.

    Generating the six methods of one for each of fifty classes would take 40 ms at every start; this generates one.
    """

    kind: ClassVar[str]
    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        dataclass(repr=False, eq=False)(cls)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and type(self) is type(other) and self._values == other._values

    def __hash__(self) -> int:
        return hash(self._values)

    def __repr__(self) -> str:
        named = zip(self.__dataclass_fields__, self._values, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in named)})"

    @property
    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


class Hello(Event, kind="hello"):
    """The interpreter has started; `pytest` is its version, or None with the reason in `error`."""

    python: str
    executable: str
    pytest: str | None
    error: str | None


class AboveRoot(Event, kind="above_root"):
    """What pytest would have used if its search did not end at the root: paths as seen from there."""

    settings: list[str]
    conftests: list[str]

    def __post_init__(self) -> None:
        """These go into a sentence of ours, so only the way up and a name that pytest looks for are accepted."""
        if not all(_ABOVE.fullmatch(path) for path in (*self.settings, *self.conftests)):
            raise ValueError("not above the root")


class Configured(Event, kind="configured"):
    inifile: str | None
    from_cache: list[str]


class Portrait(Event, kind="portrait"):
    """What pytest runs with, only where that was asked for."""

    prefix: str
    rootdir: str
    inifile: str | None
    plugins: list[str]
    testpaths: list[str]
    addopts: list[str]
    python_files: list[str]
    markers: list[str]


class UsageFault(Event, kind="usage_error"):
    """pytest's own UsageError, and the file that configures it, if there is one."""

    messages: list[str]
    configuration: str | None


class Escaped(Event, kind="escaped"):
    """An exception that left pytest altogether."""

    error_type: str
    message: str
    traceback: str


class SessionStarted(Event, kind="session_started"):
    """pytest is configured and begins to collect."""


class Started(Event, kind="started"):
    id: str


class StartedAt(Started, kind="started_at"):
    """With xdist: the test's place in the collection. Its workers run tests in another order."""

    index: int


class Phase(Event, kind="phase"):
    """Setup, call or teardown of a test that was not a plain pass, or any of them with detail full."""

    id: str
    when: str
    outcome: str
    xfail: str | None
    message: str | None
    location: list[Any] | None
    # pytest's own rendering; None where the chain says it all.
    traceback: str | None
    chain: list[Any] | None
    sections: list[list[str]]
    subtest: str | None
    stage: dict[str, Any] | None

    def __post_init__(self) -> None:
        """A section is a title and its text; a location is a path and a line."""
        pairs = [*self.sections, *([] if self.location is None else [self.location])]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("not a pair")
        _ = self.exceptions

    @property
    def exceptions(self) -> Chain:
        """The chain of exceptions; empty where pytest has only text."""
        return () if self.chain is None else parse_chain(self.chain)


class Finished(Event, kind="finished"):
    """A test is over. `passed` is false where it failed, was skipped, or was never called (--setup-plan)."""

    id: str
    duration: float
    passed: bool


class Warned(Event, kind="warning"):
    message: str
    category: str
    when: str
    filename: str
    lineno: int
    id: str | None


class ImportedElsewhere(Event, kind="imported_elsewhere"):
    """A package or module that the project has, and that was imported from another place than its own."""

    name: str
    file: str
    own: str


class Seeded(Event, kind="seeded"):
    """The seed that pytest-randomly orders tests by, and seeds random numbers with."""

    seed: int


class Unreported(Event, kind="unreported"):
    """Something happened that the reporter could not describe; whatever it was, the run is no pass."""

    what: str


class InternalFault(Event, kind="internal_error"):
    text: str


class Interrupted(Event, kind="interrupted"):
    error_type: str
    message: str
    stack: list[str]


class Ending(Event, kind="ending"):
    """The time is over, or a person interrupts the run. Written by the supervisor, just before it sends SIGINT."""


class SessionEnded(Event, kind="session_ended"):
    exit_status: int
    duration: float
    created: float
    root: str | None
    collected: int
    json_exit_code: int
    stopped: str | None
    clipped_texts: int
    clipped_characters: int


class Returned(Event, kind="returned"):
    """pytest has come back, with all hooks after its session; its process has nothing more to do but exit with this."""

    exit_status: int


# --- the collection ------------------------------------------------------------------------------


class FilesRefused(Event, kind="refused"):
    """Files that were named explicitly and that the project's own collection would not take."""

    files: list[str]


class DoctestsLeftOut(Event, kind="doctests_left_out"):
    """How many modules a call reached that the project's own collection does not, and the first of them."""

    count: int
    first: str


class Unreachable(Event, kind="unreachable"):
    """Files with tests that no call can name: by a link they lie outside the root, or `::` stands in their path."""

    files: list[str]


class CollectionFailed(Event, kind="collection_error"):
    file: str
    error_type: str | None
    message: str | None
    line: int | None
    traceback: str


class CollectionSkipped(Event, kind="collection_skipped"):
    """A whole module that asked to be skipped; pytest counts it as one skipped test."""

    id: str
    reason: str


class Collected(Event, kind="collector"):
    """One collector in the pytest-json-report plugin's shape; only with detail full."""

    collector: dict[str, Any]


class Deselected(Event, kind="deselected"):
    count: int
    ids: list[str] | None


class Selected(Event, kind="selected"):
    count: int


class Divided(Event, kind="divided"):
    """The share of this shard: its tests, all tests and their files, and a digest of how many tests each file has."""

    tests: int
    total: int
    files: int
    digest: str


class Unreached(Event, kind="unreached"):
    """How many tests were deselected because the change cannot reach them."""

    count: int


class TargetLeftOut(Event, kind="left_out"):
    """A named target of which no test is left: how many were found, and the options or code that left them out."""

    id: str
    found: int
    by: list[str]


class TargetsCompared(Event, kind="compared"):
    """All named targets were compared with the collected tests. Not known of xdist's workers without our plugin."""


class FromCache(Event, kind="from_cache"):
    """Options that left tests out for what failed last time."""

    options: list[str]


class Marks(Event, kind="marks"):
    """Which marks are registered, and which the tests have; only where marks were to choose the tests."""

    registered: list[str]
    used: list[str]


class NothingSelected(Event, kind="nothing_selected"):
    """Options that leave tests out, where pytest looked, for which names, and how many Python files (do not) match.

    `near` has names of tests that a word of -k nearly matches.
    """

    options: list[str]
    patterns: list[str]
    places: list[str]
    matching: int
    others: int
    near: list[str]


class Item(NamedTuple):
    """A discovered test."""

    id: str
    classes: list[str]
    function: str
    line: int | None


class Items(Event, kind="items"):
    """Some discovered tests, each a row in the order of an item's fields: there may be a hundred thousand."""

    rows: list[list[Any]]

    def __post_init__(self) -> None:
        for id_, classes, function, line in self.rows:
            texts = [id_, function, *classes]
            if not all(type(text) is str for text in texts) or type(line) not in (int, NoneType):
                raise ValueError("not an item")

    @property
    def items(self) -> list[Item]:
        return [Item(*row) for row in self.rows]


# --- workers of pytest-xdist ---------------------------------------------------------------------


class NoXdist(Event, kind="no_xdist"):
    """A call asks for workers, but pytest-xdist is not installed, or the project does not load it."""

    installed: bool


class Distributed(Event, kind="distributed"):
    """xdist has started: with how many workers."""

    workers: int


class RanOn(Event, kind="ran_on"):
    """The tests that one worker ran, by their places in the collection."""

    worker: str
    indexes: list[int]


class WorkerDown(Event, kind="worker_down"):
    """A worker process died; xdist may have replaced it."""

    worker: str
    error: str

    @property
    def reason(self) -> str:
        """The last line: the others are a traceback."""
        return (self.error.strip().splitlines() or [""])[-1].strip()


class WorkerStack(Event, kind="worker_stack"):
    """What a worker was doing when the run was interrupted: the test it ran, and the frames of its main thread."""

    id: str | None
    stack: list[str]


class Overrun(Event, kind="overrun"):
    """How many tests finished after the failure at which the run had to stop."""

    count: int


# --- coverage ------------------------------------------------------------------------------------


class NoCoverage(Event, kind="no_coverage"):
    """A call asks for coverage, but coverage.py cannot be imported."""

    error: str


class Measuring(Event, kind="measuring"):
    """pytest has come back; before its process exits with this, what was measured is put together."""

    exit_status: int


class CoveredFile(Event, kind="covered_file"):
    """How many lines of a file count, how many of them did not run, and the first of those as ranges (`3-5,9`)."""

    file: str
    lines: int
    missed: int
    ranges: str
    # Branches that were not taken, as pairs of lines; a negative one leaves the function. None: not measured.
    untaken: list[list[int]] | None

    def __post_init__(self) -> None:
        if (self.ranges and not _RANGES.fullmatch(self.ranges)) or any(len(pair) != 2 for pair in self.untaken or ()):
            raise ValueError("not lines")


class Covered(Event, kind="covered"):
    """All files together; `error` is why nothing is known. None: not measured, or only some lines were asked for."""

    percent: float | None
    lines: int
    missed: int
    branches: int | None
    untaken: int | None
    files: int
    error: str | None


# --- traced tests --------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of the project's code, and the qualified name of the function that it belongs to."""

    file: str
    function: str
    number: int


class Executed(Event, kind="executed"):
    """`code` has for each file the functions, as pairs of a qualified name and ranges of lines (`3-5,9`)."""

    id: str
    code: dict[str, Any]
    # Of a failing test the functions that were called, the last one first, as pairs of a file and a name.
    calls: list[list[str]]
    # False if something else replaced the trace function.
    complete: bool

    def __post_init__(self) -> None:
        if any(len(call) != 2 for call in self.calls):
            raise ValueError("not a file and a name")
        left = MAX_LINES
        for pair in chain.from_iterable(self.code.values()):
            if type(pair) is not list or [type(each) for each in pair] != [str, str] or not _RANGES.fullmatch(pair[1]):
                raise ValueError("not a function and its lines")
            left -= sum(last - first + 1 for first, last in _parse_ranges(pair[1]))
            if left < 0:
                raise ValueError("too many lines")

    def lines(self) -> Iterator[Line]:
        """One by one: those of many tests would take much memory."""
        for file, functions in self.code.items():
            for name, text in functions:
                for first, last in _parse_ranges(text):
                    for number in range(first, last + 1):
                        yield Line(file, name, number)


def _parse_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Raises ValueError if it is no such text."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        pair = int(first), int(last or first)
        if not 0 <= pair[0] <= pair[1] <= LAST_LINE:
            raise ValueError("not a range")
        yield pair
