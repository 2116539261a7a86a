"""What several reports say together; `test_shard_reports` and `test_members` have more on why there are several."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import CollectionError
from pytest_mcp.report import budget, coverage
from pytest_mcp.report.coverage import MeasuredCoverage
from pytest_mcp.report.merge import MAX_NOTICES, LabelledReport, merge
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.report.verdict import Evidence
from pytest_mcp.run.events import CoveredFile
from tests.support.invented.shards import cut_short, empty, failures, red, report


def merged(*reports: Report, **told: Any) -> Report:
    return merge([LabelledReport(name, each) for name, each in zip("abcdefgh", reports, strict=False)], [], **told)


CASES: dict[str, tuple[list[Report], dict[str, bool], str, int]] = {
    "all passed": ([report(), report()], {}, "passed", 0),
    "one failed": ([report(), red(None, *failures("t.py::x"))], {}, "failed", 1),
    "one was cut short": ([report(), cut_short(None)], {"one_is_missing": True}, "incomplete", 0),
    "one failed before it was cut short": (
        [report(), replace(red(None, *failures("t.py::x")), evidence=Evidence(has_no_result=True, has_failed=True))],
        {"one_is_missing": True},
        "failed",
        1,
    ),
    "one is missing": ([report()], {"one_is_missing": True}, "incomplete", 0),
    "one has no tests": ([report(), empty(None)], {}, "incomplete", 0),
    "one has no tests, as it should be": ([report(), empty(None)], {"may_be_empty": True}, "passed", 0),
    "none has tests": ([empty(None), empty(None)], {}, "no_tests", 5),
    "there is none": ([], {"one_is_missing": True}, "incomplete", 0),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_passed_only_if_all_are_there_and_each_passed(case: str) -> None:
    reports, told, verdict, code = CASES[case]

    whole = merged(*reports, **told)

    assert (whole.verdict, whole.exit_code) == (verdict, code)


def test_tests_counts_and_times_of_all_are_added_up() -> None:
    one, two = report(xfailed=1, deselected=2), report(xfailed=1, tests=[RanTest("b.py::x", "skipped", 0.1, "no")])

    whole = merged(one, two)

    assert (whole.summary.passed, whole.summary.skipped, whole.summary.total) == (3, 1, 4)
    assert (whole.summary.duration, whole.xfailed, whole.deselected) == (4.0, 2, 2)


def test_failures_of_one_cause_are_one_group_and_the_budget_is_spent_once() -> None:
    shared = "ValueError: rounding is off for Basket"
    ids = [[f"{name}.py::test_{number}" for number in range(30)] for name in "ab"]

    whole = merged(*(red(None, *failures(*names, message=shared)) for names in ids))
    answer = budget.fit_execution(whole, ExecuteTests(), ceiling=10**7)

    assert [group.count for group in whole.groups] == [60]
    assert [(group.count, group.example) for group in answer.failure_groups] == [(60, 0)]
    assert len(answer.tests) == 1 + len([test for test in answer.tests if test.outcome == "passed"])
    assert answer.omitted is None or answer.omitted.same_cause_failures == 59


def test_what_every_part_imports_counts_once() -> None:
    error = CollectionError(file="x.py", error_type="E", message="m", line=1, traceback=None, also=0)
    module = RanTest("y.py", "skipped", 0.0, "no database")
    evidence = Evidence(has_failed=True, has_bad_exit=True)
    each = report(evidence=evidence, exit_code=2, collection_errors=[error], skipped_modules=[module])

    whole = merged(each, each)

    assert (whole.summary.errors, whole.summary.skipped, whole.exit_code) == (1, 1, 2)


def test_notices_are_told_once_with_whose_they_are_and_are_not_endless() -> None:
    many = [f"notice {number}" for number in range(MAX_NOTICES + 5)]

    whole = merged(report(notices=["same"]), report(notices=["same"]), report(notices=many))

    assert whole.notices[:2] == ["a, b: same", "c: notice 0"]
    assert whole.notices[-1] == "6 more notices are left out."
    assert len(whole.notices) == MAX_NOTICES + 1


def test_what_pytest_printed_has_the_names_of_the_parts() -> None:
    whole = merged(report(condensed="hello"), report(condensed="hello"), report(condensed="bye"), report())

    assert whole.condensed == "a, b:\nhello\n\nc:\nbye"


RERUNS: dict[str, tuple[list[dict[str, Any] | None], dict[str, Any]]] = {
    "tests": (
        [{"node_ids": ["a.py::x"]}, None, {"node_ids": ["b.py::y"], "pattern": "*.py"}],
        {"node_ids": ["a.py::x", "b.py::y"]},
    ),
    "a selection that cannot be named": ([{"node_ids": ["a.py::x"]}, {"keywords": "x"}], {"keywords": "x"}),
}


@pytest.mark.parametrize("case", RERUNS)
def test_one_call_runs_all_failures_again(case: str) -> None:
    asked, expected = RERUNS[case]

    assert merged(*(report(rerun=each) for each in asked)).rerun == expected


def test_where_parts_have_their_own_environments_no_folder_stands_for_several() -> None:
    asked = [{"path": f"packages/{name}/test_x.py"} for name in "ab"]

    whole = merged(*(report(rerun=each) for each in asked), keeps_apart=True)

    assert whole.rerun == {"node_ids": ["packages/a/test_x.py", "packages/b/test_x.py"]}


def measured(*files: CoveredFile, **told: Any) -> MeasuredCoverage:
    lines, missed = sum(file.lines for file in files), sum(file.missed for file in files)
    return MeasuredCoverage(files=files, lines=lines, missed=missed, percent=50.0, **told)


def test_a_line_is_missed_only_if_it_ran_in_no_part() -> None:
    whole = merged(
        report(coverage=measured(CoveredFile("shop.py", 10, 5, "1-4,9", None), partial=[coverage.OF_ONE_SHARD])),
        report(coverage=measured(CoveredFile("shop.py", 10, 3, "3-5", None), partial=[coverage.OF_ONE_SHARD])),
    )

    assert whole.coverage is not None
    shown = coverage.coverage_answer(whole.coverage, 9, in_full=False)
    assert (shown.summary, shown.percent, shown.partial) == ("10 lines, 8 ran", 80.0, None)
    assert [(file.file, file.count, file.missed) for file in shown.files] == [("shop.py", 2, ["3-4"])]


def test_coverage_of_different_files_is_added_up() -> None:
    whole = merged(
        report(coverage=measured(CoveredFile("a.py", 10, 5, "1-5", [[1, 2]]), branches=4, untaken=1)),
        report(coverage=measured(CoveredFile("b.py", 20, 0, "", []), branches=6, untaken=0)),
    )

    assert whole.coverage is not None
    shown = coverage.coverage_answer(whole.coverage, 9, in_full=False)
    assert (shown.summary, shown.percent) == ("30 lines, 25 ran; 10 branches, 9 taken", 85.0)


def test_a_part_whose_coverage_is_unknown_makes_the_rest_partial() -> None:
    known = measured(CoveredFile("a.py", 10, 5, "1-5", None))

    whole = merged(report(coverage=known), report(coverage=MeasuredCoverage("coverage is not known: x")))

    assert whole.coverage is not None
    assert coverage.coverage_answer(whole.coverage, 9, in_full=False).partial == "coverage is not known: x"
