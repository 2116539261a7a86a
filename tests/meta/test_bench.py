"""The benchmarks measure what they say: statistics, truth checks, mutants, evidence; and their documents are fresh."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import report, results
from bench.measures import OURS, PYTEST
from bench.polluters import report as polluters_report
from bench.polluters import results as polluters_results
from bench.rounds import Rounds, Spread, race
from bench.suspects import report as suspects_report
from bench.suspects import results as suspects_results
from bench.suspects.truth import function_at
from bench.tokens import answers
from bench.tokens import report as tokens_report
from bench.tokens import results as tokens_results
from bench.tokens.__main__ import ENVIRONMENT
from bench.tokens.projects import Project
from bench.tokens.real import command as real
from bench.tokens.rows import ROWS
from tests.support.paths import ROOT

Change = Callable[[Any], object]
# A server, its start and four runs take a few seconds; this only ends a benchmark that hangs.
MAX_TRIAL = 120
# The rows that are asked of something else than execute_tests, or refused.
UNEXECUTED = ("missing-id", "listed", "counted", "explained", "tools")


def test_every_document_is_what_its_saved_results_say() -> None:
    """After a change of words: `python -m bench --render`, and the same for `bench.tokens`."""
    written = {
        report.FILE: report.document(results.load()),
        tokens_report.FILE: tokens_report.document(tokens_results.load(), real.document()),
        suspects_report.FILE: suspects_report.document(suspects_results.load()),
        polluters_report.FILE: polluters_report.document(polluters_results.load()),
    }

    assert [file.name for file, text in written.items() if file.read_text(encoding="utf-8") != text] == []


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


def test_a_row_can_be_measured_with_the_real_server_and_a_trial_keeps_nothing() -> None:
    before = [path.read_bytes() for path in (results.FILE, report.FILE)]

    done = subprocess.run(
        [sys.executable, "-m", "bench", "--trial", "one-test"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=MAX_TRIAL,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert [path.read_bytes() for path in (results.FILE, report.FILE)] == before


@pytest.mark.parametrize("name", ["one-failing", "missing-id"])
def test_the_real_server_is_asked_and_what_it_says_is_true(tmp_path: Path, name: str) -> None:
    subject = ROWS[name].subject()

    answer = answers.ask(subject.question, ENVIRONMENT.python, subject.project.write(tmp_path / "shop"))

    assert subject.truth(answer) == []


def executed(project: Project) -> Any:
    """A right answer, as short as can be: the first failure alone with its cause, the others in one group."""
    numbers = {name: getattr(project, name) for name in ("passed", "failed", "skipped", "errors")}
    causes = [f"{cause.words} in {cause.file}" for cause in project.causes]
    message = "\n".join([*causes, *(f"E     {line}" for line in project.diff)])
    others = project.failed + project.errors - 1
    group = {"count": others, "message": message, "location": None, "example": None, "node_ids": []}
    failure = {"node_id": "", "outcome": "failed", "duration": 0.1, "message": "", "traceback": ""}
    uncollected = [
        {"file": it.file, "line": it.line, "error_type": it.error_type, "message": it.cause, "traceback": None}
        for it in project.uncollected
    ]
    return {
        "verdict": "failed" if project.exit_code else "passed",
        "exit_code": project.exit_code,
        "summary": {"total": sum(numbers.values()), **numbers, "duration": 0.1},
        "notices": [],
        "collection_errors": [{**error, "also": 0} for error in uncollected],
        "failure_groups": [group] if causes else [],
        "tests": [failure] if causes else [],
        "rerun": None,
        "text_output": "",
        "json_report": None,
        "omitted": {"passed": project.passed, "hint": "raise max_tokens"} if causes else None,
    }


@pytest.mark.parametrize("name", [name for name in ROWS if name not in UNEXECUTED])
def test_a_right_answer_is_not_complained_of(name: str) -> None:
    subject = ROWS[name].subject()

    assert subject.truth(executed(subject.project)) == []


def without(words: str) -> Change:
    def leave_out(answer: Any) -> None:
        answer["failure_groups"][0]["message"] = answer["failure_groups"][0]["message"].replace(words, "")

    return leave_out


@pytest.mark.parametrize(
    ("row", "change"),
    [
        pytest.param("passing", lambda it: it.update(verdict="failed"), id="verdict"),
        pytest.param("passing", lambda it: it["summary"].update(passed=199), id="count"),
        pytest.param("passing", lambda it: it.pop("json_report"), id="key"),
        pytest.param("mixed", lambda it: it.update(omitted=None), id="silent omission"),
        pytest.param("mixed", lambda it: it["failure_groups"][0].update(example=0), id="failure counted twice"),
        pytest.param("mixed", lambda it: it.update(failure_groups=[]), id="groups"),
        pytest.param("mixed", without("the warehouse does not answer"), id="fixture's cause"),
        pytest.param("noisy", without("not what was reserved"), id="one cause of twelve"),
        pytest.param("deep", without("shop/feeds.py"), id="place of a cause"),
        pytest.param("uncollected", lambda it: it["collection_errors"].pop(), id="file"),
        pytest.param("uncollected", lambda it: it.update(verdict="passed"), id="green though not collected"),
    ],
)
def test_a_wrong_answer_is_complained_of(row: str, change: Change) -> None:
    subject = ROWS[row].subject()
    answer = executed(subject.project)

    change(answer)

    assert subject.truth(answer) != []


def test_the_function_with_a_bug_is_the_innermost_around_its_line() -> None:
    source = "def outer(a=2):\n    def inner():\n        return 3\n    return 4\nclass Shop:\n    price = 5\n"

    found = [function_at(source, line) for line in (1, 3, 4, 6)]

    assert found == ["<module>", "outer.<locals>.inner", "outer", "<module>"]
