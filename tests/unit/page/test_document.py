"""The page as one JSON value within its limit."""

from dataclasses import replace

import pytest

from pytest_mcp.api.errors import CallError, RunEnvironment
from pytest_mcp.page import document
from pytest_mcp.page.content import Content
from pytest_mcp.report.report import RanTest
from pytest_mcp.text import safe
from tests.support.invented.records import execution, one_test, raised, session, uncollected
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


def with_everywhere(text: str, number: int = 1) -> Content:
    """A content with this text at every place that a project decides."""
    node_id = f"{text}::{text}"
    told = raised(f"Error: {text}", (f"{text}.py:3", text, text), node_id=node_id, sections=[[text, text]])
    bad = [uncollected(text, error_type=text, message=text, line=1, traceback=text)] * number
    run = execution(session(one_test(node_id, told), *bad, selected=1, exit_status=1), code=1)
    shown = content_of(
        run,
        notices=[text] * number,
        past=[f"history: {text}"],
        rerun={"node_ids": [text] * 100},
        environment=RunEnvironment(text, text, [], text, text, None),
        command=[text],
        problem=CallError(f"pytest failed\n{text}", {}),
    )
    return replace(shown, past={node_id: [("P", 0.5), ("F", None)]})


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_is_markup_stays_text_and_no_invisible_character_is_left(text: str) -> None:
    page = rendered(with_everywhere(text), text)
    seen = Seen(page)

    assert seen.tags == Seen(rendered(with_everywhere("x"))).tags
    assert [failure["out"] for failure in seen.data["failures"].values()] == [[[safe(text), safe(text)]]]
    assert seen.blocks("notices")["list"] == [safe(text)]
    assert safe(text) == text or text not in page


def test_it_has_every_test_and_every_failure_of_the_run() -> None:
    shown = content_of(mixed_run())

    made = document_of(shown)

    listed = {f"{file}::{name}": outcome for file, rows in made["files"] for name, outcome, *_ in rows}
    assert listed == {test.node_id: test.outcome[0].upper() for test in shown.report.tests}
    assert {node_id for cause in made["causes"] for node_id in cause["ids"]} == set(made["failures"])
    assert [cause["count"] for cause in made["causes"]] == [group.count for group in shown.report.groups]
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
    tests = [RanTest(f"a.py::{'x' * 1000}{n}", "failed" if n % 300 == 299 else "passed", 0.1) for n in range(3_000)]

    page = rendered(content_of(passing_run(), tests=tests))

    outcomes = [row[1] for _, rows in Seen(page).data["files"] for row in rows]
    assert len(page.encode()) < FIVE_MB
    assert outcomes.count("F") == 10
    assert f"The list has {len(outcomes)} of 3000 tests" in page


def test_everything_large_at_once_stays_under_five_megabytes() -> None:
    large = with_everywhere("<&>" * 10_000, number=500)

    page = rendered(large, "<" * 1_000_000)

    assert len(page.encode()) < FIVE_MB
