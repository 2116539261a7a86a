"""The pytest plugin that reports what happens, one record per event, as it happens.

It is passed to `pytest.main` as an object, so it has no name by which addopts could disable it. It only observes:
the server decides what a record means. Node ids are made relative to the server's root.
"""

from __future__ import annotations

import os
import time
import traceback
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Generator, Sequence

import pytest
from comparisons import Comparisons
from describe import Clipper, safe_text, short_native, short_text, skip_reason, stack_of, text_of
from import_origins import imported_elsewhere
from ini_files import settings_file
from left_out import SelectionFacts, remembered_failures
from node_names import NodeNames
from outputs import output_lines
from phases import Describer, MemoryReserve, Observer, Stages, fields_of, fields_of_error, fields_of_warning
from source_lines import broken_conftest, described
from tests_to_run import Selection
from xdist_controller import Controller, distributes, is_grouped

if TYPE_CHECKING:
    from channel import Channel
    from timing import Timer

    from pytest_mcp.process.job import Job

# Collected tests are reported in batches, as they are all known at once.
ITEMS_IN_A_RECORD = 500
# Loads plugins because they are installed: no file of the project names them.
LOADS_INSTALLED = "load_setuptools_entrypoints"


class Reporter:
    config: Any = None
    comparisons: Comparisons | None = None
    timer: Timer | None = None
    # Only in xdist's controller.
    workers: Controller | None = None
    session: pytest.Session | None = None
    # What plugins are told at the end of the session, which may still change it.
    exit_code_for_plugins: int | None = None
    collected: Sequence[pytest.Item] | None = None
    # How many tests were; with xdist, in the worker whose collection is reported.
    deselected = 0

    def __init__(self, channel: Channel, job: Job) -> None:
        self.channel, self.emit = channel, channel.emit
        self.job, self.root, self.full = job, job["root"], job["full"]
        self.names = NodeNames(self.root)
        self.relocate, self.relative = self.names.relocate, self.names.relative
        self.clip = Clipper(job["text_limit"])
        self.describer = Describer(self.clip, self.relative, self.root, self.full)
        self.facts = SelectionFacts(job, self.relocate, self.relative)
        self.selection = Selection(job)
        self.clock, self.wall_clock = time.perf_counter, time.time
        self.started = self.clock()
        # Lines of what the last exception carries of others.
        self.outputs: list[str] = []
        self.collection_errors: dict[str, tuple[str | None, BaseException]] = {}
        # For each test that is running `called`, `failed` and `skipped`, as far as they apply.
        self.outcomes: dict[str, set[str]] = {}
        self.durations: dict[str, float] = {}
        self.stages = Stages(self.clip)

    # --- configuration -------------------------------------------------------------------------

    # Innermost: pluggy before 1.6 skips the wrappers outside one that raises, as pytest 7's own does.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_cmdline_parse(self) -> Generator[None, Any, None]:
        outcome = yield
        if outcome.excinfo is not None:
            self.report_broken_configuration(outcome.excinfo[1])

    def report_broken_configuration(self, error: Any) -> None:
        conftest, cause = broken_conftest(error)
        if conftest is not None:
            written = partial(traceback.format_exception, type(cause), cause, cause.__traceback__)
            text = safe_text("the traceback", lambda: "".join(written()))
            rendered = text if self.full else safe_text("the traceback", short_native, text, self.root)
            self.emit_collection_error(conftest, cause, rendered)
        elif isinstance(error, pytest.UsageError):
            self.emit_usage_error(error.args)
        elif isinstance(error, (Exception, pytest.fail.Exception)):
            chain = [error] if cause is error else [error, cause]
            message = ": ".join(type(each).__name__ + ": " + safe_text("the message", str, each) for each in chain)
            frames = traceback.walk_tb(error.__traceback__)
            is_installed = any(frame.f_code.co_name == LOADS_INSTALLED for frame, _ in frames)
            self.emit_usage_error([message], configured=not is_installed)

    def emit_usage_error(self, messages: Sequence[object], *, configured: bool = True) -> None:
        self.emit(
            "usage_error",
            messages=[safe_text("this", str, message) for message in messages],
            configuration=settings_file(self.job["targets"], self.root) if configured else None,
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> None:
        # Not only later: a conftest that cannot be imported keeps pytest from being configured.
        self.config = early_config
        self.names.rootdir = str(early_config.rootpath)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        self.config = config
        self.names.rootdir = str(config.rootpath)
        # No debugger: stdin is at its end, and a debugger that reads that lets tests pass without running them.
        config.option.usepdb = config.option.trace = False
        if not self.full and config.getoption("instafail", False):
            # pytest-instafail would print every failure, which the answer has anyway.
            config.option.instafail = False
        self.names.is_grouped = is_grouped(config)
        if distributes(config):
            self.workers = Controller(self, self.job)
            config.pluginmanager.register(self.workers)
        elif self.full:
            config.pluginmanager.register(Observer(config.option, self.stages))
        elif not self.job["collect_only"]:
            self.comparisons = Comparisons(config)
            config.pluginmanager.register(self.comparisons)
        if self.job["limited_memory"]:
            config.pluginmanager.register(MemoryReserve())
        from_cache = [name for name in ("lf", "stepwise") if config.getoption(name, False)]
        self.emit("configured", inifile=str(config.inipath) if config.inipath else None, from_cache=from_cache)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_report_header(self, config: Any) -> Generator[None, Any, None]:
        outcome = yield
        # As with -q: versions and settings of plugins, which every answer would repeat.
        if not self.full and config.option.verbose <= 0 and outcome.excinfo is None:
            outcome.force_result([])

    # --- collection ----------------------------------------------------------------------------

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session
        self.started = self.clock()
        self.emit("session_started")
        # Known only now: pytest-randomly sets it in pytest_configure.
        seed = session.config.getoption("randomly_seed", None)
        if type(seed) is int:
            self.emit("seeded", seed=seed)
        if session.config.getoption("lf", False):
            with suppress(Exception):
                self.emit("remembered", **remembered_failures(session.config))

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        if isinstance(report, pytest.CollectReport):
            self.collection_errors[report.nodeid] = broken_conftest(call.excinfo.value)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, Any, None]:
        outcome = yield
        if outcome.excinfo is not None and isinstance(outcome.excinfo[1], pytest.UsageError):
            self.emit_usage_error(self.facts.missing(session, outcome.excinfo[1].args))
        elif outcome.excinfo is None and self.collected is not None:
            self.emit_collected(self.collected)

    # A wrapper, so that it runs before any other plugin removes an item, and chooses when all of them have.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        missing = self.facts.uncovered(items)
        if missing:
            raise pytest.UsageError(*("not found: " + argument for argument in missing))
        self.facts.keep(items)
        yield
        self.selection.apply(self.config, items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if self.workers is None:
            self.guarded("collection of %s" % report.nodeid, self.record_collection, report)
        else:
            self.workers.collection_failed(report)

    def record_collection(self, report: pytest.CollectReport) -> None:
        if self.full:
            self.emit("collector", collector=self.stages.collector(report))
        if report.failed:
            conftest, error = self.collection_errors.pop(report.nodeid, (None, None))
            path = conftest or os.path.join(str(self.config.rootpath), report.nodeid.partition("::")[0])
            text = safe_text("the error", text_of if self.full else short_text, report, self.root)
            self.emit_collection_error(path, error, text)
        elif report.skipped:
            reason = safe_text("the reason of the skip", skip_reason, report.longrepr)
            self.emit("collection_skipped", id=self.relocate(report.nodeid), reason=reason)

    def emit_collection_error(self, path: str, error: BaseException | None, text: str) -> None:
        file = os.path.relpath(path, self.root).replace(os.sep, "/")
        self.emit("collection_error", file=file, traceback=self.clip(text), **fields_of_error(error, path, self.clip))

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        ids = [self.names.plain(item.nodeid) for item in items] if self.full else None
        self.emit("deselected", count=len(items), ids=ids)
        self.deselected += len(items)
        self.facts.keep_deselected(items, self.config)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # Also called after a failed collection, and never in xdist's controller, so it is only kept here.
        self.collected = session.items

    def emit_collected(self, items: Sequence[pytest.Item]) -> None:
        if self.job["collect_only"]:
            for start in range(0, len(items), ITEMS_IN_A_RECORD):
                batch = items[start : start + ITEMS_IN_A_RECORD]
                self.emit("items", rows=[[self.relocate(item.nodeid), *described(item)] for item in batch])
        self.emit("selected", count=len({item.nodeid for item in items}))
        if self.selection.division is not None:
            self.emit("divided", **self.selection.division)
        if self.selection.left_out is not None:
            self.emit("unreached", count=self.selection.left_out)
        # Only explains, so it may be missing; it must never raise into pytest.
        with suppress(Exception):
            self.facts.report(items, self.config, self.emit)

    # --- running -------------------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.workers is None:
            self.channel.started(self.relocate(nodeid))
        else:
            self.workers.started(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> None:
        self.outputs = [] if call.excinfo is None else output_lines(call.excinfo.value)

    # First, because it gives the verbosity back before the terminal reads it.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.guarded("%s of %s" % (report.when, report.nodeid), self.record, report)

    def record(self, report: pytest.TestReport) -> None:
        nodeid = report.nodeid
        if self.comparisons is not None:
            self.comparisons.restore()
        # Only the report of a subtest has a context; its time is part of its test's.
        context = getattr(report, "context", None)
        outcomes = self.outcomes.setdefault(nodeid, set())
        if report.when == "call":
            outcomes.add("called")
        if report.outcome in ("failed", "skipped"):
            outcomes.add(report.outcome)
        eventful = report.outcome != "passed" or hasattr(report, "wasxfail")
        late_output = "failed" in outcomes and report.when == "teardown" and report.sections
        is_forwarded = self.workers is not None and self.workers.take(report)
        if (eventful or late_output or self.full) and not is_forwarded:
            self.emit_phase(report, context)
        if context is None and isinstance(report.duration, (int, float)):
            self.durations[nodeid] = self.durations.get(nodeid, 0.0) + report.duration
            if self.timer is not None:
                self.timer.keep(nodeid, report.when, report.duration)

    def emit_phase(self, report: pytest.TestReport, context: object) -> None:
        fields = {"id": self.relocate(report.nodeid), **fields_of(report, context, self.describer)}
        if fields["chain"] and report.outcome == "failed":
            fields["chain"][-1][2] += self.outputs
        stage = None
        if self.full:
            # This part is only for json_report; the phase is reported without it too.
            with suppress(Exception):
                stage = self.stages.described(report, self.config)
                stage["nodeid"] = self.names.plain(report.nodeid)
        if not self.emit("phase", stage=stage, **fields) and not self.emit("phase", stage=None, **fields):
            raise ValueError("cannot be written")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        duration = self.durations.pop(nodeid, 0.0)
        plain = self.outcomes.pop(nodeid, None) == {"called"}
        # With workers, nobody knows when the next test starts.
        self.channel.finished(self.relocate(nodeid), duration, plain, hold=self.workers is None)

    # --- the session's end ---------------------------------------------------------------------

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str) -> None:
        if self.workers is None or not self.workers.is_running:
            self.guarded("a warning", self.record_warning, warning_message, when, nodeid)

    def record_warning(self, warning_message: Any, when: str, nodeid: str) -> None:
        node_id = self.relocate(nodeid) if nodeid else None
        self.emit("warning", when=when, id=node_id, **fields_of_warning(warning_message, self.clip))

    def pytest_internalerror(self, excrepr: object) -> None:
        self.emit("internal_error", text=self.clip(safe_text("the error", str, excrepr)))

    # First: the terminal turns every argument on the way into text, which can take longer than there is time for.
    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if self.workers is not None and excinfo.type is KeyboardInterrupt:
            self.workers.emit_stacks()
        self.emit(
            "interrupted",
            error_type=excinfo.typename,
            message=safe_text("the message", str, excinfo.value),
            stack=stack_of(excinfo, self.relative) if self.workers is None else [],
        )

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        self.channel.flush()
        if self.workers is not None:
            self.workers.settle(session)
        self.exit_code_for_plugins = int(session.exitstatus)
        # Modules can be anything, and a reporter must never raise into pytest.
        with suppress(Exception):
            known = self.workers.origins if self.workers is not None else {}
            for name, file, own in imported_elsewhere(self.root):
                if name not in known:
                    self.emit("imported_elsewhere", name=name, file=self.relative(file), own=self.relative(own))
        if not self.full:
            # Every failure has its record; printing it too would take longer than reporting it.
            session.config.option.tbstyle = "no"
        yield
        self.emit_end()

    def pytest_unconfigure(self) -> None:
        # In case an error of another plugin kept the wrapper above from finishing.
        self.emit_end()

    def emit_end(self) -> None:
        session, self.session = self.session, None
        if session is None or self.exit_code_for_plugins is None:
            return
        stopped = session.shouldfail or session.shouldstop or (self.workers is not None and self.workers.why_stopped())
        self.emit(
            "session_ended",
            exit_status=int(session.exitstatus),
            duration=self.clock() - self.started,
            created=self.wall_clock(),
            root=str(session.path) if self.full else None,
            collected=session.testscollected,
            json_exit_code=self.exit_code_for_plugins,
            stopped=safe_text("the reason", str, stopped or "") or None,
            clipped_texts=len(self.clip.left_out),
            clipped_characters=sum(self.clip.left_out.values()),
        )

    # --- small ---------------------------------------------------------------------------------

    def guarded(self, what: str, record: Callable[..., None], *given: object) -> None:
        try:
            record(*given)
        except Exception as error:  # noqa: BLE001 - must never raise into pytest, and what it was must still be counted
            self.emit("unreported", what="%s: %s" % (what, type(error).__name__))
