"""Which tests had both outcomes on the same code, how often they fail and since when.

The same code means: the same state of all files, on the same machine, by the same Python and pytest. A test that always
fails on one machine and never on another is not flaky. Tests that failed in exactly the same runs are one entry.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from pytest_mcp.history.questions.runs import EVERYTHING, PastRun, Runs, Scope, ids_below, marks, parts, recent

# The most failures that are read, the newest first.
MOST_FAILURES = 50_000
# The most sets of failures that are compared with the passes, and the most passes to compare with.
MOST_SETS = 300
MOST_COMPARED = 30_000
# Of the runs on one state of the code the newest are compared.
RUNS_PER_STATE = 400
# The most results of one test.
MOST_RESULTS = 1_000
# How many flaky tests are described.
MOST_DESCRIBED = 40
# Failures on a state without any pass are another fault, if by its rate the test would fail so often by less than this.
OTHER_FAULT = 0.01
# A state of the code, machine, Python and pytest; or a run by itself, whose code is not known.
Place = tuple[object, ...]


class Result(NamedTuple):
    run: int
    outcome: str
    cause: str | None

    @property
    def failed(self) -> bool:
        return self.outcome in ("F", "E")


@dataclass(frozen=True)
class Flaky:
    failed: int
    runs: int
    # On how many states of the code it had both outcomes.
    states: int
    # The first failure of these.
    since: int
    last: int
    # It failed only in runs of everything and passed only in others.
    is_order: bool


@dataclass(frozen=True)
class FlakyTest:
    test: int
    flaky: Flaky
    results: list[Result]
    # Further tests that failed in exactly these runs.
    also: int


@dataclass(frozen=True)
class Answer:
    tests: list[FlakyTest]
    runs: Runs
    # Flaky tests that are not described, and sets of failures that were not looked at.
    more: int = 0
    unexamined: int = 0


def ask(scope: Scope, place: str = "") -> Answer:
    runs = recent(scope)
    places = _places(runs)
    below = ids_below(scope, place)
    sets = _failure_sets(scope, runs, places, below)
    found: list[tuple[int, list[int]]] = []
    budget, examined = MOST_COMPARED, 0
    for failures, tests in sets[:MOST_SETS]:
        if budget <= 0:
            break
        compared = _runs_of({places[run] for run in failures}, runs, places)
        budget -= len(compared)
        examined += 1
        if _has_both(_results(scope, tests[0], compared), places):
            found.append((tests[0], tests))
    described = [_described(scope, runs, tests) for _, tests in found[:MOST_DESCRIBED]]
    known = sorted((each for each in described if each is not None), key=lambda each: -each.flaky.failed)
    more = sum(len(tests) for _, tests in found[MOST_DESCRIBED:])
    return Answer(known, runs, more, len(sets) - examined)


def judge(results: Sequence[Result], runs: Runs) -> Flaky | None:
    """What the results of one test say, oldest first; None if it never had both outcomes on the same code."""
    places = _places(runs)
    by_place: dict[Place, list[Result]] = defaultdict(list)
    for result in results:
        if result.run in places and result.outcome != "S":
            by_place[places[result.run]].append(result)
    mixed = [found for found in by_place.values() if _is_mixed(found)]
    if not mixed:
        return None
    failures = [result for found in mixed for result in found if result.failed]
    failed, count = _rate(list(by_place.values()), {result.cause for result in failures})
    at = runs.by_id
    moments = sorted((at[result.run].started, result.run) for result in failures)
    return Flaky(failed, count, len(mixed), moments[0][1], moments[-1][1], _is_order(mixed, at))


def _rate(places: list[list[Result]], causes: set[str | None]) -> tuple[int, int]:
    """How many of how many runs failed by what makes it flaky.

    Not only on the states with both outcomes: where each state has two runs, any flaky test fails in half of those.
    States in a row on which it only failed are left out if that is another fault: by the rate on states with both
    outcomes, it would hardly fail so often.
    """
    own = [[result.failed for result in found if not result.failed or result.cause in causes] for found in places]
    mixed = [failed for found in own if len(set(found)) > 1 for failed in found]
    kept: list[bool] = []
    for only_failed, row in groupby((found for found in own if found), key=all):
        outcomes = [failed for found in row for failed in found]
        if not only_failed or (sum(mixed) / len(mixed)) ** len(outcomes) >= OTHER_FAULT:
            kept += outcomes
    return sum(kept), len(kept)


def _is_order(mixed: Sequence[Sequence[Result]], at: Mapping[int, PastRun]) -> bool:
    whole = {
        failed: {at[each.run].selection == EVERYTHING for found in mixed for each in found if each.failed is failed}
        for failed in (True, False)
    }
    return whole == {True: {True}, False: {False}}


def _is_mixed(results: Sequence[Result]) -> bool:
    return {result.failed for result in results if result.outcome != "S"} == {True, False}


def _places(runs: Runs) -> dict[int, Place]:
    return {
        run.id: (run.id,) if run.state is None else (run.state, runs.machines[run.id], run.python, run.pytest)
        for run in runs.runs
    }


def _failure_sets(
    scope: Scope, runs: Runs, places: dict[int, Place], below: set[int] | None
) -> list[tuple[tuple[int, ...], list[int]]]:
    """Runs in which the same tests failed, with those tests, the newest first: only where the code was run again."""
    count: dict[Place, int] = defaultdict(int)
    for place in places.values():
        count[place] += 1
    sql = "SELECT run_id, test_id FROM results WHERE outcome IN ('F', 'E') AND run_id >= ? ORDER BY run_id DESC LIMIT ?"
    by_test: dict[int, list[int]] = defaultdict(list)
    for run, test in scope.store.select(sql, (runs.first_id, MOST_FAILURES)):
        if run in places and count[places[run]] > 1 and (below is None or test in below):
            by_test[test].append(run)
    sets: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for test, failures in by_test.items():
        sets[tuple(failures)].append(test)
    return sorted(sets.items(), key=lambda entry: -entry[0][0])


def _runs_of(wanted: set[Place], runs: Runs, places: dict[int, Place]) -> list[int]:
    by_place: dict[Place, list[int]] = {place: [] for place in wanted}
    for run in reversed(runs.runs):
        found = by_place.get(places[run.id])
        if found is not None and len(found) < RUNS_PER_STATE:
            found.append(run.id)
    return sorted(run for found in by_place.values() for run in found)


def _has_both(results: Sequence[Result], places: dict[int, Place]) -> bool:
    by_place: dict[Place, list[Result]] = defaultdict(list)
    for result in results:
        by_place[places[result.run]].append(result)
    return any(map(_is_mixed, by_place.values()))


def _results(scope: Scope, test: int, runs: Sequence[int]) -> list[Result]:
    found: list[Result] = []
    for part in parts(runs):
        sql = f"SELECT run_id, outcome, cause FROM results WHERE test_id = ? AND run_id IN ({marks(part)})"  # noqa: S608
        found += [Result(*row) for row in scope.store.select(sql, [test, *part])]
    return found


def history(scope: Scope, test: int, runs: Runs) -> list[Result]:
    """The newest results of one test in these runs, oldest first."""
    sql = "SELECT run_id, outcome, cause FROM results WHERE test_id = ? AND run_id >= ? ORDER BY run_id DESC LIMIT ?"
    rows = scope.store.select(sql, (test, runs.first_id, MOST_RESULTS))
    found = [Result(*row) for row in rows if row[0] in runs.by_id]
    return sorted(found, key=lambda result: (runs.by_id[result.run].started, result.run))


def _described(scope: Scope, runs: Runs, tests: list[int]) -> FlakyTest | None:
    results = history(scope, tests[0], runs)
    flaky = judge(results, runs)
    return None if flaky is None else FlakyTest(tests[0], flaky, results, _also(scope, tests, results))


def _also(scope: Scope, tests: list[int], results: Sequence[Result]) -> int:
    """Of the tests that failed in the same runs, those that passed in one of the newest in which the first one did."""
    passed = [result.run for result in results if result.outcome == "P"][-20:]
    found = set[int]()
    for part in parts(tests[1:]):
        sql = (
            f"SELECT DISTINCT test_id FROM results WHERE test_id IN ({marks(part)})"  # noqa: S608
            f" AND run_id IN ({marks(passed)}) AND outcome = 'P'"
        )
        found.update(row[0] for row in scope.store.select(sql, [*part, *passed]))
    return len(found)
