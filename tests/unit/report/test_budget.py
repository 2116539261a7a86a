import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mcp.api.requests import MAX_NODE_IDS
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE, ExecuteResult
from pytest_mcp.events.model import Configured, Deselected, Event, ImportedElsewhere, Started, Warned
from pytest_mcp.report import tokens
from pytest_mcp.report.budget import IDS_OF_A_GROUP, IDS_OF_RERUN, REPEATED_CHARACTERS, TEXT_CHARACTERS, fit_execution
from pytest_mcp.report.result import executed
from pytest_mcp.text import safe
from pytest_mcp.tools import dump
from tests.support.records import absent, execution, one_test, phase, session, skipped, uncollected

CEILING = 16 * 1024 * 1024

ALWAYS = ("verdict", "exit_code", "summary", "notices", "collection_errors", "rerun")
PRINTED = "collected 9 items\n\ntest_a.py .F\n\na plugin speaks\n=== 1 passed in 0.1s ===\n"


# Words that are not masked.
CAUSES = ("no pen", "no ink", "no paper")


def word(number: int) -> str:
    """A different word for every number, because digits are masked."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


def suite(*, passing: int = 0, failing: int = 0, causes: int = 1, skipping: int = 0) -> list[Event]:
    tests = [one_test(f"test_a.py::passes{n}") for n in range(passing)]
    for number in range(failing):
        node_id = f"test_a.py::fails{number}"
        message = f"ValueError: {CAUSES[number % causes]}"
        tests.append(one_test(node_id, phase(node_id, message=message, location=["a.py", 1], traceback="whole")))
    tests += [one_test(f"test_a.py::skips{n}", skipped(f"test_a.py::skips{n}", "no")) for n in range(skipping)]
    return session(*tests, selected=len(tests), exit_status=1 if failing else 0)


def answer(stream: list[Event], stdout: str = PRINTED, **asked: Any) -> tuple[ExecuteResult, ExecuteResult]:
    """The complete result, and the part of it that is sent."""
    run = execution(stream, stdout=stdout, **asked)
    whole = executed(run)
    return whole, fit_execution(whole, run.request, ceiling=CEILING)


def cost(sent: ExecuteResult) -> int:
    """As it is sent, with invisible characters escaped."""
    return tokens.estimate(safe(json.dumps(dump(sent), ensure_ascii=False, separators=(",", ":"))))


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


def failing(node_id: str = "test_a.py::fails", **told: Any) -> list[Event]:
    usual = {"message": "ValueError: no", "location": ["a.py", 1], "traceback": "E   ValueError: no"}
    return one_test(node_id, phase(node_id, **usual | told))


def red(*tests: list[Event], selected: int | None = None) -> list[Event]:
    return session(*tests, selected=len(tests) if selected is None else selected, exit_status=1)


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

names = st.sampled_from(["test_it", "test_größe[ä-1]", "T::test_long[" + "parameter-" * 30 + "]", "test_x[a::b[c]]"])
messages = st.sampled_from(
    [
        "ValueError: no",
        "TypeError: " + "many words in one line " * 200,
        "AssertionError: assert [1] == [2]\n" + "  - a\n  + b\n    same\n" * 300,
        "KeyError: 'größe'\n" + "заказ не найден\n" * 100,
        "",
    ]
)
tracebacks = st.sampled_from(
    [
        "",
        "E   ValueError: no",
        "tests/test_a.py:3: in test_it\n    run()\n" + "/usr/lib/python3.11/a.py:9: in f\n    g()\n" * 80 + "E   no",
        "    source line of some length\n" * 400 + ">   fail()\nE   ValueError: no\n\ntests/test_a.py:9: ValueError",
        "x" * 20_000,
    ]
)
sections = st.sampled_from(
    [[], [["Captured stdout call", "printed line\n" * 300]], [["Captured log call", "y" * 9000]]]
)
places = st.sampled_from([None, ["src/a.py", 1], ["src/b.py", 2], ["/usr/lib/python3.11/a.py", 9]])


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    told: list[Event | list[Event]] = [
        one_test(f"tests/test_a.py::passes{n}") for n in range(draw(st.integers(0, 150)))
    ]
    for number in range(draw(st.integers(0, 40))):
        node_id = f"tests/test_{number % 7}.py::{draw(names)}{number}"
        failure = phase(
            node_id,
            message=draw(messages),
            traceback=draw(tracebacks),
            location=draw(places),
            sections=draw(sections),
            when=draw(st.sampled_from(["setup", "call", "teardown"])),
        )
        told.append(one_test(node_id, failure))
    told += [
        uncollected(f"tests/test_broken{number}.py", error_type="E", message=draw(messages), traceback=draw(tracebacks))
        for number in range(draw(st.integers(0, 30)))
    ]
    return session(*told, selected=len(told), exit_status=1)


@settings(max_examples=60)
@given(runs(), st.integers(min_value=500, max_value=6000), st.sampled_from(["auto", "tests"]))
def test_the_budget_is_kept_and_what_matters_most_is_told(stream: list[Event], most: int, detail: str) -> None:
    whole, sent = answer(stream, "a plugin speaks\n" * 50, detail=detail, max_tokens=most)

    assert cost(sent) <= most
    assert (sent.verdict, sent.summary, sent.notices) == (whole.verdict, whole.summary, whole.notices)
    assert sum(cause.count for cause in sent.failure_groups) == sum(cause.count for cause in whole.failure_groups)
    assert bool(sent.collection_errors) == bool(whole.collection_errors)
    listed = Counter(test.outcome for test in sent.tests)
    told = sent.omitted
    if told is not None:
        assert told.passed == whole.summary.passed - listed["passed"]
        assert told.same_cause_failures == len(whole.tests) - sum(
            test.outcome == "passed" for test in whole.tests
        ) - sum(count for outcome, count in listed.items() if outcome != "passed")


LOUD_WORDS = "many \u200b words\n"


def crowded(words: str) -> list[Event]:
    """A run with every kind of event, all with this text."""
    failed = [one_test(f"{words}{n}", phase(f"{words}{n}", message=words, traceback=words)) for n in range(12)]
    return session(
        ImportedElsewhere(words, words, words),
        Configured(None, [words]),
        Deselected(3, None),
        *failed,
        *(uncollected(f"{words}{n}", error_type=words, message=f"{words}{word(n)}", traceback=words) for n in range(9)),
        *(one_test(f"{words} skips {n}", skipped(f"{words} skips {n}", f"{words}{n}")) for n in range(9)),
        *(one_test(f"{words}{n}", phase(f"{words}{n}", outcome="rerun")) for n in range(90, 99)),
        *(Warned(words, category, "runtest", words, 1, words) for category in CATEGORIES),
        Started(words),
        selected=99,
        exit_status=1,
        stopped=words,
    )


CATEGORIES = ("PytestReturnNotNoneWarning", "PytestUnhandledCoroutineWarning", *["UserWarning"] * 30)


@pytest.mark.parametrize("detail", ["auto", "tests"])
@pytest.mark.parametrize("repeated", [1, 30, 3000])
def test_the_smallest_budget_is_kept_whatever_a_run_tells(repeated: int, detail: str) -> None:
    whole, sent = answer(crowded(LOUD_WORDS * repeated), LOUD_WORDS * 99, detail=detail, max_tokens=500)

    assert cost(sent) <= 500
    assert (sent.verdict, sent.summary) == (whole.verdict, whole.summary)
    assert bool(sent.notices) == bool(whole.notices)
    assert sum(cause.count for cause in sent.failure_groups) == 12


def test_causes_and_files_that_could_not_be_collected_share_the_budget() -> None:
    """Each of the two fits alone."""
    long_words = "TypeError: " + "many words in one line " * 200
    reasons = ["", long_words, "AssertionError: assert [1] == [2]", "KeyError: 'größe'", "ValueError: no"]
    broken = [uncollected(f"tests/test_broken{n}.py", error_type="E", message=reasons[n % 5]) for n in range(20)]
    failed = [failing(f"tests/test_1.py::T::test_long[{'parameter-' * 30}]", message=long_words, traceback="")]

    _, sent = answer(session(*failed, *broken, selected=1, exit_status=1), max_tokens=500)

    assert cost(sent) <= 500
    assert (sent.summary.errors, len(sent.failure_groups)) == (20, 1)


def test_as_many_passing_tests_are_listed_as_fit() -> None:
    whole, sent = answer(suite(passing=1000), detail="tests", max_tokens=2000)

    one_more = sent.model_copy(update={"tests": whole.tests[: len(sent.tests) + 2]})
    assert sent.tests == whole.tests[: len(sent.tests)]
    assert cost(sent) <= 2000 < cost(one_more)


def test_a_failure_stands_whole_before_any_test_that_passed() -> None:
    """Entries are left out before any entry is shortened."""
    whole, sent = answer(suite(passing=1000, failing=5, causes=3), detail="tests", max_tokens=2000)

    assert [test for test in whole.tests if test.outcome == "failed"] == sent.tests[:5]
    assert all(test in whole.tests for test in sent.tests)
    assert len(sent.tests) > 5


FOREIGN = "/usr/lib/python3.11/lib.py:9: in run\n    step()\n" * 30
LOUD: dict[str, Any] = {
    "traceback": f"tests/test_a.py:3: in test_it\n    own()\n{FOREIGN}E   ValueError: {'no ' * 30}",
    "sections": [["Captured stdout call", "a printed line\n" * 9]],
}


def given_up(sent: ExecuteResult) -> list[bool]:
    """What is missing, in the order of the reductions."""
    text = sent.tests[0].traceback if sent.tests else ""
    assert text is not None
    return [
        sent.text_output == "",
        not any(test.outcome == "passed" for test in sent.tests),
        sent.failure_groups[0].node_ids == [],
        "a printed line" not in text,
        "/usr/lib" not in text,
        "characters left out" in text or text == "",
        sent.tests == [],
    ]


@pytest.mark.parametrize("detail", ["auto", "tests"])
def test_what_does_not_fit_goes_in_a_fixed_order(detail: str) -> None:
    stream = red(
        *(failing(f"tests/test_a.py::fails{number}", **LOUD) for number in range(4)),
        *(one_test(f"tests/test_a.py::passes{number}") for number in range(LISTED_WITHOUT_FAILURE)),
    )

    steps = [given_up(answer(stream, detail=detail, max_tokens=most)[1]) for most in range(4000, 499, -20)]

    assert steps[0] == [False] * 7
    for gone in steps:
        assert gone == sorted(gone, reverse=True)


def test_what_the_budget_took_can_be_had_back_as_the_hint_says() -> None:
    """detail: tests with the same max_tokens would show no more."""
    _, sent = answer(red(failing(traceback="    source\n" * 3000)), max_tokens=500)

    assert sent.omitted is not None
    assert "max_tokens" in sent.omitted.hint


def test_what_is_missing_of_files_that_could_not_be_collected_is_not_missing_silently() -> None:
    broken = [
        uncollected(f"test_{n}.py", error_type="E", message="no x", traceback="E   no x\n" * 30) for n in range(300)
    ]

    whole, sent = answer(session(*broken, selected=0, exit_status=2), "")

    assert len(sent.collection_errors) < len(whole.collection_errors)
    assert "299 more files" in sent.collection_errors[0].message
    assert sent.omitted is not None


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(
            [failing(f"test_a.py::t[{'x y ' * 50}{n}]") for n in range(IDS_OF_RERUN)],
            id="long ids in rerun",
        ),
        pytest.param([failing(f"test_a.py::t{n}", message=f"{'E' * (n + 1)}: no") for n in range(90)], id="many types"),
        pytest.param([failing(message="ValueError: " + "x" * 9000, traceback="E   no")], id="one long message"),
        pytest.param([failing(message="E: no", traceback="\u200b" * 1500)], id="what nobody sees"),
    ],
)
def test_the_budget_is_kept_whatever_failed(stream: list[list[Event]]) -> None:
    _, sent = answer(red(*stream), max_tokens=1000)

    assert cost(sent) <= 1000
    assert sent.summary.failed == len(stream)
    assert sent.failure_groups != []


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param([f"no {'abcdefghij'[n % 10] * (n + 1)}" for n in range(99)], id="each of its own"),
        pytest.param(["word " * 9000], id="one of many words"),
    ],
)
def test_the_budget_is_kept_whatever_could_not_be_collected(broken: list[str]) -> None:
    told = [uncollected(f"test_{n}.py", error_type="E", message=message) for n, message in enumerate(broken)]

    _, sent = answer(session(*told, selected=0, exit_status=2), max_tokens=1000)

    assert cost(sent) <= 1000
    assert sent.summary.errors == len(broken)


def test_causes_by_the_thousand_share_lines_below_the_operators_ceiling() -> None:
    run = execution(
        red(*(failing(f"test_a.py::t{n}", message=f"ValueError: {word(n)}") for n in range(2000))),
        max_tokens=1_000_000,
    )

    sent = fit_execution(executed(run), run.request, ceiling=50_000)

    assert len(json.dumps(dump(sent), separators=(",", ":"))) <= 50_000
    assert sum(cause.count for cause in sent.failure_groups) == 2000
