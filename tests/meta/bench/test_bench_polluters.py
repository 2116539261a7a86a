"""The measure of planted tests: where they are planted, and the document. No library is needed."""

import ast
from dataclasses import replace
from random import Random

from bench.polluters import report, results
from bench.polluters.plant import ENVIRONMENT, PLANTED, PROCESS, attribute, container, places, planted
from bench.polluters.results import Entry

SOURCE = """\
import pytest

@pytest.fixture
def shop():
    return {}

class TestShop:
    def test_a(self): pass

async def test_b(): pass
"""
RIGHT = Entry(
    "2026-01-01", "toolz", "global", "toolz.x", 9, 1, f"a.py::{PLANTED}", "b.py::test_b", "order_dependent", (), 20, 3.0
)


def test_a_test_is_planted_between_functions_and_classes_which_stay_as_they_are() -> None:
    found = {planted(SOURCE, container("shop", "PRICES"), Random(seed)) for seed in range(50)}

    assert places(SOURCE) == [2, 6, 9, 10]
    assert len(found) == len(places(SOURCE))
    for source in found:
        dumped = [ast.dump(statement) for statement in ast.parse(source).body]
        others = [each for each in dumped if PLANTED not in each]
        assert (len(dumped) - len(others), others) == (1, [ast.dump(each) for each in ast.parse(SOURCE).body])


def test_leaks_are_python_and_name_what_they_change() -> None:
    found = [attribute("json.decoder", "JSONDecoder", "decode"), attribute("json", "", "loads"), *ENVIRONMENT, *PROCESS]
    for leak in [*found, container("keyword", "kwlist")]:
        compile(leak.body, leak.target, "exec")

    assert [leak.target for leak in found[:2]] == ["json.decoder.JSONDecoder.decode", "json.loads"]


def test_the_document_counts_right_answers_and_has_wrong_ones_first() -> None:
    right = replace(RIGHT, found=(RIGHT.planted,))
    wrong = replace(RIGHT, kind="passes")

    found = report.document({"a": right, "b": wrong, "c": replace(right, kind="flaky")})

    assert "**1 of 3** answers are right, in the suites of toolz." in found
    rows = [line for line in found.splitlines() if line.startswith("| toolz")]
    assert [row.split(" | ")[6] for row in rows] == ["no: passes", "no: flaky", "yes"]


def test_the_document_is_written_from_the_saved_results() -> None:
    assert report.FILE.read_text(encoding="utf-8") == report.document(results.load())
