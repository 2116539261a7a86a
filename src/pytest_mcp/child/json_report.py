"""Reports in the format of the pytest-json-report plugin. Used only with detail full.

In come pytest's reports; out come plain dicts, which the server puts together. Standard library only.
"""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from typing import Any, Iterator

from describe import Clip, told, unshown
from phases import crash_of, sections_of

# Kept from before test code is loaded, as tests could replace it.
ENCODE = json.JSONEncoder(allow_nan=False, default=str).encode


class Stages:
    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self.log_records: dict[str, list[dict[str, Any]]] = {}

    @contextmanager
    def logging_of(self, when: str) -> Iterator[None]:
        """Keep the log records of one phase for its stage."""
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
        longrepr = told("the traceback", getattr, report, "longreprtext")
        if longrepr:
            stage["longrepr"] = self.clip(longrepr)
        return stage

    def described(self, report: Any, config: Any) -> dict[str, Any]:
        """The stage, with what the plugin reports of its test."""
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
        collector: dict[str, Any] = {
            "nodeid": report.nodeid,
            "outcome": report.outcome,
            "result": [collected(node) for node in report.result],
        }
        if report.longrepr:
            collector["longrepr"] = self.clip(told("the error", str, report.longrepr))
        return collector


class RecordList(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        entry = dict(record.__dict__, msg=told("the message", record.getMessage), args=None, exc_info=None)
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
    except BaseException as error:  # noqa: BLE001 - as above
        return unshown(what, error)
    return value


def file_location(location: Any) -> dict[str, Any]:
    return {"path": location.path, "lineno": location.lineno, "message": location.message}
