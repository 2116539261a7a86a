"""What the answers of shards say together; test_shards in integration/runs has real ones."""

from typing import Any

import pytest

from pytest_mcp.api.results import CollectionError, FailureGroup, Omitted, PartialResult, TestResult
from pytest_mcp.cli import exit_codes
from pytest_mcp.report.shards.answers import Answer
from pytest_mcp.report.shards.merge import MOST_NOTICES, merged
from tests.support.invented.shards import empty, facts, failed, groups_of, red, result, shard, summary

ROUNDING = ("ValueError: rounding is off for Basket", "tests/test_{}.py:5: in test_total\nshop/money.py:9: in rounded")


def rounding(file: str) -> TestResult:
    message, traceback = ROUNDING
    return failed(f"tests/test_{file}.py::test_total", message, traceback.format(file))


def broken(**told: Any) -> CollectionError:
    usual = {"file": "test_a.py", "error_type": "ImportError", "message": "no nowhere", "line": 1, "traceback": None}
    return CollectionError.model_validate(usual | {"also": 0} | told)


def unfinished(index: int, partial: PartialResult | None = None) -> Answer:
    return Answer(f"{index}.json", facts(index, tests=None, division=None), partial, "pytest exceeded its time limit")


def test_shards_that_passed_and_empty_ones_are_a_suite_that_passed() -> None:
    answer = merged([shard(2, 3), empty(3, 3), shard(1, 3)])

    assert (answer.verdict, answer.exit_code, exit_codes.of_execution(answer)) == ("passed", 0, 0)
    assert answer.summary == summary(passed=6).model_copy(update={"duration": 6.0})
    assert answer.notices == ["3 shards took 6.0 s together; the longest was shard 3 of 3 (3.json) with 2.0 s."]
    assert (answer.text_output, answer.rerun, answer.omitted) == ("", None, None)


def test_shards_without_any_test_are_no_tests() -> None:
    about = {"tests": 0, "total": 0}
    none = [shard(n, about=about, verdict="no_tests", exit_code=5, summary=summary()) for n in (1, 2)]

    answer = merged(none)

    assert (answer.verdict, exit_codes.of_execution(answer)) == ("no_tests", 5)


WRONG: dict[str, tuple[list[Answer], str]] = {
    "one is missing": ([shard(1, 3), shard(3, 3)], "1 of 3 shards are missing: 2."),
    "one is there twice": (
        [shard(1), shard(2), shard(2)],
        "Shard 2 of 2 is there 2 times; the first counts: 2.json, 2.json.",
    ),
    "one is of another commit": (
        [shard(1, 3), shard(2, 3, about={"commit": "b" * 40}), shard(3, 3)],
        f"shard 2 of 3 (2.json) is of commit {'b' * 40}, most others are of commit {'a' * 40}.",
    ),
    "one is of no commit": (
        [shard(1), shard(2, about={"commit": None})],
        f"shard 2 of 2 (2.json) is of no known commit, most others are of commit {'a' * 40}.",
    ),
    "one has another selection": (
        [shard(1), shard(2, about={"selection": "t"})],
        "shard 2 of 2 (2.json) ran another selection of tests than most others.",
    ),
    "one has another suite": (
        [shard(1), shard(2, about={"division": "e", "total": 7})],
        "shard 2 of 2 (2.json) divided other tests (7 in all) than most others (6 in all).",
    ),
    "one is incomplete": ([shard(1), shard(2, verdict="incomplete")], "shard 2 of 2 (2.json) is incomplete."),
    "one did not finish": (
        [shard(1), unfinished(2)],
        "shard 2 of 2 (2.json) did not finish: pytest exceeded its time limit.",
    ),
    "one file is empty": ([shard(1, 1), Answer("x", None, None, "empty")], "x did not finish: empty."),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_suite_is_incomplete_if(what: str) -> None:
    answers, sentence = WRONG[what]

    answer = merged(answers)

    assert (answer.verdict, exit_codes.of_execution(answer)) == ("incomplete", 1)
    assert answer.notices[0] == sentence


def test_a_second_answer_of_a_shard_is_not_counted() -> None:
    assert merged([shard(1), shard(2), shard(2)]).summary.passed == 6


def test_a_division_into_another_number_is_not_one_of_the_shards() -> None:
    answer = merged([shard(1, 3), shard(2, 3), shard(3, 4)])

    assert answer.notices[0] == "1 of 3 shards are missing: 3."
    assert "shard 3 of 4 (3.json) is one of 4 shards, most others of 3." in answer.notices


def test_failures_of_one_cause_in_several_shards_are_one_group() -> None:
    group = FailureGroup(
        count=40, message=ROUNDING[0], location="shop/money.py:9", example=0, node_ids=["tests/test_b.py::test_more"]
    )

    answer = merged([red(1, rounding("a")), red(2, rounding("b"), groups=(group,), failures=40)])

    assert (answer.verdict, answer.exit_code, answer.summary.failed) == ("failed", 1, 41)
    assert groups_of(answer) == [
        (41, "shop/money.py:9", 0, ["tests/test_b.py::test_total", "tests/test_b.py::test_more"])
    ]
    assert [test.node_id for test in answer.tests] == ["tests/test_a.py::test_total"]
    assert answer.rerun == {"node_ids": ["tests/test_a.py::test_total", "tests/test_b.py::test_total"]}


def test_failures_of_different_causes_stay_apart() -> None:
    other = failed(
        "tests/test_b.py::test_x", "KeyError: 'colour'", "tests/test_b.py:7: in test_x\nshop/cart.py:3: in x"
    )

    answer = merged([red(1, rounding("a")), red(2, other)])

    assert groups_of(answer) == []
    assert len(answer.tests) == 2


def test_ten_causes_have_a_line_five_are_shown_and_the_others_are_counted() -> None:
    letters = "abcdefghijkl"
    tests = [
        failed(
            f"test_{n}.py::test_it", f"ValueError: cause{n} is bad", f"test_{n}.py:1: in test_it\nsrc/{n}.py:2: in f"
        )
        for n in letters
    ]
    more = FailureGroup(count=7, message="2 more causes, the first: x", location="y", example=None, node_ids=None)

    answer = merged([red(1, *tests[:5]), red(2, *tests[5:], groups=(more,), failures=14)])

    assert [test.node_id for test in answer.tests] == [f"test_{n}.py::test_it" for n in letters[:5]]
    assert [count for count, *_ in groups_of(answer)] == [1, 1, 1, 1, 1, 9]
    assert answer.failure_groups[-1].message.startswith("more causes, the first: ")
    assert answer.omitted is not None


def test_a_failure_that_is_listed_beside_its_group_is_counted_once() -> None:
    """As detail tests does."""
    group = FailureGroup(count=2, message=ROUNDING[0], location="shop/money.py:9", example=0, node_ids=[])
    listed = red(1, rounding("a"), rounding("b"), groups=(group,))

    assert [count for count, *_ in groups_of(merged([listed, shard(2)]))] == [2]


def test_an_answer_that_lost_its_example_is_still_counted() -> None:
    group = FailureGroup(count=3, message=ROUNDING[0], location="shop/money.py:9", example=4, node_ids=["a.py::t"])

    assert groups_of(merged([red(1, groups=(group,), failures=3), shard(2)])) == [
        (3, "shop/money.py:9", None, ["a.py::t"])
    ]


def test_what_every_shard_imports_is_counted_once() -> None:
    """Files that cannot be collected, and modules that skip themselves."""
    errors = [broken(also=1), broken(file="test_c.py", error_type="SyntaxError", message="invalid")]
    every: dict[str, Any] = {"verdict": "failed", "exit_code": 2, "collection_errors": errors}
    shards = [shard(n, about={"skipped_modules": 2}, summary=summary(skipped=2, errors=3), **every) for n in (1, 2)]

    answer = merged(shards)

    assert (answer.verdict, answer.exit_code) == ("failed", 2)
    assert (answer.summary.total, answer.summary.errors, answer.summary.skipped) == (5, 3, 2)
    assert [(error.file, error.also) for error in answer.collection_errors] == [("test_a.py", 1), ("test_c.py", 0)]


def test_a_run_that_failed_without_a_failing_test_fails_the_suite() -> None:
    """A coverage threshold."""
    answer = merged([shard(1), shard(2, verdict="failed", exit_code=1, notices=["No test failed, yet pytest exited"])])

    assert (answer.verdict, exit_codes.of_execution(answer)) == ("failed", 1)
    assert answer.notices[-1] == "Shard 2: No test failed, yet pytest exited"


def test_what_had_run_in_a_shard_that_did_not_finish_counts() -> None:
    content = red(2, rounding("b")).result
    assert content is not None
    partial = PartialResult.model_validate(
        content.model_dump() | {"verdict": "incomplete", "exit_code": None, "running": ["x"], "not_run": 4}
    )

    answer = merged([shard(1), unfinished(2, partial)])

    assert (answer.verdict, answer.summary.failed) == ("failed", 1)
    assert "did not finish" in answer.notices[0]


def test_notices_of_shards_are_told_once_and_are_not_endless() -> None:
    slow: dict[str, Any] = {"notices": ["It is slow."]}
    many: dict[str, Any] = {"notices": [f"Note {n}." for n in range(30)]}

    assert merged([shard(1, **slow), shard(2, **slow)]).notices[-1] == "Shard 1, 2: It is slow."
    assert len(merged([shard(1, **many), shard(2)]).notices) == 1 + MOST_NOTICES + 1


def test_what_pytest_printed_is_kept_without_the_counts_of_one_shard() -> None:
    printed = "plugin says hello\n2 passed, 4 deselected in 0.1s"

    assert merged([shard(1, text_output=printed), shard(2)]).text_output == "shard 1 of 2 (1.json):\nplugin says hello"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([{"path": "tests/a.py"}, {"node_ids": ["b.py::t"]}], {"node_ids": ["tests/a.py", "b.py::t"]}),
        ([{"node_ids": ["a.py::t"], "pattern": "*.py"}], {"node_ids": ["a.py::t"], "pattern": "*.py"}),
        ([{"node_ids": ["a.py::t"]}, {"markers": "slow"}], {"markers": "slow"}),
        ([{"node_ids": 5}, {}], {"node_ids": 5}),
    ],
)
def test_one_call_runs_the_failures_of_all_shards_again(asked: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    answers = [shard(n, verdict="failed", rerun=each) for n, each in enumerate(asked, 1)]

    assert merged(answers).rerun == expected


def test_what_the_shards_left_out_is_added_up() -> None:
    omitted = Omitted(passed=1, skipped=2, same_cause_failures=0, text_characters=10, hint="x")
    answer = merged([shard(1, omitted=omitted), shard(2, omitted=omitted)])

    assert answer.omitted is not None
    assert (answer.omitted.passed, answer.omitted.skipped, answer.omitted.text_characters) == (2, 4, 20)


def test_few_tests_without_a_failure_are_listed() -> None:
    passed = TestResult(node_id="a.py::t", outcome="passed", duration=0.0, message=None, traceback=None)
    one: dict[str, Any] = {"summary": summary(passed=1)}

    assert merged([shard(1, tests=[passed], **one), shard(2, **one)]).tests == [passed]
    assert merged([shard(1, tests=[passed]), shard(2)]).tests == []


def test_an_answer_without_its_test_results_is_no_pass() -> None:
    assert result(facts()).verdict == "passed"
    assert merged([Answer("1.json", facts(1, 1), None, "killed")]).verdict == "incomplete"
