"""`report/timing.py`: which saving is named, and how the times of several processes and runs become one."""

from typing import Any

import pytest

from pytest_mcp.report.timing import first_rows, merged_timing, timing_of
from pytest_mcp.run.events import Timed
from pytest_mcp.run.ledger import Ledger
from tests.support.invented.records import finished


def timed(**parts: Any) -> Timed:
    """A run of ten seconds whose rows are those of `parts`."""
    names = {"start": 0.1, "imports": 0.1, "collection": 0.1, "setup": 1.0, "call": 7.0, "teardown": 1.0}
    rows: dict[str, Any] = {"imports": [], "collection": [], "fixtures": [], "tests": [], "sleeps": []}
    seconds = parts.pop("seconds", {})
    known = [
        (name, seconds.get(name, usual), 100 if number > 2 else 1) for number, (name, usual) in enumerate(names.items())
    ]
    return Timed(**{"worker": False, "seconds": 10.0, "before": 0.3, "parts": known, **rows, **parts})


def ledger(*told: Timed, names: tuple[str, ...] = ()) -> Ledger:
    made = Ledger()
    for event in (*told, *(finished(name, 0.5) for name in names)):
        made.add(event)
    return made


DATABASE = ("database", "function", "conftest.py:3", 4.0, 80, 1.0, 0.0, "test_a.py::test_a")


SAVING = "fixture database is built 80 times, 5.0 s of 10.0 s: scope function"
SLEEPING = f"{SAVING}; time.sleep takes 4.0 s of it in conftest.py:4"


@pytest.mark.parametrize(
    ("rows", "saving"),
    [
        ({"fixtures": [DATABASE]}, SAVING),
        # Its sleeping is its cause, not another one.
        (
            {
                "fixtures": [(*DATABASE[:6], 4.0, "")],
                "sleeps": [("conftest.py:4", 4.0, 80)],
            },
            SLEEPING,
        ),
        # Most sleeping is elsewhere.
        (
            {
                "fixtures": [("database", "session", "", 1.0, 1, 0.0, 1.0, "")],
                "sleeps": [("a.py:1", 4.0, 9), ("b.py:2", 1.0, 1)],
            },
            "time.sleep takes 5.0 s of 10.0 s in 10 calls, most of it in a.py:1",
        ),
        ({"imports": [("pandas", 3.0, 1)]}, "importing pandas takes 3.0 s of 10.0 s"),
        ({"collection": [("test_a.py", 3.0, 1)]}, "collecting takes 3.0 s of 10.0 s in test_a.py, besides imports"),
        (
            {"tests": [("test_a.py::test_a", 0.1, 4.0, 0.1, 0.0), ("test_a.py::test_b", 0.0, 1.0, 0.0, 0.0)]},
            "test_a.py::test_a takes 4.2 s of 10.0 s",
        ),
        # In a test with hooks of its own.
        (
            {"seconds": {"teardown": 4.0, "call": 4.0}},
            "what runs after each test, besides fixtures, takes 3.8 s of 10.0 s",
        ),
        (
            {"tests": [("test_a.py::a", 0.0, 0.3, 0.0, 0.0)]},
            "nothing stands out: 100 tests take 7.0 s of 10.0 s, the slowest 0.30 s",
        ),
    ],
)
def test_the_cause_that_says_most_is_named(rows: dict[str, Any], saving: str) -> None:
    timing = timing_of(ledger(timed(**rows)))

    assert timing is not None
    assert timing.saving == saving


def test_parameters_of_a_test_are_one_with_what_pytest_does_for_each() -> None:
    names = tuple(f"test_a.py::test_each[{number}]" for number in range(8))

    timing = timing_of(ledger(timed(), names=names))

    assert timing is not None
    assert [(row.name, row.seconds, row.calls) for row in timing.functions] == [("test_a.py::test_each", 4.0, 8)]
    assert timing.saving.startswith("test_a.py::test_each runs with 8 sets of parameters, 4.1 s of 10.0 s")


def test_workers_start_at_the_same_time_and_their_tests_are_added_up() -> None:
    parts = {"imports": [("pandas", 2.0, 1)], "fixtures": [DATABASE]}
    controller = timed(seconds=dict.fromkeys(("setup", "call", "teardown"), 0.0), before=1.5)

    timing = timing_of(ledger(timed(worker=True, **parts), timed(worker=True, **parts), controller))

    assert timing is not None
    assert (timing.workers, timing.seconds, timing.before_tests) == (2, 10.0, 1.5)
    assert [part.seconds for part in timing.parts] == [0.1, 0.1, 0.1, 2.0, 14.0, 2.0]
    assert [(row.name, row.seconds) for row in timing.imports] == [("pandas", 2.0)]
    assert [(row.name, row.seconds, row.calls) for row in timing.fixtures] == [("database", 8.0, 160)]
    assert (
        timing.saving == "fixture database is built 160 times, 10.0 s of 18.3 s of 2 workers together: scope function"
    )


def test_runs_of_several_members_are_added_up_whole() -> None:
    one, other = (timing_of(ledger(timed(imports=[(name, 2.0, 1), ("yaml", 1.0, 1)]))) for name in ("pandas", "numpy"))
    assert one is not None
    assert other is not None

    both = merged_timing([one, other])

    assert both is not None
    assert (both.seconds, both.before_tests) == (20.0, 0.6)
    assert {row.name: row.seconds for row in both.imports} == {"pandas": 2.0, "numpy": 2.0, "yaml": 2.0}
    assert merged_timing([]) is None


def test_a_run_that_told_nothing_has_no_times() -> None:
    assert timing_of(Ledger()) is None


def test_few_rows_keep_the_saving_and_the_parts() -> None:
    whole = timing_of(ledger(timed(imports=[("pandas", 3.0, 1), ("numpy", 2.0, 1)])))
    assert whole is not None

    few = first_rows(whole, 1)

    assert (few.saving, few.parts) == (whole.saving, whole.parts)
    assert [row.name for row in few.imports] == ["pandas"]
