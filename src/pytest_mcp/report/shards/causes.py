"""The causes of the failures of all shards together, each told once.

Pure: answers in, groups and the tests that are shown whole out. An answer has groups, and tests that are alone with
their cause. `grouping` decides which of them are one cause, by what the answers show of each.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_mcp.api.results import ExecuteResult, FailureGroup, TestResult
from pytest_mcp.report import grouping, places
from pytest_mcp.report.budget import MOST_CAUSES, MOST_EXAMPLES
from pytest_mcp.report.failures import Failure, Part
from pytest_mcp.text import few


@dataclass(frozen=True)
class _Told:
    """One cause as one answer tells it."""

    failure: Failure
    count: int
    location: str | None
    names: tuple[str, ...]
    # The one that is shown whole.
    test: TestResult | None


@dataclass(frozen=True)
class _Cause:
    """One cause as all answers tell it, the most telling first."""

    told: tuple[_Told, ...]

    @property
    def count(self) -> int:
        return sum(each.count for each in self.told)

    @property
    def location(self) -> str | None:
        found = Counter(each.location for each in self.told for _ in range(each.count) if each.location)
        # A place with a count is a list of places, which cannot be counted again.
        several = any(" (" in place for place in found)
        return (few(found) if several else grouping.counted(found)) if found else None

    @property
    def rank(self) -> tuple[bool, int]:
        """As `grouping` orders them: the project's source first, then the largest."""
        site = self.told[0].failure.site
        return not (site and places.is_source(site.rpartition(":")[0])), -self.count

    def line(self, example: int | None) -> FailureGroup:
        names = [name for each in self.told for name in each.names]
        others = [name for name in names if example is None or name != self.told[0].failure.node_id]
        return FailureGroup(
            count=self.count,
            message=grouping.line(self.told[0].failure.cause),
            location=self.location,
            example=example,
            node_ids=others[: grouping.SHOWN_TESTS],
        )


def told(results: Sequence[ExecuteResult]) -> tuple[list[FailureGroup], list[TestResult]]:
    """The groups, and the tests that stand for the first of them."""
    found = {id(each.failure): each for result in results for each in _of_answer(result)}
    causes = [
        _Cause(tuple(sorted((found[id(member)] for member in group.members), key=lambda each: each.test is None)))
        for group in grouping.group([each.failure for each in found.values()])
    ]
    causes.sort(key=lambda cause: cause.rank)
    shown = [cause for cause in causes[:MOST_CAUSES] if cause.told[0].test][:MOST_EXAMPLES]
    lines = [
        cause.line(shown.index(cause) if cause in shown else None)
        for cause in causes[:MOST_CAUSES]
        if cause.count > 1 or cause not in shown
    ]
    rest = [*(cause.line(None) for cause in causes[MOST_CAUSES:]), *_unnamed(results)]
    return [*lines, *_last(rest)], [cause.told[0].test for cause in shown if cause.told[0].test]


def _of_answer(result: ExecuteResult) -> Iterator[_Told]:
    examples = {group.example for group in result.failure_groups}
    for group in result.failure_groups:
        if _is_named(group, result):
            yield _told(_example(group, result), group)
    # With detail tests the others of a group are listed too, behind those that are alone.
    alone = max(0, _failed(result) - sum(group.count for group in result.failure_groups))
    others = [test for index, test in enumerate(result.tests) if index not in examples and _is_failed(test)]
    for test in others[:alone]:
        yield _told(test, None)


def _example(group: FailureGroup, result: ExecuteResult) -> TestResult | None:
    # An answer that was cut to its limit may lack the test.
    return next((test for index, test in enumerate(result.tests) if index == group.example), None)


def _is_named(group: FailureGroup, result: ExecuteResult) -> bool:
    """Not so the last line of an answer, which many causes share."""
    return bool(group.node_ids) or _example(group, result) is not None


def _told(test: TestResult | None, group: FailureGroup | None) -> _Told:
    others = tuple(group.node_ids or ()) if group else ()
    names = (test.node_id, *others) if test else others
    message = test.message if test and test.message else group.message if group else ""
    text = test.traceback or "" if test else ""
    place = None if group is None or places.in_text(text) else group.location
    part = Part(None, message or "no message", (), text, place, (), is_subtest=False)
    outcome = test.outcome if test else "failed"
    when = "setup" if outcome == "error" else "call"
    failure = Failure(names[0], outcome, test.duration if test else 0.0, when, (part,), ())
    return _Told(failure, group.count if group else 1, group.location if group else failure.site, names, test)


def _failed(result: ExecuteResult) -> int:
    uncollected = sum(1 + error.also for error in result.collection_errors)
    return result.summary.failed + result.summary.errors - uncollected


def _is_failed(test: TestResult) -> bool:
    return test.outcome in ("failed", "error")


def _unnamed(results: Sequence[ExecuteResult]) -> Iterator[FailureGroup]:
    for result in results:
        yield from (group for group in result.failure_groups if not _is_named(group, result))


def _last(rest: Sequence[FailureGroup]) -> list[FailureGroup]:
    """One line for all further causes."""
    if not rest:
        return []
    message = grouping.line(f"more causes, the first: {rest[0].message}")
    update = {"count": sum(group.count for group in rest), "message": message, "example": None, "node_ids": None}
    return [rest[0].model_copy(update=update)]
