"""The page as one JSON value within its limit."""

from dataclasses import replace

import pytest

from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.results import CollectionError, TestResult
from pytest_mcp.page import document
from pytest_mcp.page.content import Cause, Content
from pytest_mcp.page.failures import Shown
from pytest_mcp.text import safe
from tests.support.page.pages import (
    HOSTILE,
    Seen,
    content_of,
    document_of,
    huge_run,
    mixed_run,
    passing_run,
    rendered,
)

FIVE_MB = 5_000_000


def with_everywhere(text: str) -> Content:
    """A content with this text at every place that a project decides."""
    shown = Shown(text, {"parts": [{"title": text, "text": text, "out": [[text, text]]}], "out": [[text, text]]})
    return Content(
        verdict="failed",
        summary=content_of(mixed_run()).summary,
        notices=[text],
        later_notices=[text],
        causes=[Cause(2, text, text, [text, text], {"node_ids": [text]}, [shown])],
        collection_errors=[
            CollectionError(file=text, error_type=text, message=text, line=1, traceback=text, also=0),
        ],
        tests=[TestResult(node_id=f"{text}::{text}", outcome="failed", duration=1.0, message=text, traceback=None)],
        rerun={"node_ids": [text] * 100},
        environment=RunEnvironment(text, text, [], text, text, None),
        pytest_command=[text],
        problem=f"pytest failed\n{text}",
        past={text: [("P", 0.5), ("F", None)]},
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_is_markup_stays_text_and_no_invisible_character_is_left(text: str) -> None:
    page = rendered(with_everywhere(text), text)
    seen = Seen(page)

    assert seen.tags == Seen(rendered(with_everywhere("x"))).tags
    assert seen.data["failures"][safe(text)]["out"] == [[safe(text), safe(text)]]
    assert seen.blocks("notices")["list"] == [safe(text)]
    assert safe(text) == text or text not in page


def test_it_has_every_test_and_every_failure_of_the_run() -> None:
    shown = content_of(mixed_run())

    made = document_of(shown)

    listed = {f"{file}::{name}": outcome for file, rows in made["files"] for name, outcome, *_ in rows}
    assert listed == {test.node_id: test.outcome[0].upper() for test in shown.tests}
    assert {node_id for cause in made["causes"] for node_id in cause["ids"]} == set(made["failures"])
    assert [cause["count"] for cause in made["causes"]] == [cause.count for cause in shown.causes]
    assert sum(cause["count"] for cause in made["causes"]) == 5


def test_ten_thousand_tests_and_five_hundred_failures_are_all_there_in_under_five_megabytes() -> None:
    page = rendered(content_of(huge_run()))

    data = Seen(page).data
    assert len(page.encode()) < FIVE_MB
    assert sum(len(rows) for _, rows in data["files"]) == 10_000
    assert len(data["failures"]) == 500


def test_what_does_not_fit_is_left_out_and_said() -> None:
    made = document_of(content_of(huge_run(500, 100, text="x" * 500)), most=100_000)

    left_out = 100 - len(made["failures"])
    assert left_out > 0
    assert 50_000 < document.size(made) <= 100_000
    assert f"The tracebacks of {left_out} failures are left out" in str(made["sections"][1])


def test_a_list_that_does_not_fit_keeps_the_failures_and_says_how_many_tests_it_has() -> None:
    shown = content_of(passing_run())
    passed = [shown.tests[0].model_copy(update={"node_id": f"a.py::{'x' * 1000}{n}"}) for n in range(3_000)]
    failed = [each.model_copy(update={"outcome": "failed"}) for each in passed[-10:]]

    page = rendered(replace(shown, tests=[*passed[:-10], *failed]))

    outcomes = [row[1] for _, rows in Seen(page).data["files"] for row in rows]
    assert len(page.encode()) < FIVE_MB
    assert outcomes.count("F") == 10
    assert f"The list has {len(outcomes)} of 3000 tests" in page


def test_everything_large_at_once_stays_under_five_megabytes() -> None:
    large = with_everywhere("<&>" * 10_000)
    many = replace(large, notices=large.notices * 500, collection_errors=large.collection_errors * 500)

    page = rendered(many, "<" * 1_000_000)

    assert len(page.encode()) < FIVE_MB


def test_a_document_for_which_there_is_no_room_is_larger_than_its_limit() -> None:
    assert document.size(document_of(content_of(mixed_run()), most=1_000)) > 1_000
