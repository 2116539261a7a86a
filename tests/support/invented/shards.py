"""Reports of shards, with everything a test does not speak of already filled in."""

from dataclasses import replace
from typing import Any

from pytest_mcp.api.errors import CallError
from pytest_mcp.report.failures import Failure
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.report.shard_facts import ShardFacts
from pytest_mcp.report.shard_reports import ShardGiven
from pytest_mcp.report.verdict import Evidence
from tests.support.invented.answers import failing
from tests.support.invented.answers import red as red_session
from tests.support.invented.answers import report as report_of

COMMIT = "a" * 40


def facts(index: int = 1, count: int = 2, **told: Any) -> ShardFacts:
    usual: dict[str, Any] = {"tests": 3, "total": 3 * count, "division": "d", "commit": COMMIT, "selection": "s"}
    return ShardFacts(index, count, **usual | told)


def passed(name: str, number: int = 3) -> list[RanTest]:
    return [RanTest(f"test_{name}.py::test_{each}", "passed", 0.5) for each in range(number)]


def report(of: ShardFacts | None = None, **told: Any) -> Report:
    """Three tests passed, unless told otherwise."""
    usual: dict[str, Any] = {"exit_code": 0, "duration": 2.0, "tests": passed(str(of.index if of else "x"))}
    if of is not None:
        usual["share"] = [f"{of.name}: 3 of 6 tests; not a run of the whole suite."]
    return Report(**{"evidence": Evidence(), "shard": of, **usual, **told})


def failures(*node_ids: str, message: str = "ValueError: no pen") -> list[Failure]:
    """Of one cause for each message."""
    return list(report_of(red_session(*(failing(node_id, message) for node_id in node_ids))).failures)


def red(of: ShardFacts | None, *failed: Failure, **told: Any) -> Report:
    """A report in which these tests failed, and one passed."""
    tests = [*passed(str(of.index if of else "x"), 1), *(RanTest(each.node_id, "failed", 0.1) for each in failed)]
    again = {"node_ids": [each.node_id for each in failed]}
    evidence = Evidence(has_failed=True, has_bad_exit=True)
    return replace(report(of, **told), evidence=evidence, exit_code=1, tests=tests, failures=failed, rerun=again)


def empty(of: ShardFacts | None) -> Report:
    share = of and replace(of, tests=0)
    return report(share, evidence=Evidence(is_empty=True, has_bad_exit=True), exit_code=5, tests=[])


def cut_short(of: ShardFacts | None, **told: Any) -> Report:
    """One test had passed, one was running and one had not started."""
    unknown = of and replace(of, tests=None, total=None, division=None)
    kept = {"tests": passed("x", 1), "running": ["test_x.py::test_slow"], "not_run": 1, **told}
    problem = CallError("pytest execution exceeded timeout of 9 seconds\nmore", {})
    return report(unknown, evidence=Evidence(has_no_result=True), exit_code=None, problem=problem, **kept)


def shard(index: int = 1, count: int = 2, **about: Any) -> ShardGiven:
    return ShardGiven(f"{index}.json", report(facts(index, count, **about)))
