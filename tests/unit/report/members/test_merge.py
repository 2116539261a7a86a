"""What the answers of a monorepo's members say together; test_members in integration/cli has real ones."""

from typing import Any

import pytest

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult, PartialResult
from pytest_mcp.cli import exit_codes
from pytest_mcp.report import pytest_output
from pytest_mcp.report.members.merge import MemberAnswer, merged
from tests.support.invented.shards import facts, failed, result, summary

ALL = ExecuteTests()


def answered(name: str, **told: Any) -> MemberAnswer:
    usual: dict[str, Any] = {"notices": [], "text_output": ""}
    return MemberAnswer(name, None, ExecuteResult.model_validate(result(facts(), **usual | told).model_dump()))


def red(name: str, *numbers: int) -> MemberAnswer:
    tests = [
        failed(f"{name}/test_x.py::test_{number}", f"ValueError: {name} {number}", f"{name}/test_x.py:{number}: in t")
        for number in numbers
    ]
    return answered(
        name,
        verdict="failed",
        exit_code=1,
        summary=summary(passed=1, failed=len(tests)),
        tests=tests,
        rerun={"node_ids": [test.node_id for test in tests]},
    )


def empty(name: str) -> MemberAnswer:
    return answered(name, verdict="no_tests", exit_code=5, summary=summary())


def broken(name: str) -> MemberAnswer:
    return MemberAnswer(
        name, None, None, "did not finish: no usable Python", error="no usable Python\nfix: x", error_code=4
    )


def cut_short(name: str) -> MemberAnswer:
    told = result(facts(), verdict="incomplete", notices=[]).model_dump() | {"exit_code": None}
    partial = PartialResult.model_validate({**told, "running": [], "not_run": 1})
    return MemberAnswer(name, None, partial, "did not finish: interrupted", error="interrupted", error_code=2)


CASES: dict[str, tuple[list[MemberAnswer], ExecuteTests, str, int]] = {
    "all passed": ([answered("a"), answered("b")], ALL, "passed", 0),
    "one failed": ([answered("a"), red("b", 1)], ALL, "failed", 1),
    "one could not run": ([answered("a"), broken("b")], ALL, "incomplete", 4),
    "one failed, one could not run": ([red("a", 1), broken("b")], ALL, "failed", 4),
    "one was interrupted": ([answered("a"), cut_short("b")], ALL, "incomplete", 2),
    "none could run": ([broken("a"), broken("b")], ALL, "incomplete", 4),
    "one has no tests": ([answered("a"), empty("b")], ALL, "incomplete", 1),
    "one has no tests that match": ([answered("a"), empty("b")], ExecuteTests(keywords="login"), "passed", 0),
    "none has tests": ([empty("a"), empty("b")], ALL, "no_tests", 5),
    "none has tests that match": ([empty("a"), empty("b")], ExecuteTests(keywords="login"), "no_tests", 5),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_passed_only_if_every_member_passed_and_an_error_decides_the_exit_code(case: str) -> None:
    answers, request, verdict, code = CASES[case]

    answer = merged(answers, request)

    assert (answer.verdict, exit_codes.of_execution(answer)) == (verdict, code)


def test_the_others_are_shown_beside_a_member_that_could_not_run() -> None:
    answer = merged([red("a", 1), broken("b")], ALL)

    assert [test.node_id for test in answer.tests] == ["a/test_x.py::test_1"]
    assert answer.notices[0] == "b did not finish: no usable Python."
    assert answer.text_output == "b:\nno usable Python\nfix: x"


def test_what_runs_the_failures_again_never_names_a_folder_that_has_several_members() -> None:
    many = [red(f"packages/{name}", *range(9)) for name in "ab"]
    covered = [
        MemberAnswer(
            each.name,
            None,
            each.result and each.result.model_copy(update={"rerun": {"path": f"{each.name}/test_x.py"}}),
        )
        for each in many
    ]

    assert merged(covered, ALL).rerun == {"node_ids": ["packages/a/test_x.py", "packages/b/test_x.py"]}


def test_counts_that_only_the_closing_lines_have_are_added_up() -> None:
    lines = ["3 passed, 1 xfailed, 2 deselected in 0.10s", "1 passed, 4 xfailed in 1.00s", "3 passed in 0.20s"]

    answer = merged([answered(name, text_output=line) for name, line in zip("abc", lines, strict=True)], ALL)

    assert answer.text_output == "5 xfailed, 2 deselected in 6.00s"
    assert pytest_output.expected(answer.text_output)["xfailed"] == 5


def test_detail_tests_lists_every_test_of_every_member() -> None:
    answers = [red("a", *range(7)), red("b", 1)]

    few, every = merged(answers, ALL), merged(answers, ExecuteTests(detail="tests"))

    assert len(few.tests) == 5
    assert sorted(test.node_id for test in every.tests) == sorted(
        [*(f"a/test_x.py::test_{number}" for number in range(7)), "b/test_x.py::test_1"]
    )
    assert few.omitted is not None
    assert few.omitted.hint == "detail: tests shows every failure"
