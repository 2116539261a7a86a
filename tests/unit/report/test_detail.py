"""What each `detail` shows of a run when the budget is large enough for it."""

import json

import pytest

from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE
from pytest_mcp.report.budget import MOST_CAUSES, MOST_EXAMPLES, TEXT_CHARACTERS, fit_execution
from pytest_mcp.report.report import execution_report
from pytest_mcp.tools import dump
from tests.support.invented.answers import PRINTED, answer, failing, red, shown_alone, suite, word
from tests.support.invented.records import (
    absent,
    execution,
    one_test,
    session,
    uncollected,
)

# --- what detail auto shows when everything fits -----------------------------------------------


def test_a_failure_that_is_shown_and_alone_with_its_cause_has_no_group() -> None:
    sent = answer(red(failing(), one_test("test_a.py::passes")))

    assert sent.failure_groups == []
    assert [test.node_id for test in sent.tests] == ["test_a.py::fails", "test_a.py::passes"]
    assert sent.omitted is None


def test_failures_of_one_cause_are_one_group_with_one_example_and_two_other_ids() -> None:
    sent = answer(suite(failures=200))

    (cause,) = sent.failure_groups
    (shown,) = sent.tests
    assert (cause.count, cause.example, cause.message) == (200, 0, "ValueError: no pena")
    assert cause.node_ids is not None
    assert len(cause.node_ids) == 2
    assert shown.node_id not in cause.node_ids
    assert sent.omitted is None


def test_five_causes_are_shown_five_more_have_a_line_and_the_others_share_one() -> None:
    sent = answer(suite(failures=40, causes=20))

    assert len(sent.tests) == MOST_EXAMPLES
    assert [cause.example for cause in sent.failure_groups] == [0, 1, 2, 3, 4, *[None] * 6]
    assert sent.failure_groups[-1].message == "10 more causes, the first: ValueError: no penba"
    assert sent.failure_groups[-1].location == "test_a.py"
    assert sent.failure_groups[-1].node_ids is None
    assert sum(cause.count for cause in sent.failure_groups) == 40
    assert sent.omitted is not None
    assert sent.omitted.hint == "detail: tests shows every failure"


def test_a_cause_without_an_example_names_a_test() -> None:
    sent = answer(suite(failures=MOST_CAUSES, causes=MOST_CAUSES))

    assert [cause.node_ids for cause in sent.failure_groups] == [[f"test_a.py::fails{n}"] for n in range(5, 10)]


def test_a_few_passing_tests_are_listed_and_one_more_is_only_counted() -> None:
    few, more = (answer(suite(passing=LISTED_WITHOUT_FAILURE + n)) for n in (0, 1))

    assert len(few.tests) == LISTED_WITHOUT_FAILURE
    assert more.tests == []
    assert more.omitted is None


def test_a_module_that_skipped_itself_is_shown_like_a_skipped_test() -> None:
    sent = answer(session(absent(), one_test("test_a.py::a"), selected=1))

    assert [test.node_id for test in sent.tests] == ["test_a.py::a", "test_absent.py"]


def test_the_message_is_one_line_and_the_traceback_has_the_rest() -> None:
    (test,) = answer(red(failing(message="ValueError: no pen\nno ink"))).tests

    assert test.message == "ValueError: no pen"
    assert (test.traceback or "").partition(" ")[2] == "in fails\n    buy()\nE   no ink"


@pytest.mark.parametrize(
    ("closing", "shown"),
    [
        ("=== 1 passed in 0.1s ===", ""),
        ("=== 1 passed, 2 xfailed in 0.1s ===", "1 passed, 2 xfailed in 0.1s"),
        ("=== 1 passed, 2 xpassed in 0.1s ===", "1 passed, 2 xpassed in 0.1s"),
        ("=== 1 passed, 7 deselected in 0.1s ===", "1 passed, 7 deselected in 0.1s"),
    ],
)
@pytest.mark.parametrize("most", [500, 4000])
def test_pytests_closing_line_is_shown_where_it_has_a_count_that_the_summary_lacks(
    closing: str, shown: str, most: int
) -> None:
    assert answer(suite(passing=1), f"collected 1 item\n{closing}\n", max_tokens=most).text_output == shown


@pytest.mark.parametrize(
    ("detail", "text_output"),
    [("auto", "a plugin speaks"), ("tests", "a plugin speaks"), ("full", PRINTED)],
)
def test_what_pytest_printed_is_sent_whole_only_when_asked_for(detail: str, text_output: str) -> None:
    assert answer(suite(passing=1), detail=detail).text_output == text_output


@pytest.mark.parametrize("detail", ["auto", "tests"])
def test_a_flood_of_output_is_cut_in_its_middle_and_what_is_missing_is_counted(detail: str) -> None:
    flood = f"the beginning {'x ' * TEXT_CHARACTERS} the end"

    sent = answer(suite(passing=1), flood, detail=detail)

    assert sent.omitted is not None
    # The note that stands in their place may count against them.
    assert 0 <= len(flood) - TEXT_CHARACTERS - sent.omitted.text_characters < 60
    assert sent.text_output.startswith("the beginning")
    assert sent.text_output.endswith("the end")


def test_files_that_cannot_be_collected_for_one_reason_are_one_entry() -> None:
    broken = [uncollected(f"test_{n}.py", error_type="ImportError", message="no shop") for n in range(6)]

    sent = answer(session(*broken, selected=0, exit_status=2), "")

    assert [(error.file, error.also) for error in sent.collection_errors] == [("test_0.py", 5)]
    assert sent.summary.errors == 6
    assert sent.rerun == {"node_ids": [f"test_{n}.py" for n in range(6)]}


# --- detail tests and full -----------------------------------------------------------------------


def test_detail_tests_lists_every_test_the_examples_first() -> None:
    sent = answer(suite(passing=20, failures=20, causes=2), detail="tests")

    ids = [test.node_id for test in sent.tests]
    assert ids[:2] == ["test_a.py::fails0", "test_a.py::fails1"]
    assert sorted(ids) == sorted([f"test_a.py::{name}{n}" for name in ("passes", "fails") for n in range(20)])
    assert sent.omitted is None


def test_detail_full_has_every_test_as_it_ran_with_pytests_own_text() -> None:
    stream = red(failing("test_a.py::b", traceback="pytest's own text"), one_test("test_a.py::a"))

    sent = answer(stream, detail="full")

    assert [test.node_id for test in sent.tests] == ["test_a.py::b", "test_a.py::a"]
    assert sent.tests[0].traceback == "pytest's own text"
    assert sent.failure_groups[0].example == 0
    assert sent.omitted is None


@pytest.mark.parametrize("detail", ["auto", "tests", "full"])
def test_no_answer_exceeds_the_operators_ceiling_and_the_counts_stay_true(detail: str) -> None:
    loud = [failing(f"test_a.py::t{n}", f"ValueError: {word(n)}", traceback="y" * 3000) for n in range(300)]
    run = execution(red(*loud), detail=detail, max_tokens=1_000_000)

    sent = fit_execution(execution_report(run, None), run.request, ceiling=20_000)

    assert len(json.dumps(dump(sent))) <= 20_000
    assert (sent.verdict, sent.summary.failed) == ("failed", 300)
    assert sum(cause.count for cause in sent.failure_groups) + len(shown_alone(sent)) == 300
    assert sent.omitted is not None


def test_causes_by_the_thousand_share_lines_below_the_operators_ceiling() -> None:
    run = execution(
        red(*(failing(f"test_a.py::t{n}", f"ValueError: {word(n)}") for n in range(2000))), max_tokens=1_000_000
    )

    sent = fit_execution(execution_report(run, None), run.request, ceiling=50_000)

    assert len(json.dumps(dump(sent), separators=(",", ":"))) <= 50_000
    assert sum(cause.count for cause in sent.failure_groups) + len(shown_alone(sent)) == 2000
