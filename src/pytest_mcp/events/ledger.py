"""What the child has told so far, kept test by test, and the run it belongs to.

In come events, in any order and any state of completeness; out come counts and outcomes that can be
asked for at any moment, so that a run that is cut short still has everything it had reported. What
the whole means is decided in `result` (a result and its verdict) and `no_result` (an error).
"""

from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pytest_mcp.api.requests import Request
from pytest_mcp.api.results import Outcome
from pytest_mcp.api.targets import can_be_asked
from pytest_mcp.events import model as events
from pytest_mcp.events.decode import Record
from pytest_mcp.events.model import Event, Exit, Phase
from pytest_mcp.text import cut_middle

Asked_co = TypeVar("Asked_co", bound=Request, covariant=True)

# What all failures of a run may say together, in characters; beyond it each says only a little.
KEPT_TEXT = 20_000_000
SHORTENED_TEXT = 500
# What is kept of a run in all, in bytes, near enough: a quarter of a million tests with ordinary names. Records beyond
# it are counted as lost, so that such a run is no pass.
KEPT_BYTES = 160_000_000
# What Python takes for one object that is kept, and what a test takes besides its name.
BYTES_OF_A_VALUE = 56
BYTES_OF_A_TEST = 400
# Warnings that are kept whole; beyond them they are only counted.
KEPT_WARNINGS = 5_000


@dataclass(slots=True)
class TestRecord:
    """One test, however many reports it had; each test counts once."""

    __test__ = False  # not a test class, whatever its name

    node_id: str
    phases: list[Phase] = field(default_factory=list)
    duration: float = 0.0
    finished: bool = False
    passed: bool = False
    # Whether a phase of it failed, and whether it came to an end before, however often it is repeated.
    bad: bool = False
    counted: bool = False

    @property
    def outcome(self) -> Outcome | None:
        """None while the test has not come to an end.

        A failed call makes it `failed` whatever else went wrong; a failure in setup or teardown alone
        makes it `error`. An attempt that a plugin repeats has an outcome of its own and does not count.
        """
        if not self.phases:
            return "passed" if self.finished and self.passed else None
        failed = {phase.when for phase in self.phases if phase.outcome == "failed"}
        if failed - {"setup", "teardown"}:
            return "failed"
        if failed:
            return "error"
        if any(phase.outcome == "skipped" and phase.subtest is None for phase in self.phases):
            return "skipped"
        return "passed" if self.finished and self.passed else None

    @property
    def repeated(self) -> bool:
        return any(phase.outcome in ("rerun", "retried") for phase in self.phases)


@dataclass
class Ledger:
    hello: events.Hello | None = None
    above_root: events.AboveRoot | None = None
    configured: events.Configured | None = None
    portrait: events.Portrait | None = None
    refused: events.Refused | None = None
    usage_fault: events.UsageFault | None = None
    escaped: events.Escaped | None = None
    internal_fault: events.InternalFault | None = None
    interrupted: events.Interrupted | None = None
    ended: events.SessionEnded | None = None
    returned: events.Returned | None = None
    from_cache: events.FromCache | None = None
    seeded: events.Seeded | None = None
    marks: events.Marks | None = None
    nothing_selected: events.NothingSelected | None = None
    doctests_left_out: events.DoctestsLeftOut | None = None
    unreachable: events.Unreachable | None = None
    session_started: bool = False
    compared: bool = False
    left_out: dict[str, events.LeftOut] = field(default_factory=dict)
    selected: int | None = None
    deselected: int = 0
    tests: dict[str, TestRecord] = field(default_factory=dict)
    running: dict[str, None] = field(default_factory=dict)
    finished: int = 0
    items: list[events.Item] = field(default_factory=list)
    collection_failures: list[events.CollectionFailed] = field(default_factory=list)
    skipped_modules: list[events.CollectionSkipped] = field(default_factory=list)
    warnings: list[events.Warned] = field(default_factory=list)
    imported_elsewhere: list[events.ImportedElsewhere] = field(default_factory=list)
    collectors: list[events.Collected] = field(default_factory=list)
    deselected_ids: set[str] = field(default_factory=set)
    failed: int = 0
    unreported: int = 0
    last_number: int = 0
    gaps: int = 0
    shortened: int = 0
    warned: int = 0
    _held_text: int = 0
    _held_bytes: int = 0

    def take(self, record: Record) -> None:
        """Add a numbered event. The one writer counts up from one, so a gap is a record that was lost."""
        self.gaps += max(0, record.number - self.last_number - 1)
        self.last_number = max(self.last_number, record.number)
        self.add(record.event)

    def add(self, event: Event) -> None:
        match event:
            case events.Started():
                self._start(event.id)
            case events.Phase():
                self._record_phase(event)
            case events.Finished():
                self._finish(event)
            case events.Warned() if self.warned >= KEPT_WARNINGS:
                self.warned += 1
            case _ if not self._has_room(weight(vars(event))):
                self.unreported += 1
            case _:
                self._keep(event)

    def _has_room(self, size: int) -> bool:
        """Whether so much more can be kept; what was promised room has it."""
        if self._held_bytes + size > KEPT_BYTES:
            return False
        self._held_bytes += size
        return True

    def _keep(self, event: Event) -> None:
        match event:
            case events.Items():
                self.items += event.items
            case events.Selected():
                self.selected = max(self.selected or 0, event.count)
            case events.Deselected():
                self.deselected += event.count
                self.deselected_ids.update(event.ids or ())
            case events.CollectionFailed():
                self.collection_failures.append(event)
            case events.CollectionSkipped():
                self.skipped_modules.append(event)
            case events.Collected():
                self.collectors.append(event)
            case events.Warned():
                self.warned += 1
                self.warnings.append(event)
            case events.ImportedElsewhere():
                self.imported_elsewhere.append(event)
            case events.Unreported():
                self.unreported += 1
            case events.LeftOut():
                self.left_out[event.id] = event
            case events.Compared():
                self.compared = True
            case events.SessionStarted():
                self.session_started = True
            case events.AboveRoot():
                # Told again where the project's addopts would bring in more.
                self.above_root = event
            case events.Portrait():
                # Painted twice: before the project's own code is loaded, and after.
                self.portrait = event
            case _:
                self._remember_once(event)

    def _start(self, node_id: str) -> None:
        # A test that a plugin repeats starts again; it is the same test.
        if (record := self._test(node_id)) is not None:
            record.finished = False
            self.running[node_id] = None

    def _test(self, node_id: str) -> TestRecord | None:
        """The test of this id, from now on if it is new; None where there is no room for one more."""
        record = self.tests.get(node_id)
        if record is None and self._has_room(BYTES_OF_A_TEST + len(node_id)):
            record = self.tests[node_id] = TestRecord(node_id)
        if record is None:
            self.unreported += 1
        return record

    def _record_phase(self, phase: Phase) -> None:
        record = self._test(phase.id)
        if record is None:
            return
        kept = self._bounded(phase)
        if self._has_room(weight(vars(kept))):
            record.phases.append(kept)
        else:
            self.unreported += 1
            kept = _without_text(phase)
            # That a test failed is never lost.
            record.phases += [] if record.bad or phase.outcome != "failed" else [kept]
        if phase.outcome == "failed" and not record.bad:
            record.bad = True
            self.failed += 1

    def _bounded(self, phase: Phase) -> Phase:
        """The phase, with its texts shortened when all failures together already say too much."""
        texts = [phase.message or "", phase.traceback or "", *(text for _, text in phase.sections)]
        self._held_text += sum(map(len, texts))
        if self._held_text <= KEPT_TEXT:
            return phase
        self.shortened += 1
        return replace(
            phase,
            message=phase.message and cut_middle(phase.message, SHORTENED_TEXT),
            traceback=phase.traceback and cut_middle(phase.traceback, SHORTENED_TEXT),
            sections=[],
            stage=None,
        )

    def _finish(self, event: events.Finished) -> None:
        record = self._test(event.id)
        if record is None:
            return
        record.duration += event.duration
        record.passed = event.passed
        record.finished = True
        # One that is repeated counts once.
        self.finished += not record.counted
        record.counted = True
        self.running.pop(event.id, None)

    def _remember_once(self, event: Event) -> None:
        match event:
            case events.Hello():
                self.hello = self.hello or event
            case events.Configured():
                self.configured = self.configured or event
            case events.Refused():
                self.refused = self.refused or event
            case events.UsageFault():
                self.usage_fault = self.usage_fault or event
            case events.Escaped():
                self.escaped = self.escaped or event
            case events.InternalFault():
                self.internal_fault = self.internal_fault or event
            case events.Interrupted():
                self.interrupted = self.interrupted or event
            case events.FromCache():
                self.from_cache = self.from_cache or event
            case events.Seeded():
                self.seeded = self.seeded or event
            case events.Marks():
                self.marks = self.marks or event
            case events.NothingSelected():
                self.nothing_selected = self.nothing_selected or event
            case events.DoctestsLeftOut():
                self.doctests_left_out = self.doctests_left_out or event
            case events.Unreachable():
                self.unreachable = self.unreachable or event
            case events.SessionEnded():
                self.ended = self.ended or event
            case events.Returned():
                self.returned = self.returned or event
            case _:
                raise TypeError(f"no place for {type(event).__name__}")

    @property
    def lost(self) -> int:
        """How many records never arrived, or could not be made."""
        return self.gaps + self.unreported

    @property
    def completed(self) -> list[TestRecord]:
        """The tests with an outcome, in the order in which they started."""
        return [record for record in self.tests.values() if record.outcome is not None]

    @property
    def unresolved(self) -> int:
        """How many tests came to an end without an outcome, as under --setup-plan."""
        return sum(record.finished and record.outcome is None for record in self.tests.values())

    @property
    def unaskable(self) -> list[str]:
        """The ids of tests that a call cannot name."""
        files = set(self.unreachable.files if self.unreachable else ())
        misread = tuple(f"{file}::" for file in files if "::" in file)
        return [
            node_id
            for node_id in (*self.tests, *(item.id for item in self.items))
            if node_id.partition("::")[0] in files or node_id.startswith(misread) or not can_be_asked(node_id)
        ]

    @property
    def not_run(self) -> int:
        """How many selected tests never started."""
        return max(0, (self.selected or 0) - len(self.tests))


def weight(value: Any) -> int:
    """What a value of JSON takes in memory, near enough."""
    size, todo = 0, [value]
    while todo:
        each = todo.pop()
        size += BYTES_OF_A_VALUE
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, dict):
            todo += [*each.keys(), *each.values()]
        elif isinstance(each, (list, tuple)):
            todo += each
    return size


def _without_text(phase: Phase) -> Phase:
    empty: dict[str, Any] = {"xfail": None, "message": None, "location": None, "traceback": None, "subtest": None}
    when = phase.when if phase.when in ("setup", "teardown") else "call"
    return replace(phase, when=when, sections=[], stage=None, **empty)


@dataclass(frozen=True)
class Run(Generic[Asked_co]):
    """One child from its start to its end: what was asked, what it told, how it ended."""

    request: Asked_co
    ledger: Ledger
    exit: Exit
    command: tuple[str, ...]
    time_limit: int
    environment: dict[str, Any]
    # What makes one ask whether this was the right environment.
    doubts: tuple[str, ...] = ()
