"""What an answer leaves out when the budget is small, and what it never leaves out."""

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE, ExecuteResult
from pytest_mcp.report.budget import MAX_CAUSES, TEXT_CHARACTERS, fit_execution
from pytest_mcp.report.frames import CAPTURED
from pytest_mcp.report.report import execution_report
from pytest_mcp.run.events import Configured, Deselected, Event, ImportedElsewhere, Started, Warned
from pytest_mcp.tools import dump
from tests.support.invented.answers import KEYS, PRINTED, answer, cost, failing, red, report, shown_alone, suite, word
from tests.support.invented.records import execution, frame, one_test, phase, session, skipped, uncollected

names = st.sampled_from(["test_it", "test_größe[ä-1]", "T::test_long[" + "parameter-" * 30 + "]", "test_x[a::b[c]]"])
messages = st.sampled_from(
    [
        "ValueError: no",
        "TypeError: " + "many words in one line " * 200,
        "AssertionError: assert [1] == [2]\n" + "  - a\n  + b\n    same\n" * 300,
        "KeyError: 'größe'\n" + "заказ не найден\n" * 100,
        "E",
    ]
)
own_frames = st.lists(st.sampled_from(["tests/test_a.py:3", "src/a.py:1", "src/b.py:2"]), max_size=30)
other_frames = st.lists(st.sampled_from(["/usr/lib/python3.11/a.py:9", "/x/site-packages/b/c.py:1"]), max_size=30)
texts = st.sampled_from(
    ["", "E   ValueError: no", "    source line of some length\n" * 400 + ">   fail()", "x" * 20_000]
)
sections = st.sampled_from(
    [[], [["Captured stdout call", "printed line\n" * 300]], [["Captured log call", "y" * 9000]]]
)


@st.composite
def failed_phases(draw: st.DrawFn, node_id: str) -> Any:
    told = {"when": draw(st.sampled_from(["setup", "call", "teardown"])), "sections": draw(sections)}
    message = draw(messages)
    if draw(st.booleans()):
        return phase(node_id, message=message, traceback=draw(texts), **told)
    frames = [frame(place, value="x" * 90) for place in (*draw(own_frames), *draw(other_frames))]
    return phase(node_id, message=message, chain=[[None, None, message.split("\n"), frames]], **told)


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    told: list[Event | list[Event]] = [one_test(f"tests/test_a.py::passes{n}") for n in range(draw(st.integers(0, 40)))]
    for number in range(draw(st.integers(0, 15))):
        node_id = f"tests/test_{number % 7}.py::{draw(names)}{number}"
        told.append(one_test(node_id, draw(failed_phases(node_id))))
    told += [
        uncollected(f"tests/test_broken{number}.py", error_type="E", message=draw(messages), traceback=draw(texts))
        for number in range(draw(st.integers(0, 30)))
    ]
    return session(*told, selected=len(told), exit_status=1)


@settings(max_examples=20)
@given(runs(), st.integers(min_value=500, max_value=6000), st.sampled_from(["auto", "tests"]))
def test_the_budget_is_kept_and_what_matters_most_is_told(stream: list[Event], most: int, detail: str) -> None:
    whole = report(stream)
    sent = answer(stream, "a plugin speaks\n" * 50, detail=detail, max_tokens=most)

    assert cost(sent) <= most
    assert list(dump(sent)) == KEYS
    assert (sent.verdict, sent.summary, sent.notices) == (whole.verdict, whole.summary, whole.notices)
    shown = sum(test.outcome in ("failed", "error") for test in sent.tests)
    grouped = sum(cause.count for cause in sent.failure_groups)
    assert grouped <= len(whole.failures) <= grouped + shown
    assert bool(sent.collection_errors) == bool(whole.collection_errors)
    assert sum(1 + error.also for error in sent.collection_errors) == len(whole.collection_errors)
    if sent.omitted is not None:
        listed = Counter(test.outcome for test in sent.tests)
        assert sent.omitted.passed == whole.summary.passed - listed["passed"]
        lines = [cause for cause in sent.failure_groups if " more cause" not in cause.message]
        further = max(0, listed["failed"] + listed["error"] - len(whole.groups))
        assert sent.omitted.same_cause_failures == sum(cause.count - 1 for cause in lines) - further


@settings(max_examples=6)
@given(runs())
def test_a_larger_budget_never_shows_less_and_tests_shows_what_auto_shows(stream: list[Event]) -> None:
    def shown(most: int, how: str) -> list[int]:
        sent = answer(stream, detail=how, max_tokens=most)
        text = "".join(test.traceback or "" for test in sent.tests[:1])
        return [len(sent.tests), len(text), len(sent.text_output)]

    auto, tests = ([shown(most, how) for most in (500, 1000, 4000, 100_000)] for how in ("auto", "tests"))

    for less, more in (*pairwise(auto), *pairwise(tests), *zip(auto, tests, strict=True)):
        assert all(before <= after for before, after in zip(less, more, strict=True))


@settings(max_examples=15)
@given(st.lists(st.sampled_from(["+ one", "- two", "same"]), max_size=20), own_frames, other_frames)
def test_the_first_example_keeps_its_statement_and_the_lines_that_differ_at_every_budget(
    diff: list[str], own: list[str], others: list[str]
) -> None:
    lines = [f"  {line}" if line[0] in "+-" else f"    {line}" for line in diff]
    message = "\n".join(["AssertionError: assert [1] == [2]", *lines])
    frames = [frame(place, value="x" * 90) for place in (*own, *others)]
    failing_frame = frame("tests/test_a.py:9", "test_it", "assert buy() == [2]")
    told = phase(
        "tests/test_a.py::test_it", message=message, chain=[[None, None, message.split("\n"), [*frames, failing_frame]]]
    )
    loud = [["Captured stdout call", "printed line\n" * 300]]

    sent = answer(red(one_test(told.id, told), failing("b.py::b", sections=loud)), max_tokens=500)

    text = sent.tests[0].traceback or ""
    assert "assert buy() == [2]" in text
    assert all(f"E   {line}" in text for line in lines if line.lstrip()[0] in "+-")


def test_a_failure_that_is_alone_with_its_cause_has_an_empty_list_of_others_in_full() -> None:
    (cause,) = answer(red(failing()), detail="full").failure_groups

    assert cause.node_ids == []


def test_more_budget_shows_more_where_ids_are_long() -> None:
    long = {20: "x" * 4000, 21: "x" * 4000}
    tests = [failing(f"test_a.py::t{n}[{long.get(n)}]", f"ValueError: no {word(n)}") for n in range(22)]

    shown = [len(answer(red(*tests), max_tokens=most).tests) for most in (4000, 4300, 5000)]

    assert shown == sorted(shown)
    assert shown[0] > 10


def test_the_first_example_may_be_long_and_the_others_are_short_unless_all_were_asked_for() -> None:
    diff = [f"  [{number}]: 'a differing leaf' != 'another'" for number in range(20)]
    message = "\n".join(["AssertionError: assert [1] == [2]", *diff])
    tests = [f"tests/test_{name}.py::test_it" for name in "abc"]
    places = {node_id: [frame(f"{node_id[:15]}:9", "test_it", "assert buy() == [2]")] for node_id in tests}
    stream = red(
        *(
            one_test(test, phase(test, message=message, chain=[[None, None, message.split("\n"), places[test]]]))
            for test in tests
        )
    )

    short, every = answer(stream), answer(stream, detail="tests")

    shown = [(test.traceback or "").count("differing leaf") for test in short.tests]
    assert shown[0] == 20 > shown[1] == shown[2] > 0
    assert all("assert buy() == [2]" in (test.traceback or "") for test in short.tests)
    assert short.omitted is not None
    assert short.omitted.text_characters > 0
    assert [(test.traceback or "").count("differing leaf") for test in every.tests] == [20] * 3


def test_a_long_message_that_is_cut_is_whole_with_more_tokens_as_the_hint_says() -> None:
    message = "ValueError: " + " ".join(f"word{number}" for number in range(400))

    cut, whole = (answer(red(failing("a.py::a", message)), max_tokens=most) for most in (4000, 40_000))

    assert cut.omitted is not None
    assert "max_tokens" in cut.omitted.hint
    assert whole.tests[0].message == message
    assert whole.omitted is None


def test_of_thousands_of_causes_as_many_are_shown_as_fit_without_trying_every_number() -> None:
    """A person's budget is large, so that a rung for each cause would be tried, and each takes as long as an answer."""
    told = "\n".join(f"line {number} of many words that differ" for number in range(200))
    stream = red(*(failing(f"t{n}.py::t", f"ValueError: {word(n)}\n{told}") for n in range(1000)))

    sent = answer(stream, max_tokens=100_000)

    assert 60_000 < cost(sent) <= 100_000
    assert len(sent.tests) > 20


LOUD_WORDS = "many \u200b words\n"
CATEGORIES = ("PytestReturnNotNoneWarning", "PytestUnhandledCoroutineWarning", *["UserWarning"] * 30)


def crowded(words: str) -> list[Event]:
    """All that a run can be told of at once, each in these words."""
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


@pytest.mark.parametrize("detail", ["auto", "tests"])
@pytest.mark.parametrize("repeated", [1, 30, 3000])
def test_the_smallest_budget_is_kept_whatever_a_run_tells(repeated: int, detail: str) -> None:
    whole = report(crowded(LOUD_WORDS * repeated))
    sent = answer(crowded(LOUD_WORDS * repeated), LOUD_WORDS * 99, detail=detail, max_tokens=500)

    assert cost(sent) <= 500
    assert (sent.verdict, sent.summary) == (whole.verdict, whole.summary)
    assert bool(sent.notices) == bool(whole.notices)
    assert sum(cause.count for cause in sent.failure_groups) == 12


def test_as_many_passing_tests_are_listed_as_fit() -> None:
    sent = answer(suite(passing=1000), detail="tests", max_tokens=2000)
    every = answer(suite(passing=1000), detail="tests", max_tokens=1_000_000).tests

    one_more = sent.model_copy(update={"tests": every[: len(sent.tests) + 2]})
    assert sent.tests == every[: len(sent.tests)]
    assert cost(sent) <= 2000 < cost(one_more)
    assert sent.omitted is not None
    assert sent.omitted.passed == 1000 - len(sent.tests)


def test_every_failure_stands_whole_before_any_test_that_passed() -> None:
    stream = suite(passing=1000, failures=9, causes=7)

    sent = answer(stream, detail="tests", max_tokens=2000)
    every = answer(stream, detail="tests", max_tokens=1_000_000).tests

    assert sent.tests == every[: len(sent.tests)]
    assert [test.outcome for test in sent.tests[:10]] == ["failed"] * 9 + ["passed"]


LIBRARY = ["/usr/lib/python3.11/a.py:9", "/x/site-packages/b/c.py:1"]
LOUD = [["Captured stdout call", "a printed line of some more words\n" * 20]]
DIFFERENCE = [*["    an equal line"] * 20, "  - pen", "  + ink"]


def gone(sent: ExecuteResult) -> list[bool]:
    """What is missing, in the order in which it may go."""
    text = (sent.tests[0].traceback or "") if sent.tests else ""
    return [
        not any(test.outcome == "passed" for test in sent.tests),
        sent.text_output == "",
        len(sent.tests) < 2,
        sent.failure_groups[0].node_ids is None or sent.tests == [],
        "an equal line" not in text,
        "a printed line" not in text,
        "frames in" not in text,
        "value = " not in text,
        "src/outer.py" not in text,
        sent.tests == [],
    ]


@pytest.mark.parametrize("detail", ["auto", "tests"])
def test_what_does_not_fit_goes_in_a_fixed_order(detail: str) -> None:
    message = "\n".join(["AssertionError: assert [1] == [2]", *DIFFERENCE])
    places = [*(f"src/outer.py:{n}" for n in range(40)), *LIBRARY, "src/b.py:2", "src/a.py:3"]
    frames = [frame(place, value="x" * 90) for place in places]
    told = {"message": message, "chain": [[None, None, message.split("\n"), frames]], "sections": LOUD}
    ids = [f"tests/test_a.py::test_it[{n}]" for n in range(4)]
    stream = red(
        *(one_test(node_id, phase(node_id, **told)) for node_id in ids),
        failing("tests/test_b.py::other", "ValueError: ink"),
        *(one_test(f"tests/test_a.py::passes{n}") for n in range(LISTED_WITHOUT_FAILURE)),
    )

    steps = [gone(answer(stream, detail=detail, max_tokens=most)) for most in range(12_000, 499, -250)]

    assert steps[0] == [False] * 10
    assert sum(steps[-1]) >= 7
    # What an example contains is decided by its own cost, and whether there is one by that of the answer.
    for missing in (*(step[:4] for step in steps), *(step[4:] for step in steps)):
        assert missing == sorted(missing, reverse=True)


def test_failures_of_other_causes_are_not_called_failures_of_the_same_cause() -> None:
    sent = answer(suite(failures=MAX_CAUSES + 1, causes=MAX_CAUSES + 1))

    assert sent.omitted is not None
    assert sent.omitted.same_cause_failures == 0


def loud(lines: int) -> list[Event]:
    printed = "".join(f"printed line {number}\n" for number in range(lines))
    return red(failing(sections=[["Captured stdout call", printed]]), failing("b.py::b", "KeyError: 'ink'"))


def printed_lines(sent: ExecuteResult) -> list[str]:
    return [line for line in (sent.tests[0].traceback or "").split("\n") if line.startswith("printed line")]


def test_captured_output_is_cut_unless_it_is_asked_for_and_what_is_cut_is_counted() -> None:
    few, asked = answer(loud(50)), answer(loud(50), show_capture=True)

    shown = printed_lines(few)
    assert shown == [f"printed line {number}" for number in range(50 - len(shown), 50)]
    assert len("\n".join(shown)) <= CAPTURED
    assert few.omitted is not None
    assert few.omitted.text_characters == sum(len(f"printed line {number}") for number in range(50 - len(shown)))
    assert few.omitted.hint.startswith("show_capture: true")
    assert printed_lines(asked) == [f"printed line {number}" for number in range(50)]
    assert asked.omitted is None


def test_captured_output_that_is_asked_for_fills_the_budget_but_takes_no_example_away() -> None:
    sent = answer(loud(2000), show_capture=True, max_tokens=2000)
    larger = answer(loud(2000), show_capture=True, max_tokens=4000)

    assert 1000 < cost(sent) <= 2000 < cost(larger) <= 4000
    assert printed_lines(sent)[-1] == "printed line 1999"
    assert [len(each.tests) for each in (sent, larger)] == [2, 2]
    assert sent.omitted is not None
    assert sent.omitted.text_characters > 0
    assert "max_tokens" in sent.omitted.hint
    assert printed_lines(answer(loud(2000), show_capture=True, max_tokens=50_000))[0] == "printed line 0"


def test_captured_output_that_was_not_wanted_is_not_missed() -> None:
    assert answer(loud(50), show_capture=False).omitted is None


def test_captured_output_that_the_budget_took_is_counted() -> None:
    printed = "many words in one line " * 20
    stream = red(failing(sections=[["Captured stdout call", f"{printed}\n" * 190]]))

    sent = answer(stream, "", max_tokens=500, show_capture=True)

    assert sent.omitted is not None
    assert sent.omitted.text_characters > 150 * len(printed)
    assert "max_tokens" in sent.omitted.hint


def test_a_long_captured_line_is_whole_where_it_is_asked_for() -> None:
    stream = red(failing(sections=[["Captured stdout call", "x" * 800 + "\r\n" + "1%\r2%\r3%"]]))

    asked, usual = answer(stream, show_capture=True), answer(stream)

    assert (asked.tests[0].traceback or "").split("\n")[-2:] == ["x" * 800, "1%\r2%\r3%"]
    assert usual.omitted is not None
    assert usual.omitted.text_characters == 800 + len("1%2%")


def test_what_is_folded_of_a_line_that_was_written_again_is_counted() -> None:
    stream = red(failing(sections=[["Captured stdout call", "error: disk full\rretrying\rdone\n"]]))

    asked, usual = answer(stream, show_capture=True), answer(stream)

    assert (usual.tests[0].traceback or "").split("\n")[-1] == "done"
    assert usual.omitted is not None
    assert usual.omitted.text_characters == len("error: disk full" + "retrying")
    assert "error: disk full" in (asked.tests[0].traceback or "")
    assert asked.omitted is None


def test_what_pytest_printed_is_brought_back_by_full_detail_where_no_budget_does() -> None:
    words = [word(number) for number in range(3000)]
    sent = answer(suite(passing=1), "\n".join(words), max_tokens=100_000)

    assert sent.omitted is not None
    assert sent.omitted.text_characters > 0
    assert sent.omitted.hint == "detail: full"


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param([failing(f"test_a.py::t[{'x y ' * 50}{n}]") for n in range(20)], id="long ids"),
        pytest.param([failing(f"test_a.py::t{n}", f"{'E' * (n + 1)}: no") for n in range(90)], id="many types"),
        pytest.param([failing(message="ValueError: " + "x" * 9000)], id="one long message"),
        pytest.param([failing(message="E: no\n" + "\u200b" * 1500)], id="what nobody sees"),
        pytest.param([failing(message="ValueError: " + "𠮷" * 700)], id="characters of several tokens"),
    ],
)
def test_the_budget_is_kept_whatever_failed(stream: list[list[Event]]) -> None:
    sent = answer(red(*stream), max_tokens=1000)

    assert cost(sent) <= 1000
    assert sent.summary.failed == len(stream)
    assert sent.failure_groups or sent.tests


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param([f"no {'abcdefghij'[n % 10] * (n + 1)}" for n in range(99)], id="each of its own"),
        pytest.param(["word " * 9000], id="one of many words"),
    ],
)
def test_the_budget_is_kept_whatever_could_not_be_collected(broken: list[str]) -> None:
    told = [uncollected(f"test_{n}.py", error_type="E", message=message) for n, message in enumerate(broken)]

    sent = answer(session(*told, selected=0, exit_status=2), max_tokens=1000)

    assert cost(sent) <= 1000
    assert sent.summary.errors == len(broken)


# --- what each detail shows ---


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


def test_twenty_causes_are_shown_and_the_others_share_one_line() -> None:
    sent = answer(suite(failures=60, causes=30))

    assert len(sent.tests) == MAX_CAUSES
    assert [cause.example for cause in sent.failure_groups] == [*range(MAX_CAUSES), None]
    assert sent.failure_groups[-1].message == f"10 more causes, the first: ValueError: no {word(MAX_CAUSES)}"
    assert sent.failure_groups[-1].location == "test_a.py"
    assert sent.failure_groups[-1].node_ids is None
    assert sum(cause.count for cause in sent.failure_groups) == 60
    assert sent.omitted is not None
    assert sent.omitted.hint == "detail: tests"


def test_a_cause_without_an_example_names_a_test() -> None:
    sent = answer(suite(failures=MAX_CAUSES, causes=MAX_CAUSES), max_tokens=1000)

    assert [cause.node_ids for cause in sent.failure_groups] == [
        [f"test_a.py::fails{number}"] for number in range(len(sent.tests), len(sent.tests) + len(sent.failure_groups))
    ]


def test_a_few_passing_tests_are_listed_and_one_more_is_only_counted() -> None:
    few, more = (answer(suite(passing=LISTED_WITHOUT_FAILURE + n)) for n in (0, 1))

    assert len(few.tests) == LISTED_WITHOUT_FAILURE
    assert more.tests == []
    assert more.omitted is None


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
    ("detail", "text_output"), [("auto", "a plugin speaks"), ("tests", "a plugin speaks"), ("full", PRINTED)]
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


def test_examples_that_one_line_raised_have_its_statement_once_and_each_that_of_its_test() -> None:
    def failing_at_once(name: str, error: str) -> list[Event]:
        node_id, way = f"tests/test_a.py::{name}", [frame(f"tests/test_a.py:{len(name)}", name, f"{name}_call()")]
        way.append(frame("src/a.py:7", "total", "return sum(cart)"))
        return one_test(node_id, phase(node_id, message=error, chain=[[None, None, [error], way]]))

    stream = session(
        failing_at_once("test_one", "TypeError: no"), failing_at_once("test_three", "ValueError: no"), selected=2
    )

    first, second = [test.traceback or "" for test in answer(stream).tests]

    assert "test_one_call()" in first
    assert "test_three_call()" in second
    assert [("src/a.py:7: in total" in text, "return sum(cart)" in text) for text in (first, second)] == [
        (True, True),
        (True, False),
    ]


def test_a_call_that_stops_at_the_first_failure_is_answered_with_that_one() -> None:
    stream = suite(passing=LISTED_WITHOUT_FAILURE, failures=1)

    assert [test.outcome for test in answer(stream, failfast=True).tests] == ["failed"]
    assert len(answer(stream).tests) == LISTED_WITHOUT_FAILURE + 1
    assert len(answer(stream, failfast=True, detail="tests").tests) == LISTED_WITHOUT_FAILURE + 1
    assert len(answer(suite(passing=2), failfast=True).tests) == 2
