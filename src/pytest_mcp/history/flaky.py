"""Which tests had both outcomes on the same code, how often they fail and since when.

The same code means: the same state of all files, on the same machine, by the same Python and pytest. A test that always
fails on one machine and never on another is not flaky. Tests that failed in exactly the same runs are one entry.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from pytest_mcp.history.request_and_result import FlakyTest, HistoryResult
from pytest_mcp.history.runs import EVERYTHING, PastResult, PastRun, Runs, letters

# The most failures that are read, the newest first.
MAX_FAILURES = 50_000
# The most sets of tests that failed together.
MAX_SETS = 200
# What is less probable than this for a flaky test is another fault.
LEAST_CHANCE = 0.01
BY_ORDER = (
    "failed only in runs of the whole suite, passed only in others; investigate_failure tells whether the order matters"
)


def flaky_tests(runs: Runs, place: str = "") -> HistoryResult:
    sets = _failed_together(runs, runs.ids_below(place))
    left = len(sets[MAX_SETS:])
    names = runs.names([tests[0] for tests in sets[:MAX_SETS]])
    judged = [judge(names[first], runs.results_of(first), runs, also=len(others)) for first, *others in sets[:MAX_SETS]]
    flaky = sorted(filter(None, judged), key=lambda each: -each.failed)
    return runs.answer(
        "" if flaky else "No test had both outcomes on the same code.",
        f"{left} further sets of failures were not compared; name a path." if left else "",
        flaky=flaky,
    )


def judge(node_id: str, results: Sequence[PastResult], runs: Runs, also: int = 0) -> FlakyTest | None:
    """What the results of one test say, oldest first; None if it never had both outcomes on the same code."""
    by_code: dict[object, list[PastResult]] = defaultdict(list)
    for result in results:
        if result.outcome != "S":
            by_code[_code(result.run, runs)].append(result)
    states = [same for same in by_code.values() if len({result.failed for result in same}) > 1]
    mixed = [result for same in states for result in same]
    failures = [result for result in mixed if result.failed]
    if not failures:
        return None
    counted = _counted(by_code.values(), {result.cause for result in failures}, len(failures) / len(mixed))
    first = min((result.run for result in failures), key=lambda run: (run.started, run.id))
    return FlakyTest(
        node_id=node_id,
        failed=sum(counted),
        runs=len(counted),
        pattern=letters(results),
        states=len(states),
        since=first.moment,
        commit=first.code,
        also=also,
        hint=BY_ORDER if all((each.run.selection == EVERYTHING) == each.failed for each in mixed) else None,
    )


def _counted(states: Iterable[list[PastResult]], causes: set[str | None], rate: float) -> list[bool]:
    """Whether it failed, in each run that tells how often it does.

    Runs on code with one outcome count as well: where each code ran twice, any flaky test fails in half of the runs on
    code with both. Other causes are another fault, and so is code on which it failed more often than by chance.
    """
    kept = [same for same in states if not all(each.failed for each in same) or is_chance(len(same), rate)]
    return [each.failed for same in kept for each in same if not each.failed or each.cause in causes]


def is_chance(failures: int, rate: float) -> bool:
    """Whether a flaky test with this rate of failure may fail so often in a row."""
    return rate**failures >= LEAST_CHANCE


def _code(run: PastRun, runs: Runs) -> object:
    """Equal for runs of the same code; a run whose code is not known is by itself."""
    return run.id if run.state is None else (run.state, runs.machines[run.id], run.pytest)


def _failed_together(runs: Runs, below: set[int] | None) -> list[list[int]]:
    """Tests that failed in the same runs, the newest first: only where the code was run again."""
    codes = {run.id: _code(run, runs) for run in runs.runs}
    count = Counter(codes.values())
    sql = "SELECT run_id, test_id FROM results WHERE outcome IN ('F', 'E') AND run_id >= ? ORDER BY run_id DESC LIMIT ?"
    by_test: dict[int, list[int]] = defaultdict(list)
    for run, test in runs.store.execute(sql, (runs.first_id, MAX_FAILURES)):
        if run in codes and count[codes[run]] > 1 and (below is None or test in below):
            by_test[test].append(run)
    sets: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for test, failures in by_test.items():
        sets[tuple(failures)].append(test)
    return [sets[failures] for failures in sorted(sets, key=lambda failures: -failures[0])]
