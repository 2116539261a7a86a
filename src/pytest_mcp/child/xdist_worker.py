"""The plugin of xdist's workers: the same reporter as in a run without xdist, whose records go to the controller.

The job comes as `workerinput`. Records are sent as lines of text, which can always be serialised, whatever tests put
into their reports: on the next report of a test, and the rest as `workeroutput`. Which of them are passed on to the
server is decided in `xdist_controller`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Callable, Generator

import pytest
from admission import Admission
from describe import safe_text
from reporter import Reporter
from xdist_controller import CLIPPED, KEY, PLUGIN, STACKS

if TYPE_CHECKING:
    from pytest_mcp.process.job import Job

# What this version of pytest gives every report, of plain types. Plugins and conftests add more.
USUAL = frozenset(vars(pytest.TestReport("", ("", None, ""), {}, "passed", None, "call"))) | {KEY}
# Besides texts, containers and numbers; of those, execnet sends none below this.
ATOMS = (type(None), bool, float, complex, bytes)
LEAST = -(2**31)


def configure(config: Any, ours: Callable[[str], Any]) -> None:
    """`ours` loads a module of ours."""
    # Code of the project must not find it.
    sys.modules.pop(PLUGIN, None)
    # If this fails, the controller reports what xdist passes on.
    with suppress(Exception):
        answer_with_stacks(config.workerinput.pop(STACKS))
        job: Job = json.loads(config.workerinput[KEY])
        records = Records()
        reporter: Any = WorkerReporter(records, job)
        for plugin in (WorkerOutput(config, records, reporter.clip), reporter, Admission(reporter.channel, job)):
            config.pluginmanager.register(plugin)
        if job["timing"]:
            config.pluginmanager.register(ours("timing").Timer(reporter, in_worker=True))


def answer_with_stacks(channel: Any) -> None:
    """Answer every message with the stack of this thread. execnet calls it in its own, so also while a test hangs."""
    thread = threading.get_ident()

    def answer(_message: object) -> None:
        # pytest keeps the id and the phase of the running test in this variable.
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] or None
        channel.send([test, stack_of(thread)])

    channel.setcallback(answer)


def stack_of(thread: int) -> list[list[Any]]:
    """Module, file, line and function of each frame, the innermost first."""
    frame, frames = sys._current_frames().get(thread), []
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        frames.append([module, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    return frames


class Records:
    """Takes the place of the channel: keeps each record as a line, its kind before its fields."""

    def __init__(self) -> None:
        # Captured now, as tests may replace it.
        self.encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=str).encode
        self.lines: list[str] = []

    def emit(self, kind: str, **fields: Any) -> bool:
        try:
            self.lines.append(kind + " " + self.encode(fields))
            return True
        except Exception:  # noqa: BLE001 - a reporter must never raise into pytest
            return False

    def flush(self) -> None:
        """Nothing is written here."""

    def drain(self) -> str:
        lines, self.lines = self.lines, []
        return "\n".join(lines)


class WorkerReporter(Reporter):
    def __init__(self, records: Any, job: Job) -> None:
        super().__init__(records, job)
        self.records = records
        # As in one process: if a file cannot be collected, no test runs. Unless the project itself uses xdist.
        self.runs_regardless = job["workers"] is None

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """xdist tells the controller of the start, and of the end."""

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.durations.pop(nodeid, None)
        self.outcomes.pop(nodeid, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        super().pytest_collection_finish(session)
        regardless = self.runs_regardless or session.config.option.continue_on_collection_errors
        if session.testsfailed and not regardless:
            session.items = []

    # Before xdist sends the report.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        super().pytest_runtest_logreport(report)
        if self.records.lines:
            setattr(report, KEY, self.records.drain())

    # Not a wrapper, which would take longer for every report of every test.
    @pytest.hookimpl(tryfirst=True)
    def pytest_report_to_serializable(self, config: Any, report: Any) -> dict[str, Any] | None:
        """One value of the project's that xdist cannot send would end the run."""
        values = report.__dict__
        if not (report.longrepr or report.sections or values.get("user_properties") or values.keys() - USUAL):
            return None
        others = config.pluginmanager.subset_hook_caller("pytest_report_to_serializable", [self])
        data = others(config=config, report=report)
        return data and {name: sendable(value) for name, value in data.items()}


def sendable(value: Any) -> Any:
    """The value, with a text in place of each part that xdist cannot send: it sends plain types and UTF-8 only."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if kind is dict:
        return {sendable(key): sendable(each) for key, each in value.items()}
    if kind in (list, tuple, set, frozenset):
        return kind(map(sendable, value))
    return value if kind in ATOMS or (kind is int and value >= LEAST) else sendable(safe_text("the value", str, value))


class WorkerOutput:
    """Sends the last records. The innermost wrapper, so that xdist has not yet sent its output."""

    def __init__(self, config: Any, records: Records, clip: Any) -> None:
        self.config = config
        self.records = records
        self.clip = clip

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        yield
        self.config.workeroutput[KEY] = self.records.drain()
        # As text, like the records: execnet cannot send large negative numbers.
        self.config.workeroutput[CLIPPED] = self.records.encode(list(self.clip.left_out.items()))
