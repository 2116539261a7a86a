"""What fails now: since which run, at which commit it still passed, and whether it failed before that.

A test fails now if the last recorded outcome that is not a skip is a failure. A test that a later run of everything no
longer has was renamed or removed; it is only counted.
"""

from collections import defaultdict
from typing import NamedTuple

from pytest_mcp.api.results import OmittedTests
from pytest_mcp.history.answer import FailingTests, HistoryResult
from pytest_mcp.history.runs import EVERYTHING, OMITTED, WHOLE_SHARE, Runs, find_runs

# The most failing tests that are looked into, those that failed last first.
MAX_TESTS = 300
# The most failures of one test.
MAX_FAILURES = 200
SHOWN_TESTS = 3
PERHAPS_FLAKY = "passed on the same code before, so perhaps flaky; investigate_failure can tell"
_LAST = """
    SELECT f.test_id, f.last,
        (SELECT p.run_id FROM results p WHERE p.test_id = f.test_id AND p.outcome = 'P' ORDER BY p.run_id DESC LIMIT 1)
    FROM (SELECT test_id, MAX(run_id) AS last FROM results WHERE outcome IN ('F', 'E') AND run_id >= ?
        GROUP BY test_id) f ORDER BY f.last DESC"""
_FAILURES = """
    SELECT run_id, cause FROM results WHERE test_id = ? AND outcome IN ('F', 'E') ORDER BY run_id DESC LIMIT ?"""


class _Streak(NamedTuple):
    """The failures of a test since it passed the last time."""

    first: int
    runs: int
    passed: int | None
    cause: str | None


def failing_tests(runs: Runs, place: str = "") -> HistoryResult:
    below = runs.ids_below(place)
    last = [
        (test, failure, passed)
        for test, failure, passed in runs.store.execute(_LAST, (runs.first_id,))
        if failure in runs.by_id and (passed is None or passed < failure) and (below is None or test in below)
    ]
    newest_whole = _newest_whole(runs)
    now = {test: passed for test, failure, passed in last if failure >= newest_whole}
    gone, more = len(last) - len(now), len(now) - MAX_TESTS
    return runs.answer(
        "" if now else "Nothing fails: each test passed in the last run that had it.",
        f"{gone} failed test(s) are left out: a later run of the whole suite no longer has them." if gone else "",
        failing=_groups(runs, dict([*now.items()][:MAX_TESTS])),
        omitted=OmittedTests(tests=more, hint=OMITTED) if more > 0 else None,
    )


def _newest_whole(runs: Runs) -> int:
    """The id of the newest run that had every test; 0 if there is none."""
    least = WHOLE_SHARE * runs.most_results
    everything = [run for run in runs.runs if run.selection == EVERYTHING]
    whole = [run for run in everything if run.verdict == "passed" or (run.errors == 0 and run.results >= least)]
    return max((run.id for run in whole), default=0)


def _groups(runs: Runs, failing: dict[int, int | None]) -> list[FailingTests]:
    """Tests that fail since the same run with the same cause are one. The newest first, the largest of those."""
    groups: dict[tuple[_Streak, bool], list[int]] = defaultdict(list)
    earlier: dict[int, int] = {}
    for test, passed in failing.items():
        failures = runs.store.execute(_FAILURES, (test, MAX_FAILURES))
        current = [run for run, _ in failures if passed is None or run > passed]
        earlier[test] = len(failures) - len(current)
        groups[_Streak(current[-1], len(current), passed, failures[0][1]), earlier[test] > 0].append(test)
    known = find_runs(runs.store, [run for streak, _ in groups for run in (streak.first, streak.passed) if run])
    names = runs.names([test for tests in groups.values() for test in tests[:SHOWN_TESTS]])
    described = []
    for (streak, _), tests in sorted(groups.items(), key=lambda group: (-group[0][0].first, -len(group[1]))):
        since, last_pass = known.get(streak.first), known.get(streak.passed or 0)
        is_same_code = bool(since and last_pass and since.state is not None and since.state == last_pass.state)
        described.append(
            FailingTests(
                count=len(tests),
                node_ids=[names[test] for test in tests[:SHOWN_TESTS]],
                since=since and since.moment,
                commit=since and since.code,
                runs=streak.runs,
                passed_at=last_pass and (last_pass.code or last_pass.moment),
                failed_before=earlier[tests[0]],
                hint=PERHAPS_FLAKY if is_same_code else None,
            )
        )
    return described
