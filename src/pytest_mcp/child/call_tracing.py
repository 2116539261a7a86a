"""The pytest plugin that records the calls of one test: what each was given, and what came of it.

Loaded only for a job that asks for it. Tracing the imports takes longer than the test itself, so they are traced only
if the job asks for that too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generator, Iterator, Sequence

import pytest
from call_events import CALLS, TracedCall
from call_tracers import recorder
from code_facts import CodeFacts
from line_tracing import ProjectFiles
from tests_to_run import turn_off
from value_reading import ValueReader

if TYPE_CHECKING:
    from reporter import Reporter

    from pytest_mcp.process.job import Job

# How many rows one record has.
ROWS = 1_000


class CallTracing:
    def __init__(self, reporter: Reporter, job: Job) -> None:
        assert job["calls"] is not None
        self.reporter = reporter
        self.wanted = job["calls"]
        self.files = ProjectFiles(job["root"])
        replaced = [(job["root"], "{root}")] + [(folder, "{root}") for folder in job["moved"] or ()]
        self.values = ValueReader(replaced, self.wanted["depth"], self.wanted["parts"])
        lines_of = [(each["function"], each["line"], each["number"]) for each in self.wanted["lines_of"]]
        self.lines_of = lines_of
        self.recorder = recorder(self.files.below_root, self.values, lines_of)
        self.is_complete = True
        self.is_over = self.is_written = False
        if self.wanted["imports"]:
            self.recorder.phase = "import"
            self.is_complete = self.recorder.start()

    # A wrapper, so that it comes before pytest-cov starts: only one trace function can be set.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> Generator[None, None, None]:
        early_config.known_args_namespace.no_cov = True
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        turn_off(config)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self) -> Generator[None, None, None]:
        yield
        if self.recorder.is_recording:
            self.is_complete = self.recorder.stop() and self.is_complete

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
        if self.is_over or self.reporter.relocate(item.nodeid) != self.wanted["test"]:
            yield
            return
        self.recorder.phase = phase
        self.is_complete = self.recorder.start() and self.is_complete
        try:
            yield
        finally:
            self.is_complete = self.recorder.stop() and self.is_complete

    def pytest_runtest_logreport(self, report: Any) -> None:
        """What runs behind a failure has not caused it."""
        self.is_over = self.is_over or report.failed

    # Also if the time is over: what was recorded until then says where it was.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        if not self.is_written:
            self.is_written = True
            # It only informs, and must never raise into pytest.
            with suppress(Exception):
                self.write()
        yield

    # --- what is reported ----------------------------------------------------------------------

    def write(self) -> None:
        found = self.recorder
        found.close()
        for rows in in_records([list(row) for row in self.values.rows]):
            self.reporter.emit("call_values", rows=rows)
        for rows in in_records([self.described(code) for code in found.codes]):
            self.reporter.emit("call_codes", rows=rows)
        for rows in in_records([row_of(call) for call in found.calls]):
            self.reporter.emit("calls", rows=rows)
        lines = [found.lines_of[each] for each in self.lines_of]
        is_whole = len(found.calls) < CALLS
        self.reporter.emit("calls_ended", complete=self.is_complete, whole=is_whole, lines=lines)

    def described(self, facts: CodeFacts) -> list[Any]:
        code = facts.code
        file, name = self.files.known[code.co_filename].replace(os.sep, "/"), facts.name
        names = [*facts.names, *(facts.globals or ())]
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
