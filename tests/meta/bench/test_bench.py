"""The benchmark says what it measured: its statistics, its projects, its words and one row of it for real."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench import report, results
from bench.measures import BARE, OURS, PYTEST
from bench.projects import TESTS_PER_FILE, Suite
from bench.results import Entry, Figure, Measurement
from bench.rounds import Rounds, Spread, race
from bench.rows import REASONS, ROWS
from tests.support.paths import ROOT

# A server, its start and four runs take a few seconds; this only ends a benchmark that hangs.
LONGEST_TRIAL = 120


def entry(result: float) -> Entry:
    """A measured row with this result."""
    figures = (Figure(OURS, "s", 3, Spread(0.25, 0.2, 0.3)), Figure(PYTEST, "s", 3, Spread(1.0, 0.9, 1.1)))
    return Entry("2026-01-31", "Python 3.11.0, 2 cores", Measurement(figures, Spread(result, result, result)))


def line_of(row: str, text: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(f"| `{row}` |") and "≤" in line]
    return line


def test_a_spread_is_the_median_and_the_quartiles() -> None:
    assert Spread.of([5, 1, 3, 2, 4]) == Spread(median=3, low=2, high=4)
    assert Spread.of([7.0]) == Spread(7.0, 7.0, 7.0)


def test_the_ratio_is_the_median_of_the_ratios_of_each_round_and_not_of_the_medians() -> None:
    rounds = Rounds({OURS: [1.0, 3.0, 8.0], PYTEST: [2.0, 12.0, 8.0]})

    assert rounds.ratio(OURS, PYTEST) == Spread(median=0.5, low=0.375, high=0.75)


def test_variants_take_turns_in_moving_order_and_the_first_round_is_not_counted() -> None:
    clock: list[str] = []

    def ticking(name: str) -> float:
        clock.append(name)
        return len(clock)

    rounds = race({"a": lambda: ticking("a"), "b": lambda: ticking("b")}, rounds=2, before=lambda: clock.append("-"))

    assert "".join(clock) == "-a-b-b-a-a-b"
    assert rounds == Rounds({"a": [8, 10], "b": [6, 12]})


@pytest.mark.parametrize("failing", [False, True], ids=["passing", "failing"])
def test_a_project_has_the_tests_it_promises(tmp_path: Path, failing: bool) -> None:
    suite = Suite(TESTS_PER_FILE + 3, failing=failing)
    project = suite.write(tmp_path / "project")

    done = subprocess.run(
        [BARE.python, "-m", "pytest", "-q", "--tb=no"], cwd=project, capture_output=True, text=True, check=False
    )

    assert done.returncode == suite.exit_code
    assert f"{suite.tests} {'failed' if failing else 'passed'} in" in done.stdout.splitlines()[-1]
    assert len(list(project.glob("test_*.py"))) == 2


def test_a_goal_is_met_up_to_its_very_value_and_missed_beyond_it() -> None:
    goal = ROWS["start"].goal
    assert goal is not None

    met, missed = (report.tables({"start": entry(result)}) for result in (goal, goal + 0.001))

    assert line_of("start", met).endswith("| 0.080 (0.080 to 0.080) | ≤ 0.08 | met |")
    assert line_of("start", missed).endswith("| 0.081 (0.081 to 0.081) | ≤ 0.08 | **missed** |")


def test_only_a_missed_row_is_given_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REASONS, "start", "it is too slow.")
    monkeypatch.setitem(REASONS, "one-test", "it is too fast.")

    text = report.tables({"start": entry(0.9), "first-call": entry(9.0), "one-test": entry(0.1)})

    assert [line for line in text.splitlines() if "misses" in line] == [
        "- `first-call` misses its goal: no reason recorded",
        "- `start` misses its goal: it is too slow.",
    ]


def test_a_row_that_was_not_measured_says_so() -> None:
    assert line_of("start", report.tables({"one-test": entry(0.1)})).endswith("| not measured yet | ≤ 0.08 | - |")


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = {"start": entry(0.07), "one-test": entry(0.2)}

    results.save(kept, tmp_path / "results.json")

    assert results.load(tmp_path / "results.json") == kept


def test_the_results_are_what_their_figures_say() -> None:
    """After a change of words: `python -m bench --render`."""
    assert report.FILE.read_text(encoding="utf-8") == report.document(results.load())


def test_a_row_can_be_measured_with_the_real_server_and_a_trial_keeps_nothing() -> None:
    before = [path.read_bytes() for path in (results.FILE, report.FILE)]

    done = subprocess.run(
        [sys.executable, "-m", "bench", "--trial", "one-test"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LONGEST_TRIAL,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "not measured yet" not in line_of("one-test", done.stdout)
    assert [path.read_bytes() for path in (results.FILE, report.FILE)] == before
