"""Answers of shards, with everything a test does not speak of already filled in."""

from typing import Any

from pytest_mcp.api.results import ExecuteResult, FailureGroup, ShardFacts, ShardResult, Summary, TestResult
from pytest_mcp.report.shards.answers import Answer

COMMIT = "a" * 40


def facts(index: int = 1, count: int = 2, **told: Any) -> ShardFacts:
    usual: dict[str, Any] = {
        "format": 1,
        "tests": 3,
        "total": 3 * count,
        "division": "d",
        "commit": COMMIT,
        "selection": "s",
        "skipped_modules": 0,
    }
    return ShardFacts(index=index, count=count, **usual | told)


def summary(**counts: int) -> Summary:
    numbers = {name: counts.get(name, 0) for name in ("passed", "failed", "skipped", "errors")}
    return Summary(total=sum(numbers.values()), duration=2.0, **numbers)


def result(of: ShardFacts, **told: Any) -> ShardResult:
    """Three tests passed, unless told otherwise."""
    usual: dict[str, Any] = {
        "verdict": "passed",
        "exit_code": 0,
        "summary": summary(passed=3),
        "notices": [f"shard {of.index} of {of.count}: 3 of 6 tests; not a run of the whole suite."],
        "collection_errors": [],
        "failure_groups": [],
        "tests": [],
        "rerun": None,
        "text_output": "3 passed, 3 deselected in 0.10s",
        "json_report": None,
        "omitted": None,
    }
    return ShardResult(shard=of, **usual | told)


def shard(index: int = 1, count: int = 2, *, about: dict[str, Any] | None = None, **told: Any) -> Answer:
    known = facts(index, count, **about or {})
    return Answer(f"{index}.json", known, result(known, **told))


def empty(index: int, count: int) -> Answer:
    about = {"tests": 0}
    return shard(index, count, about=about, verdict="no_tests", exit_code=5, summary=summary())


def failed(node_id: str, message: str, traceback: str) -> TestResult:
    return TestResult(node_id=node_id, outcome="failed", duration=0.1, message=message, traceback=traceback)


def red(index: int, *tests: TestResult, groups: tuple[FailureGroup, ...] = (), failures: int | None = None) -> Answer:
    """A shard in which these tests failed."""
    return shard(
        index,
        verdict="failed",
        exit_code=1,
        summary=summary(passed=2, failed=len(tests) if failures is None else failures),
        tests=list(tests),
        failure_groups=list(groups),
        rerun={"node_ids": [test.node_id for test in tests]},
    )


def groups_of(answer: ExecuteResult) -> list[tuple[int, str | None, int | None, list[str] | None]]:
    return [(group.count, group.location, group.example, group.node_ids) for group in answer.failure_groups]
