"""What the history records of a finished run.

Pure: a report in, rows out. Nothing that a test printed, no message and no source is in them: the cause of
a failure is a fingerprint. How they are written is decided in `history`.
"""

import hashlib
import json

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import Outcome
from pytest_mcp.changed.code_state import CodeState
from pytest_mcp.history.rows import Letter, Origin, RunRow, TestRow
from pytest_mcp.report import grouping, rerun
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.report import Report

_LETTERS: dict[Outcome, Letter] = {"passed": "P", "failed": "F", "skipped": "S", "error": "E"}
FINGERPRINT_DIGITS = 16


def rows(request: ExecuteTests, report: Report, origin: Origin, code: CodeState) -> tuple[RunRow, list[TestRow]]:
    environment = report.environment
    assert environment is not None, "what is recorded has run"
    row = RunRow(
        key=origin.key,
        started=origin.started,
        project=origin.project,
        root=environment.root,
        commit_id=code.commit,
        state=code.hash,
        dirty=int(code.dirty),
        selection=selection(request, report),
        verdict=report.verdict,
        passed=report.summary.passed,
        failed=report.summary.failed,
        skipped=report.summary.skipped,
        errors=report.summary.errors,
        duration=report.summary.duration,
        python=environment.python or "",
        pytest=environment.pytest or "",
        host=origin.host,
    )
    return row, test_rows(report)


def selection(request: ExecuteTests, report: Report) -> str:
    """The arguments that chose the tests; `{}` is everything."""
    chosen = rerun.same_selection(request)
    if request.changed is not None:
        chosen["changed"] = request.changed
    if report.shard is not None:
        chosen["shard"] = f"{report.shard.index}/{report.shard.count}"
    return json.dumps(chosen, sort_keys=True, separators=(",", ":"))


def test_rows(report: Report) -> list[TestRow]:
    causes = {failure.node_id: fingerprint(group) for group in report.groups for failure in group.members}
    return [
        TestRow(test.node_id, _LETTERS[test.outcome], round(test.duration, 6), causes.get(test.node_id), test.worker)
        for test in report.tests
    ]


def fingerprint(group: Group) -> str:
    """Equal for groups whose causes differ only in numbers, addresses, paths and parameters."""
    example = group.example
    cause = grouping.masked(example.cause, example.node_id)
    return hashlib.sha256(cause.encode("utf-8", "replace")).hexdigest()[:FINGERPRINT_DIGITS]
