import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.requests import MAX_NODE_IDS
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE
from pytest_mcp.events.model import Event
from pytest_mcp.report.budget import IDS_OF_A_GROUP, IDS_OF_RERUN, REPEATED_CHARACTERS, TEXT_CHARACTERS, fit_execution
from pytest_mcp.report.result import executed
from pytest_mcp.tools import dump
from tests.support.answers import PRINTED, answer, failing, red, suite, word
from tests.support.records import absent, execution, one_test, phase, session

ALWAYS = ("verdict", "exit_code", "summary", "notices", "collection_errors", "rerun")


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
    assert [(cause.count, cause.message, cause.example) for cause in sent.failure_groups] == [
        (cause.count, cause.message, cause.example) for cause in whole.failure_groups
    ]


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
        ("auto", "a plugin speaks\n1 passed in 0.1s"),
        ("tests", "a plugin speaks\n1 passed in 0.1s"),
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
    # The note in the middle counts as text that was sent.
    assert 0 <= len(flood) - TEXT_CHARACTERS - sent.omitted.text_characters < 60
    assert sent.text_output.startswith("the beginning")
    assert sent.text_output.endswith("the end")
    assert len(sent.text_output) < TEXT_CHARACTERS + 100


def test_a_module_that_skipped_itself_is_shown_like_a_skipped_test() -> None:
    _, sent = answer(session(absent(), one_test("test_a.py::a"), selected=1))

    assert [test.node_id for test in sent.tests] == ["test_a.py::a", "test_absent.py"]


@pytest.mark.parametrize("detail", ["auto", "tests", "full"])
def test_no_answer_exceeds_the_operators_ceiling_and_the_counts_stay_true(detail: str) -> None:
    loud = [
        one_test(f"test_a.py::t{n}", phase(f"test_a.py::t{n}", message=f"ValueError: {word(n)}", traceback="y" * 3000))
        for n in range(300)
    ]
    run = execution(session(*loud, selected=300, exit_status=1), detail=detail, max_tokens=1_000_000)

    sent = fit_execution(executed(run), run.request, ceiling=100_000)

    assert len(json.dumps(dump(sent))) < 110_000
    assert (sent.verdict, sent.summary.failed, len(sent.failure_groups)) == ("failed", 300, 300)
    assert sent.omitted is not None
    assert "raise max_tokens" in sent.omitted.hint


# --- what detail auto shows when everything fits -----------------------------------------------


def test_the_others_of_a_group_are_a_few_ids() -> None:
    _, sent = answer(suite(failing=200))

    (cause,) = sent.failure_groups
    assert (cause.count, cause.example) == (200, "test_a.py::fails0")
    assert cause.node_ids == [f"test_a.py::fails{number}" for number in range(1, 1 + IDS_OF_A_GROUP)]
    assert sent.omitted is not None
    assert sent.omitted.same_cause_failures == 199


def test_of_captured_output_the_end_is_shown_and_what_is_missing_is_counted() -> None:
    printed = "\n".join(f"line {number}" for number in range(200))

    whole, sent = answer(red(failing(sections=[["Captured stdout call", printed]])))

    (test,) = sent.tests
    assert test.traceback is not None
    assert test.traceback.endswith("[... 190 lines left out ...]\n" + "\n".join(printed.split("\n")[190:]))
    assert sent.omitted is not None
    assert 0 < sent.omitted.text_characters < len(whole.tests[0].traceback or "")


def test_a_long_message_of_several_lines_is_whole_in_the_traceback_only() -> None:
    message = "ValueError: no\n" + "\n".join(f"reason {number}" for number in range(REPEATED_CHARACTERS // 8))
    marked = "\n".join(f"E   {line}" for line in message.split("\n"))

    _, sent = answer(red(failing(message=message, traceback=marked)))

    (test,) = sent.tests
    assert test.message == "ValueError: no"
    assert test.traceback == marked


@pytest.mark.parametrize("message", ["ValueError: " + "x " * REPEATED_CHARACTERS, "ValueError: no\nfew words", ""])
def test_a_message_of_one_line_or_of_few_words_stays_whole(message: str) -> None:
    _, sent = answer(red(failing(message=message)))

    assert [test.message for test in sent.tests] == [message]


# --- rerun -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node_ids", "rerun"),
    [
        (
            [f"t/test_a.py::t[a/b::{n}]" for n in range(IDS_OF_RERUN)],
            {"node_ids": [f"t/test_a.py::t[a/b::{n}]" for n in range(IDS_OF_RERUN)]},
        ),
        ([f"t/test_a.py::t[a/b::{n}]" for n in range(IDS_OF_RERUN + 1)], {"path": "t/test_a.py"}),
        ([f"t/u/test_{n}.py::t" for n in range(IDS_OF_RERUN + 1)], {"path": "t/u"}),
        ([f"{'tu'[n % 2]}/test_{n}.py::t" for n in range(IDS_OF_RERUN + 1)], {"path": "."}),
        ([f"test_{n}.py::t" for n in range(IDS_OF_RERUN + 1)], {"path": "."}),
        ([f"my tests/a:b/test_{n}.py::t" for n in range(IDS_OF_RERUN + 1)], {"path": "my tests/a:b"}),
        ([f"t/test_{n}.py::t" for n in range(MAX_NODE_IDS + 1)], {"path": "t"}),
    ],
)
def test_rerun_names_the_failures_or_the_folder_that_holds_them_all(node_ids: list[str], rerun: dict[str, Any]) -> None:
    _, sent = answer(red(*map(failing, node_ids)))

    assert sent.rerun == rerun


def test_rerun_keeps_the_pattern_beside_a_folder() -> None:
    _, sent = answer(red(*(failing(f"t/check_{n}.py::t") for n in range(50))), pattern="check_*.py")

    assert sent.rerun == {"path": "t", "pattern": "check_*.py"}


def test_ids_that_no_pytest_would_give_break_nothing() -> None:
    """A test can write anything into the report."""
    _, sent = answer(red(*(failing(node_id) for n in range(30) for node_id in (f"/a{n}.py::t", f"b{n}.py::t", f"{n}"))))

    assert sent.summary.failed == 90


# --- the budget --------------------------------------------------------------------------------
