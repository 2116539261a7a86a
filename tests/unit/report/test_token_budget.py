"""The token budget of an answer: it is kept, and what does not fit goes in a fixed order."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE, ExecuteResult
from pytest_mcp.events.collection import Deselected
from pytest_mcp.events.model import Configured, Event, ImportedElsewhere, Started, Warned
from pytest_mcp.report.budget import IDS_OF_RERUN, fit_execution
from pytest_mcp.report.result import executed
from pytest_mcp.tools import dump
from tests.support.answers import answer, cost, failing, red, suite, word
from tests.support.records import execution, one_test, phase, session, skipped, uncollected

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
    """Each of the two is small enough for itself."""
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
    """Only whole entries are listed while there are others to leave out."""
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
    """What is missing, in the order in which it may go."""
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
    """More detail at the same price brings nothing back."""
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
