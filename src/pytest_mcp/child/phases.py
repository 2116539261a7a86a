"""One phase of a test (setup, call, teardown): what is done around it, and its report as the fields of a record.

Tests and plugins put anything into pytest's reports. A part that cannot be turned into text is replaced by a sentence
that says so; the outcome is reported anyway.
"""

from __future__ import annotations

import gc
import json
import logging
import resource
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, Callable, Generator, Iterator, NamedTuple

import pytest
from comparisons import quick_differences
from describe import Clip, chain_of, describe_subtest, safe_text, skip_reason, text_of, unshown
from source_lines import line_of

# Errors of pytest itself whose text says what happened; their type does not.
PYTEST_WRAPPERS = ("CollectError", "ConftestImportFailure", "ImportPathMismatchError")
# How pytest begins the text of a test that passed although its xfail is strict.
STRICT_XPASS = "[XPASS(strict)]"
# With this verbosity pytest shows whole diffs.
VERBOSE = 2
# Kept from before test code is loaded, as tests could replace it.
ENCODE = json.JSONEncoder(allow_nan=False, default=str).encode


def observed(when: str) -> Any:
    @pytest.hookimpl(hookwrapper=True)
    def hook(self: Observer) -> Generator[None, None, None]:
        yield from self.observing(when)

    return hook


class Observer:
    """Hooks around each phase. They cost every test a little, so they are registered only with detail full.

    Log records are kept for the report. Before pytest 8.0 only the general verbosity set the length of an assertion's
    diff, so it is raised while a test runs.
    """

    def __init__(self, option: Any, stages: Stages) -> None:
        self.option = option
        self.stages = stages
        # A pytest with a verbosity for assertions got it on the command line.
        self.least_verbose = option.verbose if hasattr(pytest.Config, "get_verbosity") else VERBOSE

    pytest_runtest_setup, pytest_runtest_call, pytest_runtest_teardown = map(observed, ("setup", "call", "teardown"))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_assertrepr_compare(self) -> Generator[None, Any, None]:
        with quick_differences():
            outcome = yield
            if outcome.excinfo is None:
                # Newer versions have iterators.
                outcome.force_result([list(lines) for lines in outcome.get_result() if lines])

    def observing(self, when: str) -> Generator[None, None, None]:
        before = self.option.verbose
        self.option.verbose = max(before, self.least_verbose)
        try:
            with self.stages.logging_of(when):
                yield
        finally:
            self.option.verbose = before


class MemoryReserve:
    """Where memory is limited: a little more of it for pytest and the reporter than for code of the project.

    The frames of a test that has used up its memory are kept until it is reported. Without this, the report would
    fail like the test. What is raised is the soft limit; nothing has to be allocated or freed for that.
    """

    def __init__(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        self.for_tests, self.for_reports = (soft, hard), (hard, hard)
        self.was_exceeded = False

    # Innermost, so that all other hooks have more.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        resource.setrlimit(resource.RLIMIT_DATA, self.for_tests)
        yield
        resource.setrlimit(resource.RLIMIT_DATA, self.for_reports)

    pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup

    def pytest_exception_interact(self, call: Any) -> None:
        self.was_exceeded = self.was_exceeded or isinstance(call.excinfo.value, MemoryError)

    def pytest_runtest_logstart(self) -> None:
        if self.was_exceeded:
            # Frames of a failure are in cycles, and this test needs what they hold.
            gc.collect()
            self.was_exceeded = False


class Describer(NamedTuple):
    clip: Clip
    relative: Callable[[str], str]
    root: str
    # With pytest's own rendering, also of a failure that has a chain of exceptions.
    full: bool


def fields_of(report: Any, context: Any, describer: Describer) -> dict[str, Any]:
    """Only the report of a subtest has a context."""
    clip, crash = describer.clip, crash_of(report)
    failed = report.outcome == "failed"
    chain = clipped(chain_of(report.longrepr, describer.root), clip) if failed else None
    as_text = failed and (describer.full or chain is None)
    return {
        "when": str(report.when),
        "outcome": str(report.outcome),
        "xfail": safe_text("the reason of the xfail", str, report.wasxfail) if hasattr(report, "wasxfail") else None,
        "message": message_of(report, crash, clip),
        "location": location_of(report.location if is_placeless(report, chain) else crash, describer.relative),
        "traceback": clip(safe_text("the traceback", text_of, report, describer.root)) if as_text else None,
        "chain": chain,
        "sections": sections_of(report, clip),
        "subtest": None if context is None else safe_text("the subtest", describe_subtest, context),
    }


def fields_of_error(error: BaseException | None, path: str, clip: Clip) -> dict[str, Any]:
    own_message = error is None or type(error).__name__ in PYTEST_WRAPPERS
    return {
        "error_type": None if own_message else type(error).__name__,
        "message": None if own_message else clip(safe_text("the message", str, error)),
        "line": None if error is None else line_of(error, path),
    }


def fields_of_warning(warning: Any, clip: Clip) -> dict[str, Any]:
    return {
        "message": clip(safe_text("the warning", str, warning.message)),
        "category": warning.category.__name__,
        "filename": warning.filename,
        "lineno": warning.lineno,
    }


def clipped(chain: list[Any] | None, clip: Clip) -> list[Any] | None:
    return chain and [[link, note, clip("\n".join(lines)).split("\n"), frames] for link, note, lines, frames in chain]


def crash_of(report: Any) -> Any:
    try:
        return getattr(report.longrepr, "reprcrash", None)
    except Exception:  # noqa: BLE001 - a plugin's object; the report is made without it
        return None


def message_of(report: Any, crash: Any, clip: Clip) -> str | None:
    if report.outcome == "skipped":
        return safe_text("the reason of the skip", skip_reason, report.longrepr)
    return None if crash is None else clip(safe_text("the message", lambda: crash.message))


def is_placeless(report: Any, chain: list[Any] | None) -> bool:
    """Whether nothing but the test itself is a place: it was expected to fail, or no frame is shown."""
    if chain is None:
        return isinstance(report.longrepr, str) and report.longrepr.startswith(STRICT_XPASS)
    return not any(frames for _, _, _, frames in chain)


def location_of(place: Any, relative: Callable[[str], str]) -> list[object] | None:
    """The place of a crash; or of a test, whose line pytest counts from 0."""
    try:
        if isinstance(place, tuple):
            return [relative(str(place[0])), int(place[1]) + 1]
        return None if place is None else [relative(str(place.path)), int(place.lineno)]
    except Exception:  # noqa: BLE001 - it is the project's own object
        return None


def sections_of(report: Any, clip: Clip) -> list[list[str]]:
    try:
        sections = list(report.sections)
    except Exception as error:  # noqa: BLE001 - it is the project's own object
        sections = [("Captured output", unshown("what was captured", error))]
    title, text = itemgetter(0), itemgetter(1)
    return [[safe_text("a title", title, entry), clip(safe_text("this section", text, entry))] for entry in sections]


# --- json_report -------------------------------------------------------------------------------


class Stages:
    """Reports in the format of the pytest-json-report plugin, which the server puts together. Only with detail full."""

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self.log_records: dict[str, list[dict[str, Any]]] = {}

    @contextmanager
    def logging_of(self, when: str) -> Iterator[None]:
        handler = RecordList()
        logging.getLogger().addHandler(handler)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(handler)
            self.log_records[when] = handler.records

    def stage(self, report: Any) -> dict[str, Any]:
        stage: dict[str, Any] = {"duration": report.duration, "outcome": report.outcome}
        crash = crash_of(report)
        if crash is not None:
            stage["crash"] = writable("the crash", file_location(crash))
            try:
                entries = report.longrepr.reprtraceback.reprentries
                stage["traceback"] = [file_location(entry.reprfileloc) for entry in entries]
            except AttributeError:
                pass  # a native traceback has no entries
        sections = sections_of(report, self.clip)
        for name in ("stdout", "stderr"):
            texts = [text for title, text in sections if title == "Captured %s %s" % (name, report.when)]
            if texts and texts[-1]:
                stage[name] = texts[-1]
        log = self.log_records.pop(report.when, None)
        if log:
            stage["log"] = [{name: writable("this", value) for name, value in entry.items()} for entry in log]
        longrepr = safe_text("the traceback", getattr, report, "longreprtext")
        if longrepr:
            stage["longrepr"] = self.clip(longrepr)
        return stage

    def described(self, report: Any, config: Any) -> dict[str, Any]:
        status = config.hook.pytest_report_teststatus(report=report, config=config)
        return {
            "nodeid": report.nodeid,
            "lineno": report.location[1],
            "keywords": list(report.keywords),
            "status": status[0],
            "properties": properties_of(report),
            "stage": self.stage(report),
        }

    def collector(self, report: Any) -> dict[str, Any]:
        result = [collected(node) for node in report.result]
        collector = {"nodeid": report.nodeid, "outcome": report.outcome, "result": result}
        if report.longrepr:
            collector["longrepr"] = self.clip(safe_text("the error", str, report.longrepr))
        return collector


class RecordList(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        entry = dict(record.__dict__, msg=safe_text("the message", record.getMessage), args=None, exc_info=None)
        entry.pop("message", None)
        self.records.append(entry)


def collected(node: Any) -> dict[str, Any]:
    entry = {"nodeid": node.nodeid, "type": type(node).__name__}
    location = getattr(node, "location", None)
    return entry if location is None else dict(entry, lineno=location[1])


def properties_of(report: Any) -> list[list[Any]]:
    try:
        pairs = [(str(name), value) for name, value in report.user_properties]
    except Exception as error:  # noqa: BLE001 - the project's own objects; the rest is reported without them
        return [["user_properties", unshown("what they are", error)]]
    return [[name, writable("the property", value)] for name, value in pairs]


def writable(what: str, value: Any) -> Any:
    """The value, or a text in its place if it cannot be written as JSON."""
    try:
        ENCODE(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - it is the project's own object
        return unshown(what, error)
    return value


def file_location(location: Any) -> dict[str, Any]:
    return {"path": location.path, "lineno": location.lineno, "message": location.message}
