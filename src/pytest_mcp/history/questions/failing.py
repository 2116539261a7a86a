"""What fails now: since which run, at which commit it still passed, and whether it failed before that.

A test fails now if the last recorded outcome that is not a skip is a failure. A test that a later run of everything no
longer has was renamed or removed; it is only counted.
"""

from collections import defaultdict
from dataclasses import dataclass

from pytest_mcp.history.questions.runs import PastRun, Runs, Scope, ids_below, named, recent

# The most failing tests that are looked into, those that failed last first.
MOST_TESTS = 300
# The most failures of one test.
MOST_FAILURES = 200
_LAST = """
    SELECT f.test_id, f.last,
        (SELECT p.run_id FROM results p WHERE p.test_id = f.test_id AND p.outcome = 'P' ORDER BY p.run_id DESC LIMIT 1)
    FROM (SELECT test_id, MAX(run_id) AS last FROM results WHERE outcome IN ('F', 'E') AND run_id >= ?
        GROUP BY test_id) f ORDER BY f.last DESC"""
_FAILURES = """
    SELECT run_id, cause FROM results WHERE test_id = ? AND outcome IN ('F', 'E') ORDER BY run_id DESC LIMIT ?"""


@dataclass(frozen=True)
class Failing:
    """Tests that fail since the same run with the same cause."""

    tests: list[int]
    since: PastRun | None
    # How many recorded failures in a row, and how many before it passed the last time.
    runs: int
    earlier: int
    passed: PastRun | None

    @property
    def is_same_code(self) -> bool:
        """It passed on the code on which it failed next, so the code is not the reason."""
        if self.since is None or self.passed is None or self.since.state is None:
            return False
        return self.since.state == self.passed.state


@dataclass(frozen=True)
class Answer:
    groups: list[Failing]
    runs: Runs
    gone: int = 0
    more: int = 0


@dataclass(frozen=True)
class _Streak:
    test: int
    first: int
    runs: int
    earlier: int
    passed: int | None
    cause: str | None


def ask(scope: Scope, place: str = "") -> Answer:
    runs = recent(scope)
    below = ids_below(scope, place)
    last = [
        (test, failure, passed)
        for test, failure, passed in scope.store.select(_LAST, (runs.first_id,))
        if failure in runs.by_id and (passed is None or passed < failure) and (below is None or test in below)
    ]
    now = [entry for entry in last if entry[1] >= runs.newest_whole]
    streaks = [streak(scope, test, passed) for test, _, passed in now[:MOST_TESTS]]
    return Answer(_grouped(scope, streaks), runs, gone=len(last) - len(now), more=max(0, len(now) - MOST_TESTS))


def streak(scope: Scope, test: int, passed: int | None) -> _Streak:
    """`passed` is the last run in which it passed."""
    failures = scope.store.select(_FAILURES, (test, MOST_FAILURES))
    current = [(run, cause) for run, cause in failures if passed is None or run > passed]
    return _Streak(test, current[-1][0], len(current), len(failures) - len(current), passed, current[0][1])


def _grouped(scope: Scope, streaks: list[_Streak]) -> list[Failing]:
    groups: dict[tuple[object, ...], list[_Streak]] = defaultdict(list)
    for each in streaks:
        groups[each.first, each.cause, each.runs, each.earlier > 0, each.passed].append(each)
    runs = named(scope.store, [run for each in streaks for run in (each.first, each.passed) if run is not None])
    found = [
        Failing(
            [each.test for each in members],
            runs.get(members[0].first),
            members[0].runs,
            members[0].earlier,
            None if members[0].passed is None else runs.get(members[0].passed),
        )
        for members in groups.values()
    ]
    return sorted(found, key=lambda group: (-(group.since.started if group.since else 0.0), -len(group.tests)))
