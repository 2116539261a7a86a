"""The benchmarks measure what they say: statistics, truth checks, mutants, evidence; and their documents are fresh."""

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import report, results
from bench.measures import OURS, PYTEST
from bench.polluters import report as polluters_report
from bench.polluters import results as polluters_results
from bench.rounds import Rounds, Spread, race
from bench.suspects import report as suspects_report
from bench.suspects import results as suspects_results
from bench.suspects import scopes
from bench.suspects.truth import function_at
from bench.tokens import answers
from bench.tokens import report as tokens_report
from bench.tokens import results as tokens_results
from bench.tokens.__main__ import ENVIRONMENT
from bench.tokens.real import command as real
from bench.tokens.real import evidence
from bench.tokens.rows import ROWS
from tests.support.captured import captured
from tests.support.paths import ROOT

Change = Callable[[Any], object]
# A server, its start and four runs take a few seconds; this only ends a benchmark that hangs.
MAX_TRIAL = 120


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

    done = captured([sys.executable, "-m", "bench", "--trial", "one-test"], cwd=ROOT, timeout=MAX_TRIAL)

    assert done.returncode == 0, done.stderr
    assert [path.read_bytes() for path in (results.FILE, report.FILE)] == before


WRONG: dict[str, Change] = {
    "verdict": lambda answer: answer.update(verdict="passed"),
    "count": lambda answer: answer["summary"].update(passed=answer["summary"]["passed"] - 1),
    "key": lambda answer: answer.pop("json_report"),
    "causes": lambda answer: answer.update(tests=answer["tests"][:1]),
}


def test_what_the_real_server_says_is_true_and_what_is_wrong_in_an_answer_is_complained_of(tmp_path: Path) -> None:
    subject = ROWS["mixed"].subject()

    answer = answers.ask(subject.question, ENVIRONMENT.python, subject.project.write(tmp_path / "shop"))

    assert subject.truth(answer) == []
    for what, change in WRONG.items():
        wrong = copy.deepcopy(answer)
        change(wrong)
        assert subject.truth(wrong) != [], what


def test_the_function_with_a_bug_is_the_innermost_around_its_line() -> None:
    source = "def outer(a=2):\n    def inner():\n        return 3\n    return 4\nclass Shop:\n    price = 5\n"

    found = [function_at(source, line) for line in (1, 3, 4, 6)]

    assert found == ["<module>", "outer.<locals>.inner", "outer", "<module>"]


def test_a_difference_of_bytes_counts_line_by_line_and_only_on_the_side_that_has_it() -> None:
    shown = "E     - (b'HTTP/1.1 200 \\r\\n\\r\\n')\nE     + (b'HTTP/1.1 200 \\r\\nConnection: close\\r\\n\\r\\n')"

    assert evidence.differing_parts(shown) == ["Connection: close"]
    assert evidence.differing_parts("E     - a 'longer one' here\nE     + a 'second' here") == [
        "a 'longer one' h",
        "a 'second' h",
    ]


def test_a_scope_has_changed_if_it_would_run_otherwise() -> None:
    before = '''\
import os


class Shop:
    tax = 1

    def price(self, net: int) -> int:
        """What it costs."""
        return net + self.tax

    def name(self):
        def short(text):
            return text[:3]

        return short("Bremen")
'''
    commented = before.replace("import os\n", "import os\n\n# The shop.\n").replace("What it", "All that it")
    same = commented.replace("net: int", "net: float")
    inner = before.replace("[:3]", "[:4]")
    head = (
        before.replace("self, net: int", "self, net=0").replace("tax = 1", "tax = 2").replace("import os", "import sys")
    )

    assert scopes.changed(before, same) == []
    assert scopes.changed(before, inner) == ["Shop.name.<locals>.short"]
    assert scopes.changed(before, head) == ["Shop", "Shop.price"]
    assert scopes.changed("", "def new():\n    return 1\n") == ["new"]


def test_the_lines_of_a_hunk_that_only_adds_are_on_the_other_side_those_around_the_gap() -> None:
    diff = "--- a/shop.py\n+++ b/shop.py\n@@ -4,2 +4 @@ def price\n-    a\n-    b\n+    c\n@@ -9,0 +9 @@\n+    d\n"

    assert scopes.sides(diff) == ({4, 5, 9, 10}, {4, 9})
