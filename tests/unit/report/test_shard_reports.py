"""Which texts are reports of shards: what was written comes back, and what no run can have written is refused.

Wording may change; that each refusal has a sentence may not.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.cli import exit_codes
from pytest_mcp.report.coverage import MeasuredCoverage
from pytest_mcp.report.report import Report, execution_report
from pytest_mcp.report.shard_reports import FORMAT, NotAReport, ShardGiven, merged_shards, parse, to_json
from pytest_mcp.report.verdict import Evidence
from pytest_mcp.run.events import CoveredFile
from tests.support.invented.records import execution, one_test, phase, session
from tests.support.invented.shards import cut_short, empty, facts, failures, red, report, shard

REPORTS: dict[str, Report] = {
    "passed": report(facts()),
    "failed": red(facts(tests=2), *failures("test_a.py::test_x")),
    "empty": empty(facts()),
    "cut short": cut_short(facts()),
    "measured": report(facts(), coverage=MeasuredCoverage(files=[CoveredFile("a.py", 9, 3, "1-3", [[1, 2]])])),
}


@pytest.mark.parametrize("which", REPORTS)
def test_what_was_written_comes_back(which: str) -> None:
    known = REPORTS[which]

    read = parse(to_json(known))

    assert (read.verdict, read.summary, read.shard) == (known.verdict, known.summary, known.shard)
    assert list(read.tests) == list(known.tests)
    assert list(read.failures) == list(known.failures)
    assert (read.problem and read.problem.message) == (known.problem and known.problem.message)
    assert to_json(read) == to_json(known)


def changed(which: str, change: Callable[[Any], None]) -> str:
    content = json.loads(to_json(REPORTS[which]))
    change(content)
    return json.dumps(content)


def setting(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = to

    return change


FORGED: dict[str, tuple[str, Callable[[Any], None]]] = {
    "a failure in a passing report": ("failed", setting("verdict", to="passed")),
    "a failure that its evidence denies": ("failed", setting("evidence", "has_failed", to=False)),
    "a failed test among those that passed": ("passed", setting("tests", 0, 1, to="failed")),
    "a failure that is not among the tests": ("failed", setting("tests", to=[])),
    "exit code 1 and nothing that explains it": ("passed", setting("exit_code", to=1)),
    "exit code 0 and failures": ("failed", setting("exit_code", to=0)),
    "fewer tests than its share": ("passed", setting("tests", to=[["test_a.py::test_0", "passed", 0.5, None, None]])),
    "a larger share than it ran": ("passed", setting("shard", "tests", to=4)),
    "a share larger than the suite": ("passed", setting("shard", "total", to=2)),
    "no division": ("passed", setting("shard", "division", to=None)),
    "no share": ("passed", setting("shard", "tests", to=None)),
    "an index that is true": ("passed", setting("shard", "index", to=True)),
    "an index beyond the count": ("passed", setting("shard", "index", to=3)),
    "an index of 0": ("passed", setting("shard", "index", to=0)),
    "a count that is too large": ("passed", setting("shard", "count", to=10**9)),
    "a huge count of tests": ("passed", setting("shard", "total", to=10**400)),
    "counts that are not those of its tests": ("passed", setting("summary", "passed", to=10**9)),
    "a time that is endless": ("passed", setting("duration", to=float("inf"))),
    "a negative time": ("passed", setting("duration", to=-1)),
    "a test twice": ("passed", setting("tests", 1, 0, to="test_1.py::test_0")),
    "no tests selected, and some ran": ("passed", setting("evidence", "is_empty", to=True)),
    "a problem and a result": ("passed", setting("problem", to="was killed")),
    "neither a problem nor a result": ("passed", setting("exit_code", to=None)),
    "a run without result that has one": ("cut short", setting("evidence", "has_no_result", to=False)),
    "a newer format": ("passed", setting("format", to=FORMAT + 1)),
    "no shard": ("passed", setting("shard", to=None)),
    "an outcome that does not exist": ("passed", setting("tests", 0, 1, to="great")),
    "a failure without its parts": ("failed", setting("failures", 0, "parts", to=None)),
    "a problem that is no sentence": ("cut short", setting("problem", to=7)),
    "a text instead of tests": ("passed", setting("tests", to="all")),
    "lines of coverage that are none": ("measured", setting("coverage", "files", 0, "ranges", to="x-y")),
    "half of a branch": ("measured", setting("coverage", "files", 0, "untaken", to=[[1]])),
}


@pytest.mark.parametrize("what", FORGED)
def test_refused_is(what: str) -> None:
    which, change = FORGED[what]
    assert parse(changed(which, lambda _: None))

    with pytest.raises(NotAReport) as refusal:
        parse(changed(which, change))

    assert "\n" not in str(refusal.value)


FOREIGN = {
    "no JSON": "no",
    "a list": "[]",
    "an empty object": "{}",
    "the answer of a run without --shard": json.dumps({"verdict": "passed", "summary": {"total": 1}}),
    "a number that is none": '{"verdict": NaN}',
    "a number without end": '{"verdict": 1e999}',
    "deep nesting": "[" * 100_000,
    "half of a report": to_json(REPORTS["passed"])[:-20],
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_or_damaged_text_is_refused(what: str) -> None:
    with pytest.raises(NotAReport):
        parse(FOREIGN[what])


@given(st.text(), st.text())
def test_texts_of_tests_come_back_as_they_are_shown(name: str, message: str) -> None:
    """Everything in a report is a test's own word; nothing of it breaks the line."""
    node_id = f"test_a.py::{name}"
    run = execution(session(one_test(node_id, phase(node_id, message=message)), selected=1, exit_status=1), code=1)
    known = execution_report(run, None)
    written = to_json(Report(**{**vars(known), "shard": facts(tests=1)}))

    assert "\n" not in written
    assert len(parse(written).failures) == 1


# --- all of them together ---


def test_shards_that_passed_and_empty_ones_are_a_suite_that_passed() -> None:
    whole = merged_shards([shard(2, 3), ShardGiven("3.json", empty(facts(3, 3))), shard(1, 3)])

    assert (whole.verdict, whole.exit_code, exit_codes.of_report(whole)) == ("passed", 0, 0)
    assert (whole.summary.passed, whole.summary.duration) == (6, 6.0)
    assert whole.notices == ["3 shards took 6.0 s together; the longest was shard 3 of 3 (3.json) with 2.0 s."]


def test_shards_without_any_test_are_no_tests() -> None:
    none = [ShardGiven(f"{n}.json", empty(facts(n, total=0))) for n in (1, 2)]

    whole = merged_shards(none)

    assert (whole.verdict, exit_codes.of_report(whole)) == ("no_tests", 5)


WRONG: dict[str, tuple[list[ShardGiven], str]] = {
    "one is missing": ([shard(1, 3), shard(3, 3)], "1 of 3 shards are missing: 2."),
    "one is there twice": (
        [shard(1), shard(2), shard(2)],
        "Shard 2 of 2 is there 2 times; the first counts: 2.json, 2.json.",
    ),
    "one is of another commit": (
        [shard(1, 3), shard(2, 3, commit="b" * 40), shard(3, 3)],
        f"shard 2 of 3 (2.json) is of commit {'b' * 40}, most others are of commit {'a' * 40}.",
    ),
    "one is of no commit": (
        [shard(1), shard(2, commit=None)],
        f"shard 2 of 2 (2.json) is of no known commit, most others are of commit {'a' * 40}.",
    ),
    "one has another selection": (
        [shard(1), shard(2, selection="t")],
        "shard 2 of 2 (2.json) ran another selection of tests than most others.",
    ),
    "one has another suite": (
        [shard(1), shard(2, division="e", total=7)],
        "shard 2 of 2 (2.json) divided other tests (7 in all) than most others (6 in all).",
    ),
    "one is incomplete": (
        [shard(1), ShardGiven("2.json", report(facts(2), evidence=Evidence(is_unfinished=True)))],
        "shard 2 of 2 (2.json) is incomplete.",
    ),
    "one did not finish": (
        [shard(1), ShardGiven("2.json", cut_short(facts(2)))],
        "shard 2 of 2 (2.json) did not finish: pytest execution exceeded timeout of 9 seconds.",
    ),
    "one was refused": (
        [shard(1, 1), ShardGiven("x", refusal="contradicts itself: it is shard 3 of 2")],
        "x contradicts itself: it is shard 3 of 2.",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_suite_is_incomplete_if(what: str) -> None:
    given, sentence = WRONG[what]

    whole = merged_shards(given)

    assert (whole.verdict, exit_codes.of_report(whole)) == ("incomplete", 1)
    assert whole.notices[0] == sentence


def test_nothing_but_refused_files_is_incomplete() -> None:
    whole = merged_shards([ShardGiven("x", refusal="is empty")])

    assert (whole.verdict, whole.notices) == ("incomplete", ["x is empty."])


def test_a_second_report_of_a_shard_is_not_counted() -> None:
    assert merged_shards([shard(1), shard(2), shard(2)]).summary.passed == 6


def test_a_division_into_another_number_is_not_one_of_the_shards() -> None:
    whole = merged_shards([shard(1, 3), shard(2, 3), shard(3, 4)])

    assert whole.notices[0] == "1 of 3 shards are missing: 3."
    assert "shard 3 of 4 (3.json) is one of 4 shards, most others of 3." in whole.notices


def test_a_failure_of_a_shard_that_did_not_finish_is_a_failure_of_all() -> None:
    failed = replace(red(facts(2), *failures("t.py::x")), evidence=Evidence(has_no_result=True, has_failed=True))

    assert merged_shards([shard(1), ShardGiven("2.json", failed)]).verdict == "failed"
