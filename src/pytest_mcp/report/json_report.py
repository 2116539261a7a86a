"""A run in the format of the pytest-json-report plugin.

With detail full, the child already sends every piece in that format; here the pieces are put together. Their content
is not checked when they are read, so it is checked here. Node ids are pytest's own, relative to `root`.
"""

from collections import Counter
from typing import Any

from pytest_mcp.api.requests import Request
from pytest_mcp.run.events import Phase
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.outcome import TestRecord
from pytest_mcp.run.run import Run

# What is nested deeper cannot be sent; a test may record anything as its property.
MAX_LEVELS = 100
TOO_DEEP = "[nested too deeply to be shown]"


def build(run: Run[Request]) -> dict[str, Any]:
    ledger, ended = run.ledger, run.ledger.ended
    tests = [_test(record) for record in ledger.in_order if any(phase.stage for phase in record.phases)]
    report: dict[str, Any] = {
        "created": ended and ended.created,
        "duration": ended and ended.duration,
        "exitcode": run.exit.code if ended is None else ended.json_exit_code,
        "root": ended and ended.root,
        "environment": {},
        "summary": _summary(ledger, tests),
    }
    if ledger.collectors:
        report["collectors"] = [_collector(event.collector, ledger.deselected_ids) for event in ledger.collectors]
    report["tests"] = tests
    if ledger.warnings:
        names = ("message", "category", "when", "filename", "lineno")
        report["warnings"] = [{name: getattr(each, name) for name in names} for each in ledger.warnings_in_order]
    return report


def _summary(ledger: Ledger, tests: list[dict[str, Any]]) -> dict[str, int]:
    outcomes = Counter(test["outcome"] for test in tests)
    collected = ledger.ended.collected if ledger.ended else 0
    summary = {**outcomes, "total": len(tests), "collected": collected + ledger.deselected}
    return summary | ({"deselected": ledger.deselected} if ledger.deselected else {})


def _collector(collector: dict[str, Any], deselected: set[str]) -> dict[str, Any]:
    result = [
        entry | {"deselected": True} if str(entry.get("nodeid")) in deselected else entry
        for entry in _list(collector.get("result"))
        if isinstance(entry, dict)
    ]
    return {name: _shallow(value) for name, value in (collector | {"result": result}).items()}


def _test(record: TestRecord) -> dict[str, Any]:
    staged = [(phase, _shallow(phase.stage)) for phase in record.phases if phase.stage is not None]
    first = staged[0][1]
    test: dict[str, Any] = {"nodeid": first.get("nodeid"), "lineno": first.get("lineno"), "outcome": "passed"}
    if first.get("keywords"):
        test["keywords"] = first["keywords"]
    for phase, reported in staged:
        status = reported.get("status")
        if isinstance(status, str) and status not in ("passed", ""):
            test["outcome"] = status
        if phase.when == "teardown" and reported.get("properties"):
            pairs = _list(reported["properties"])
            test["user_properties"] = [{pair[0]: pair[1]} for pair in pairs if _is_pair(pair)]
        _add_stage(test, phase, reported.get("stage"))
    return test


def _add_stage(test: dict[str, Any], phase: Phase, stage: Any) -> None:
    """Failed subtests get a key of their own. In the plugin, the test's own call overwrites them."""
    if phase.subtest is None:
        test[phase.when] = stage
    elif phase.outcome == "failed":
        kept = stage if isinstance(stage, dict) else {}
        test.setdefault("subtests", []).append({"description": phase.subtest, **kept})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)


def _shallow(value: Any, levels: int = MAX_LEVELS) -> Any:
    if not isinstance(value, (list, dict)):
        return value
    if levels == 0:
        return TOO_DEEP
    if isinstance(value, dict):
        return {name: _shallow(entry, levels - 1) for name, entry in value.items()}
    return [_shallow(entry, levels - 1) for entry in value]
