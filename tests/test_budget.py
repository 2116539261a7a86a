import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.budget import TEXT_CHARACTERS, fit_discovery, fit_execution
from pytest_mcp.events import Event
from pytest_mcp.findings import discovered, executed
from pytest_mcp.results import LISTED_WITHOUT_FAILURE, DiscoverResult, ExecuteResult
from pytest_mcp.tools import dump
from tests.records import absent, discovery, execution, item, one_test, phase, session, skipped, uncollected

CEILING = 16 * 1024 * 1024

ALWAYS = ("verdict", "exit_code", "summary", "notices", "collection_errors", "failure_groups", "rerun")
PRINTED = "collected 9 items\n\ntest_a.py .F\n\na plugin speaks\n=== 1 passed in 0.1s ===\n"


def suite(*, passing: int = 0, failing: int = 0, causes: int = 1, skipping: int = 0) -> list[Event]:
    tests = [one_test(f"test_a.py::passes{n}") for n in range(passing)]
    for number in range(failing):
        node_id = f"test_a.py::fails{number}"
        told = phase(node_id, message=f"ValueError: {number % causes}", location=["a.py", 1], traceback="whole")
        tests.append(one_test(node_id, told))
    tests += [one_test(f"test_a.py::skips{n}", skipped(f"test_a.py::skips{n}", "no")) for n in range(skipping)]
    return session(*tests, selected=len(tests), exit_status=1 if failing else 0)


def answer(stream: list[Event], stdout: str = PRINTED, **asked: Any) -> tuple[ExecuteResult, ExecuteResult]:
    """The complete result, and what of it is sent."""
    run = execution(stream, stdout=stdout, **asked)
    whole = executed(run)
    return whole, fit_execution(whole, run.request, ceiling=CEILING)


def found(count: int, **asked: Any) -> tuple[DiscoverResult, DiscoverResult]:
    run = discovery([item(f"tests/test_{number % 3}.py::test_{number}") for number in range(count)], **asked)
    whole = discovered(run)
    return whole, fit_discovery(whole, run.request, ceiling=CEILING)


suites = st.builds(
    suite,
    passing=st.integers(min_value=0, max_value=8),
    failing=st.integers(min_value=0, max_value=8),
    causes=st.integers(min_value=1, max_value=3),
    skipping=st.integers(min_value=0, max_value=8),
)


@given(suites, st.sampled_from(["auto", "tests", "full"]))
def test_verdict_counts_notices_and_causes_are_sent_whatever_the_detail(stream: list[Event], detail: str) -> None:
    whole, sent = answer(stream, detail=detail)

    assert {key: dump(sent)[key] for key in ALWAYS} == {key: dump(whole)[key] for key in ALWAYS}
    assert list(dump(sent)) == list(dump(whole))


@given(suites)
def test_what_is_left_out_is_counted_and_nothing_is_both_left_out_and_sent(stream: list[Event]) -> None:
    whole, sent = answer(stream)

    shown = Counter(test.outcome for test in sent.tests)
    told = sent.omitted
    assert (told is None) == (len(sent.tests) == whole.summary.total)
    if told is not None:
        assert told.passed == whole.summary.passed - shown["passed"]
        assert told.skipped == whole.summary.skipped - shown["skipped"]
        assert (
            told.same_cause_failures == whole.summary.failed + whole.summary.errors - shown["failed"] - shown["error"]
        )
        assert told.hint != ""


@given(suites)
def test_one_failure_of_each_cause_is_sent_whole_before_everything_else(stream: list[Event]) -> None:
    whole, sent = answer(stream)

    examples = [cause.example for cause in whole.failure_groups]
    assert [test.node_id for test in sent.tests[: len(examples)]] == examples
    assert all(test in whole.tests for test in sent.tests)


def test_a_few_passing_tests_are_listed_and_one_more_is_only_counted() -> None:
    _, few = answer(suite(passing=LISTED_WITHOUT_FAILURE))
    _, more = answer(suite(passing=LISTED_WITHOUT_FAILURE + 1))

    assert len(few.tests) == LISTED_WITHOUT_FAILURE
    assert few.omitted is None
    assert more.tests == []
    assert more.omitted is not None
    assert more.omitted.passed == LISTED_WITHOUT_FAILURE + 1


def test_detail_tests_lists_every_test_and_detail_full_changes_nothing() -> None:
    every, listed = answer(suite(passing=20, failing=20), detail="tests")
    whole, full = answer(suite(passing=20, failing=20), detail="full")

    assert listed.tests == every.tests
    assert listed.omitted is None
    assert full == whole


@pytest.mark.parametrize(
    ("detail", "text_output"),
    [
        ("auto", "a plugin speaks\n=== 1 passed in 0.1s ==="),
        ("tests", "a plugin speaks\n=== 1 passed in 0.1s ==="),
        ("full", PRINTED),
    ],
)
def test_what_pytest_printed_is_sent_whole_only_when_asked_for(detail: str, text_output: str) -> None:
    _, sent = answer(suite(passing=1), detail=detail)

    assert sent.text_output == text_output


@pytest.mark.parametrize("detail", ["auto", "tests"])
def test_a_flood_of_output_is_cut_in_its_middle_and_what_is_missing_is_counted(detail: str) -> None:
    flood = f"the beginning {'x ' * TEXT_CHARACTERS} the end"

    _, sent = answer(suite(passing=1), flood, detail=detail)

    assert sent.omitted is not None
    assert sent.omitted.text_characters == len(flood) - TEXT_CHARACTERS
    assert sent.text_output.startswith("the beginning")
    assert sent.text_output.endswith("the end")
    assert len(sent.text_output) < TEXT_CHARACTERS + 100


def test_a_module_that_skipped_itself_is_shown_like_a_skipped_test() -> None:
    _, sent = answer(session(absent(), one_test("test_a.py::a"), selected=1))

    assert [test.node_id for test in sent.tests] == ["test_a.py::a", "test_absent.py"]


def test_156_tests_are_listed_by_default() -> None:
    whole, sent = found(156)

    assert sent == whole
    assert sent.count == 156


def test_more_tests_than_fit_become_counts_per_file_and_the_count_stays_the_truth() -> None:
    _, sent = found(1000)

    assert sent.count == 1000
    assert sent.tests == []
    assert [(file.file, file.count) for file in sent.files] == [
        ("tests/test_0.py", 334),
        ("tests/test_1.py", 333),
        ("tests/test_2.py", 333),
    ]
    assert sent.omitted is not None
    assert sent.omitted.tests == 1000


def test_the_caller_can_raise_the_budget_or_ask_for_everything() -> None:
    whole, roomy = found(1000, max_tokens=1_000_000)
    _, full = found(1000, detail="full", max_tokens=500)
    _, narrow = found(156, max_tokens=500)

    assert roomy == whole
    assert full == whole
    assert narrow.tests == []


def test_files_that_could_not_be_collected_are_told_even_when_the_tests_do_not_fit() -> None:
    run = discovery([uncollected("test_x.py"), *(item(f"test_a.py::test_{n}") for n in range(1000))])

    sent = fit_discovery(discovered(run), run.request, ceiling=CEILING)

    assert [error.file for error in sent.collection_errors] == ["test_x.py"]
    assert len(json.dumps(dump(sent))) < 2000


@pytest.mark.parametrize("detail", ["auto", "tests", "full"])
def test_no_answer_exceeds_the_operators_ceiling_and_the_counts_stay_true(detail: str) -> None:
    loud = [
        one_test(f"test_a.py::t{n}", phase(f"test_a.py::t{n}", message=f"E{n}: x", traceback="y" * 3000))
        for n in range(300)
    ]
    run = execution(session(*loud, selected=300, exit_status=1), detail=detail, max_tokens=1_000_000)

    sent = fit_execution(executed(run), run.request, ceiling=100_000)

    assert len(json.dumps(dump(sent))) < 110_000
    assert (sent.verdict, sent.summary.failed, len(sent.failure_groups)) == ("failed", 300, 300)
    assert sent.omitted is not None
    assert "raise max_tokens" in sent.omitted.hint
