"""What the history records of a finished run.

Pure: a run and its report in, rows out. Nothing that a test printed, no message and no source is in them: the cause of
a failure is a fingerprint. How they are written is decided in `history`.
"""

import hashlib
import json

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import Outcome
from pytest_mcp.changes.state import CodeState
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.run import Run
from pytest_mcp.history.rows import Letter, Origin, RunRow, TestRow
from pytest_mcp.report import grouping, rerun
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.result import Report

_LETTERS: dict[Outcome, Letter] = {"passed": "P", "failed": "F", "skipped": "S", "error": "E"}
FINGERPRINT_DIGITS = 16


def rows(run: Run[ExecuteTests], report: Report, origin: Origin, code: CodeState) -> tuple[RunRow, list[TestRow]]:
    return run_row(run, report, origin, code), test_rows(run.ledger, report)


def run_row(run: Run[ExecuteTests], report: Report, origin: Origin, code: CodeState) -> RunRow:
    hello = run.ledger.hello
    return RunRow(
        key=origin.key,
        started=origin.started,
        project=origin.project,
        root=run.environment["root"],
        commit_id=code.commit,
        state=code.hash,
        dirty=int(code.dirty),
        selection=selection(run),
        verdict=report.verdict,
        passed=report.summary.passed,
        failed=report.summary.failed,
        skipped=report.summary.skipped,
        errors=report.summary.errors,
        duration=report.summary.duration,
        python=(hello.python if hello else None) or "",
        pytest=(hello.pytest if hello else None) or "",
        host=origin.host,
    )


def selection(run: Run[ExecuteTests]) -> str:
    """The arguments that chose the tests; `{}` is everything."""
    chosen = rerun.same_selection(run.request)
    if run.request.changed is not None:
        chosen["changed"] = run.request.changed
    if run.shard is not None:
        chosen["shard"] = f"{run.shard.number}/{run.shard.of}"
    return json.dumps(chosen, sort_keys=True, separators=(",", ":"))


def test_rows(ledger: Ledger, report: Report) -> list[TestRow]:
    causes = {failure.node_id: fingerprint(group) for group in report.groups for failure in group.members}
    return [
        TestRow(
            record.node_id,
            _LETTERS[record.outcome],
            round(record.duration, 6),
            causes.get(record.node_id),
            ledger.ran_on.get(record.index),
        )
        for record in ledger.completed
        if record.outcome is not None
    ]


def fingerprint(group: Group) -> str:
    """Equal for groups whose causes differ only in numbers, addresses, paths and parameters."""
    example = group.example
    cause = grouping.masked(example.cause, example.node_id)
    return hashlib.sha256(cause.encode("utf-8", "replace")).hexdigest()[:FINGERPRINT_DIGITS]
