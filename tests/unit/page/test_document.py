"""The file as a parser sees it; `make page` looks at it in a real browser."""

import base64
import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import CollectionError, TestResult
from pytest_mcp.page import content
from pytest_mcp.page.content import Cause, Content
from pytest_mcp.page.failures import Shown
from pytest_mcp.page.strip import Result
from pytest_mcp.report import report
from pytest_mcp.text import safe
from tests.support.page.pages import (
    HOSTILE,
    Seen,
    content_of,
    empty_run,
    hostile_run,
    huge_run,
    incomplete_run,
    mixed_run,
    passing_run,
    rendered,
)

FIVE_MB = 5_000_000
# Attributes whose value a browser runs or fetches.
ACTIVE = {"src", "action", "formaction", "style", "srcdoc", "data", "background", "poster"}
words = st.text(st.characters(codec=None), min_size=1, max_size=60).filter(str.strip)


def with_everywhere(text: str) -> Content:
    """A content with this text at every place that a project decides."""
    shown = Shown(text, text, {"parts": [{"title": text, "text": text, "out": [[text, text]]}], "out": [[text, text]]})
    return Content(
        verdict="failed",
        summary=content_of(mixed_run()).summary,
        notices=[text],
        causes=[Cause(2, text, text, [text, text], {"node_ids": [text]}, shown)],
        collection_errors=[
            CollectionError(file=text, error_type=text, message=text, line=1, traceback=text, also=0),
        ],
        tests=[TestResult(node_id=f"{text}::{text}", outcome="failed", duration=1.0, message=text, traceback=None)],
        rerun=None,
        python=text,
        pytest=text,
        interpreter=text,
        pytest_command=[text],
        problem=f"pytest failed\n{text}",
        past={text: [Result("P", 0.5), Result("F", None)]},
    )


def test_the_only_script_and_the_only_style_are_those_whose_hash_the_policy_names() -> None:
    seen = Seen(rendered(content_of(mixed_run())))
    active = {tag: text for tag, kind, text in seen.raw if kind is None}

    hashes = {tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for tag, text in active.items()}

    assert sorted(tag for tag, kind, _ in seen.raw if kind is None) == ["script", "style"]
    assert f"script-src 'sha256-{hashes['script']}';" in seen.policy
    assert f"style-src 'sha256-{hashes['style']}';" in seen.policy
    assert "default-src 'none'" in seen.policy
    assert "unsafe" not in seen.policy


def test_nothing_is_fetched_and_no_attribute_can_hold_code() -> None:
    seen = Seen(rendered(content_of(mixed_run())))

    assert {name for name, _ in seen.values if name in ACTIVE or name.startswith("on")} == set()
    assert {value.partition(":")[0] for name, value in seen.values if name == "href"} == {"#content", "data"}


@given(words)
def test_no_text_becomes_markup(text: str) -> None:
    harmless = Seen(rendered(with_everywhere("x")))

    seen = Seen(rendered(with_everywhere(text)))

    assert seen.tags == harmless.tags
    assert seen.has_text(safe(text).replace("\r", "\n").strip("\n")) or seen.has_text(safe(text))
    assert len(seen.data["failures"]) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_is_markup_stays_text(text: str) -> None:
    page = rendered(with_everywhere(text))
    seen = Seen(page)

    assert seen.tags == Seen(rendered(with_everywhere("x"))).tags
    assert seen.has_text(safe(text))
    assert seen.data["failures"][safe(text)]["out"] == [[safe(text), safe(text)]]
    assert safe(text) == text or text not in page


def test_a_hostile_run_adds_no_element_that_others_do_not_have() -> None:
    mixed, hostile = (Seen(rendered(content_of(run))) for run in (mixed_run(), hostile_run()))

    assert set(hostile.tags) <= set(mixed.tags)


def test_the_data_has_every_test_and_every_failure_of_the_run() -> None:
    shown = content_of(mixed_run())

    data = Seen(rendered(shown)).data

    listed = {f"{file}::{name}": outcome for file, rows in data["files"] for name, outcome, *_ in rows}
    assert listed == {test.node_id: test.outcome[0].upper() for test in shown.tests}
    assert {node_id for cause in data["causes"] for node_id in cause["ids"]} == set(data["failures"])
    assert [cause["count"] for cause in data["causes"]] == [cause.count for cause in shown.causes]
    assert sum(cause["count"] for cause in data["causes"]) == 5


def test_counts_notices_first_failures_and_files_are_there_without_the_script() -> None:
    seen = Seen(rendered(content_of(mixed_run())))

    for text in ("Failed", "KeyError: 'pen'", "tests/test_a.py::test_alike[2]", "ImportError: no shop", "  - two"):
        assert seen.has_text(text)


@pytest.mark.parametrize(
    ("shown", "verdict", "word", "not_a_pass"),
    [
        pytest.param(content_of(passing_run()), "passed", "Passed", False, id="passed"),
        pytest.param(content_of(mixed_run()), "failed", "Failed", False, id="failed"),
        pytest.param(content_of(incomplete_run()), "incomplete", "Incomplete", True, id="incomplete"),
        pytest.param(content_of(empty_run()), "no_tests", "No tests", True, id="no tests"),
    ],
)
def test_the_banner_says_the_verdict_in_a_word_and_a_look_of_its_own(
    shown: Content, verdict: str, word: str, not_a_pass: bool
) -> None:
    seen = Seen(rendered(shown))

    assert ("class", f"banner {verdict}") in seen.values
    assert word in seen.texts
    assert seen.has_text("This is not a pass.") is not_a_pass


def test_a_run_that_timed_out_shows_its_error_and_what_had_finished() -> None:
    error = ExecutionFailed("timeout", "pytest execution exceeded timeout of 5 seconds", RunFacts())
    known = report.of_execution(mixed_run(), error)
    known = replace(known, running=["tests/test_a.py::test_slow"], not_run=4)

    seen = Seen(rendered(content.of_report(known)))

    assert ("class", "banner incomplete") in seen.values
    for text in ("exceeded timeout of 5 seconds", "tests/test_a.py::test_slow", "Not started: 4", "KeyError: 'pen'"):
        assert seen.has_text(text)


def test_a_run_that_never_started_says_so() -> None:
    error = ExecutionFailed("environment", "no usable Python was found", RunFacts(), details=["uv sync"])

    seen = Seen(rendered(content.of_report(report.of_no_run(error))))

    assert "Did not run" in seen.texts
    assert seen.has_text("no usable Python was found")


def test_ten_thousand_tests_and_five_hundred_failures_are_all_there_in_under_five_megabytes() -> None:
    page = rendered(content_of(huge_run()))

    data = Seen(page).data
    assert len(page.encode()) < FIVE_MB
    assert sum(len(rows) for _, rows in data["files"]) == 10_000
    assert len(data["failures"]) == 500


def test_what_does_not_fit_is_left_out_and_said() -> None:
    page = rendered(content_of(huge_run(tests=80, failures=80, text="<" * 15_000)))

    seen = Seen(page)
    assert len(page.encode()) < FIVE_MB
    left_out = 80 - len(seen.data["failures"])
    assert left_out > 0
    assert seen.has_text(f"The tracebacks of {left_out} failures are left out")


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

    page = rendered(replace(large, notices=large.notices * 500, collection_errors=large.collection_errors * 500))

    assert len(page.encode()) < FIVE_MB
    assert "450 more notices are left out" in page


def test_the_foot_says_what_made_the_page() -> None:
    shown = replace(content_of(passing_run()), python="3.12.1", pytest="9.2.0", interpreter="/env/bin/python")

    seen = Seen(rendered(shown))

    for text in ("3.12.1 · /env/bin/python", "9.2.0", "a" * 40, "pytest-mcp run", "python -m pytest"):
        assert text in seen.texts


def test_tests_that_did_not_run_are_counted_and_have_no_colour_in_the_bar() -> None:
    seen = Seen(rendered(content_of(incomplete_run())))

    assert ("class", "tile not-run") in seen.values
    assert [value for name, value in seen.values if value in ("passed", "not-run")][-2:] == ["passed", "not-run"]
