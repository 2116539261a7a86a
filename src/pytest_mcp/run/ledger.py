"""What the child has reported so far, kept test by test.

Events come in any order, and some may be missing. Counts and outcomes can be read at any moment, so a run that is cut
short still has everything it had reported. What the whole means is decided in `report`.
"""

from dataclasses import dataclass, field, replace
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pytest_mcp.api.targets import can_be_asked
from pytest_mcp.run import events, recordings
from pytest_mcp.run.decode import KINDS, Record
from pytest_mcp.run.events import Event, Phase
from pytest_mcp.run.outcome import TestRecord
from pytest_mcp.text import cut_middle

# The text of all failures together, in characters; beyond it each failure is shortened.
KEPT_TEXT = 20_000_000
SHORTENED_TEXT = 500
# About what is kept of a run in all, in bytes: a quarter of a million tests with ordinary names. Records beyond it
# are counted as lost, so that such a run does not pass.
KEPT_BYTES = 160_000_000
# The memory of one object, and of a test without its name.
BYTES_OF_A_VALUE = 56
BYTES_OF_A_TEST = 400
# How many warnings are kept; later ones are only counted.
KEPT_WARNINGS = 5_000

# What does not count once the run is being ended.
_OF_THE_COURSE = (
    events.SessionStarted,
    events.Started,
    events.StartedAt,
    events.Phase,
    events.Finished,
    events.SessionEnded,
    events.Items,
    events.Selected,
    events.CollectionFailed,
    events.CollectionSkipped,
)


@dataclass
class Ledger:
    kept_text: int = KEPT_TEXT
    kept_bytes: int = KEPT_BYTES
    kept_warnings: int = KEPT_WARNINGS
    hello: events.Hello | None = None
    above_root: events.AboveRoot | None = None
    configured: events.Configured | None = None
    portrait: events.Portrait | None = None
    refused: events.FilesRefused | None = None
    usage_fault: events.UsageFault | None = None
    escaped: events.Escaped | None = None
    internal_fault: events.InternalFault | None = None
    interrupted: events.Interrupted | None = None
    ended: events.SessionEnded | None = None
    returned: events.Returned | None = None
    from_cache: events.FromCache | None = None
    seeded: events.Seeded | None = None
    remembered: events.Remembered | None = None
    marks: events.Marks | None = None
    nothing_selected: events.NothingSelected | None = None
    doctests_left_out: events.DoctestsLeftOut | None = None
    unreachable: events.Unreachable | None = None
    divided: events.Divided | None = None
    unreached: events.Unreached | None = None
    no_xdist: events.NoXdist | None = None
    no_coverage: events.NoCoverage | None = None
    measuring: events.Measuring | None = None
    covered: events.Covered | None = None
    covered_files: list[events.CoveredFile] = field(default_factory=list)
    timed: list[events.Timed] = field(default_factory=list)
    distributed: events.Distributed | None = None
    # The worker of each test, by the test's place in the collection.
    ran_on: dict[int, str] = field(default_factory=dict)
    workers_down: list[events.WorkerDown] = field(default_factory=list)
    worker_stacks: list[events.WorkerStack] = field(default_factory=list)
    session_started: bool = False
    ending: bool = False
    compared: bool = False
    left_out: dict[str, events.TargetLeftOut] = field(default_factory=dict)
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
    executed: dict[str, recordings.Executed] = field(default_factory=dict)
    call_values: list[recordings.CallValues] = field(default_factory=list)
    call_codes: list[recordings.CallCodes] = field(default_factory=list)
    calls: list[recordings.Calls] = field(default_factory=list)
    calls_ended: list[recordings.CallsEnded] = field(default_factory=list)
    probed: list[recordings.Probed] = field(default_factory=list)
    tried: list[recordings.Tried] = field(default_factory=list)
    changed_code: recordings.ChangedCode | None = None
    probing_ended: recordings.ProbingEnded | None = None
    failed: int = 0
    unreported: int = 0
    last_number: int = 0
    gaps: int = 0
    shortened: int = 0
    # How many were not kept.
    more_warnings: int = 0
    _held_text: int = 0
    _held_bytes: int = 0
    _completed: list[TestRecord] | None = None

    def take(self, record: Record) -> None:
        """Add a numbered event. The one writer counts up from one, so a gap is a record that was lost."""
        self.gaps += max(0, record.number - self.last_number - 1)
        self.last_number = max(self.last_number, record.number)
        self.add(record.event)

    def add(self, event: Event) -> None:
        self._completed = None
        match event:
            case _ if self.ending and self._is_too_late(event):
                pass
            case events.Ending():
                self.ending = True
            case events.StartedAt():
                self._start(event.id, event.index)
            case events.Started():
                self._start(event.id)
            case events.Phase():
                self._record_phase(event)
            case events.Finished():
                self._finish(event)
            case events.Warned() if len(self.warnings) >= self.kept_warnings:
                self.more_warnings += 1
            case events.Unreported():
                self.unreported += 1
            case _ if not self._has_room(weight(event)):
                self.unreported += 1
            case _:
                self._keep(event)

    def _is_too_late(self, event: Event) -> bool:
        """What ran at the time limit was stuck, though it may swallow the signal and go on. Workers get no signal."""
        if isinstance(event, events.CollectionFailed) and event.error_type == "KeyboardInterrupt":
            return False  # in older versions of pytest an interrupted import
        return self.distributed is None and isinstance(event, _OF_THE_COURSE)

    def _has_room(self, size: int) -> bool:
        """Whether so much more can be kept; if so, it is counted as kept."""
        if self._held_bytes + size > self.kept_bytes:
            return False
        self._held_bytes += size
        return True

    def _keep(self, event: Event) -> None:
        match event:
            case events.Items():
                self.items += event.rows
            case events.Selected():
                self.selected = max(self.selected or 0, event.count)
            case events.Deselected():
                self.deselected += event.count
                self.deselected_ids.update(event.ids or ())
            case recordings.Executed():
                self.executed[event.id] = event
            case events.TargetLeftOut():
                self.left_out[event.id] = event
            case events.RanOn():
                self.ran_on.update(dict.fromkeys(event.indexes, event.worker))
            case events.WorkerStack():
                self.worker_stacks.append(event)
                if event.id is not None and event.id not in self.tests:  # the controller did not see it start
                    self._start(event.id)
            case events.TargetsCompared():
                self.compared = True
            case events.SessionStarted():
                self.session_started = True
            case _:
                self._keep_whole(event)

    def _keep_whole(self, event: Event) -> None:
        kind = type(event)
        if kind in _ALL_ARE_KEPT:
            getattr(self, _ALL_ARE_KEPT[kind]).append(event)
        # Told again: where addopts bring in more from above the root, and when the project's own code is loaded.
        elif isinstance(event, events.AboveRoot | events.Portrait) or not getattr(self, _ONE[kind]):
            setattr(self, _ONE[kind], event)

    def _start(self, node_id: str, index: int = 0) -> None:
        # A test that a plugin repeats starts again; it is the same test.
        if (record := self._test(node_id)) is not None:
            record.index = index
            record.finished = False
            self.running[node_id] = None

    def _test(self, node_id: str) -> TestRecord | None:
        """The test of this id, created if it is new; None if there is no room for one more."""
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
        if self._has_room(weight(kept)):
            record.phases.append(kept)
        else:
            self.unreported += 1
            kept = _without_text(phase)
            # The failure itself is never lost.
            record.phases += [] if record.failed or phase.outcome != "failed" else [kept]
        if phase.outcome == "failed" and not record.failed:
            record.failed = True
            self.failed += 1

    def _bounded(self, phase: Phase) -> Phase:
        """The phase, with its texts shortened once the text of all failures exceeds its limit."""
        texts = [phase.message or "", phase.traceback or "", *(text for _, text in phase.sections)]
        self._held_text += sum(map(len, texts)) + (weight(phase.chain) if phase.chain else 0)
        if self._held_text <= self.kept_text:
            return phase
        self.shortened += 1
        return replace(
            phase,
            message=phase.message and cut_middle(phase.message, SHORTENED_TEXT),
            traceback=phase.traceback and cut_middle(phase.traceback, SHORTENED_TEXT),
            chain=None,
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
        # A repeated test counts once.
        self.finished += not record.counted
        record.counted = True
        self.running.pop(event.id, None)

    @property
    def lost(self) -> int:
        """How many records did not arrive, could not be made, or could not be kept."""
        return self.gaps + self.unreported

    @property
    def in_order(self) -> list[TestRecord]:
        """The tests in the order in which one process starts them."""
        records = list(self.tests.values())
        return records if self.distributed is None else sorted(records, key=lambda record: record.index)

    @property
    def warnings_in_order(self) -> list[events.Warned]:
        """Those of tests in the order of the tests."""
        if self.distributed is None:
            return self.warnings
        places = {record.node_id: record.index for record in self.tests.values()}
        of_tests = [warning for warning in self.warnings if warning.when == "runtest"]
        ordered = iter(sorted(of_tests, key=lambda warning: places.get(warning.id or "", 0)))
        return [next(ordered) if warning.when == "runtest" else warning for warning in self.warnings]

    @property
    def completed(self) -> list[TestRecord]:
        """The tests with an outcome. Asked for often: there may be a million."""
        if self._completed is None:
            self._completed = [record for record in self.in_order if record.outcome is not None]
        return self._completed

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


def _attributes(of: Any) -> dict[type[Event], str]:
    """For each kind of event: the attribute of a ledger for one of it (`Kind | None`), or for all (`list[Kind]`)."""
    hints = get_type_hints(Ledger).items()
    kinds = [(get_args(hint)[0], name) for name, hint in hints if get_origin(hint) is of]
    return {kind: name for kind, name in kinds if kind in KINDS.values()}


_ONE = _attributes(UnionType)
_ALL_ARE_KEPT = _attributes(list)


def weight(value: Any) -> int:
    """About how many bytes of memory an event or a JSON value takes."""
    size, todo = 0, [value]
    while todo:
        each = todo.pop()
        size += BYTES_OF_A_VALUE
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, (list, tuple)):
            todo += each
        elif isinstance(each, dict) or hasattr(each, "__dict__"):
            members = each if isinstance(each, dict) else vars(each)
            todo += [*members.keys(), *members.values()]
    return size


def _without_text(phase: Phase) -> Phase:
    empty: dict[str, Any] = dict.fromkeys(("xfail", "message", "location", "traceback", "chain", "subtest", "stage"))
    when = phase.when if phase.when in ("setup", "teardown") else "call"
    return replace(phase, when=when, sections=[], **empty)
