"""The pytest plugin that records the calls of chosen tests: what each was given, and what came of it.

Loaded only for a job that asks for it. Tracing the imports takes longer than the test itself, so they are traced only
if the job asks for that too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generator, Iterator, Sequence

import pytest
from call_events import CallRecorder, TracedCall
from call_tracers import recorder
from code_facts import CodeFacts
from line_tracing import OnlyTracer, ProjectFiles
from value_reading import ValueReader

if TYPE_CHECKING:
    from reporter import Reporter

    from pytest_mcp.process.job import Job

# How many rows one record has.
ROWS = 1_000


class CallTracing(OnlyTracer):
    def __init__(self, reporter: Reporter, job: Job) -> None:
        assert job["calls"] is not None
        self.reporter = reporter
        self.wanted = job["calls"]
        # Those that are still to come, and the one that runs.
        self.left = set(self.wanted["tests"])
        self.test: str | None = None
        self.files = ProjectFiles(job["root"])
        self.replaced = [(job["root"], "{root}")] + [(folder, "{root}") for folder in job["moved"] or ()]
        self.lines_of = [(each["function"], each["line"], each["number"]) for each in self.wanted["lines_of"]]
        self.recorder = recorder(self.files.below_root, self.new_values(), self.lines_of)
        self.is_complete = True
        self.has_failed = False
        if self.wanted["imports"]:
            self.test = self.wanted["tests"][0]
            self.recorder.phase = "import"
            self.is_complete = self.recorder.resume()

    def new_values(self) -> ValueReader:
        return ValueReader(self.replaced, self.wanted["depth"], self.wanted["parts"])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self) -> Generator[None, None, None]:
        yield
        if self.recorder.is_recording:
            self.is_complete = self.recorder.pause() and self.is_complete

    # The innermost wrappers, for speed: with `settrace` every call in the hooks of other plugins takes longer.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, None, None]:
        yield from self.recording(item, "setup")

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, None, None]:
        yield from self.recording(item, "call")

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: Any) -> Generator[None, None, None]:
        yield from self.recording(item, "teardown")

    def recording(self, item: Any, phase: str) -> Iterator[None]:
        test = self.reporter.relocate(item.nodeid)
        if test not in self.left or (self.has_failed and test == self.test):
            yield
            return
        if test != self.test:
            self.begin(test)
        self.recorder.phase = phase
        self.is_complete = self.recorder.resume() and self.is_complete
        try:
            yield
        finally:
            self.is_complete = self.recorder.pause() and self.is_complete

    def begin(self, test: str) -> None:
        if self.test is not None:
            self.recorder.clear(self.new_values())
        self.test, self.is_complete, self.has_failed = test, True, False

    def pytest_runtest_logreport(self, report: Any) -> None:
        """What runs behind a failure has not caused it."""
        if report.failed and self.test == self.reporter.relocate(report.nodeid):
            self.has_failed = True

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        if self.test == self.reporter.relocate(nodeid):
            self.write()

    # Also if the time is over: what was recorded until then says where it was.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        self.write()
        yield

    # --- what is reported ----------------------------------------------------------------------

    def write(self) -> None:
        """Once for each test. It only informs, and must never raise into pytest."""
        if self.test in self.left:
            self.left.remove(self.test)
            with suppress(Exception):
                self.write_calls(self.test, self.recorder)

    def write_calls(self, test: str, found: CallRecorder) -> None:
        found.close()
        for rows in in_records([list(row) for row in found.values.rows]):
            self.reporter.emit("call_values", test=test, rows=rows)
        for rows in in_records([self.described(code) for code in found.codes]):
            self.reporter.emit("call_codes", test=test, rows=rows)
        for rows in in_records([row_of(call) for call in found.calls]):
            self.reporter.emit("calls", test=test, rows=rows)
        lines = [found.lines_of[each] for each in self.lines_of]
        self.reporter.emit("calls_ended", test=test, complete=self.is_complete, lines=lines)

    def described(self, facts: CodeFacts) -> list[Any]:
        code = facts.code
        file, name = self.files.known[code.co_filename].replace(os.sep, "/"), facts.name
        names = [*facts.names, *(each.label for each in facts.globals or ())]
        counts = [len(facts.arguments), len(facts.names)]
        return [file, name, code.co_firstlineno, facts.digest(), names, *counts]


def in_records(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """A record is not longer than the server reads at once."""
    for start in range(0, len(rows), ROWS):
        yield rows[start : start + ROWS]


def row_of(call: TracedCall) -> list[Any]:
    after = [number for pair in call.after for number in pair]
    head = [call.facts.place, call.parent, call.phase, call.line, call.outcome, call.result, call.ended]
    return [*head, call.given, after, call.yields]
