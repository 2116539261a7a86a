"""Whether reports are those of all shards of one suite; test_shards in integration/runs has real ones."""

from dataclasses import replace

import pytest

from pytest_mcp.cli import exit_codes
from pytest_mcp.report.shard_reports import ShardGiven, merged_shards
from pytest_mcp.report.verdict import Evidence
from tests.support.invented.shards import cut_short, empty, facts, failures, red, report, shard


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
    assert merged_shards([ShardGiven("x", refusal="is empty")]).verdict == "incomplete"


def test_a_second_report_of_a_shard_is_not_counted() -> None:
    assert merged_shards([shard(1), shard(2), shard(2)]).summary.passed == 6


def test_a_division_into_another_number_is_not_one_of_the_shards() -> None:
    whole = merged_shards([shard(1, 3), shard(2, 3), shard(3, 4)])

    assert whole.notices[0] == "1 of 3 shards are missing: 3."
    assert "shard 3 of 4 (3.json) is one of 4 shards, most others of 3." in whole.notices


def test_a_failure_of_a_shard_that_did_not_finish_is_a_failure_of_all() -> None:
    failed = replace(red(facts(2), *failures("t.py::x")), evidence=Evidence(has_no_result=True, has_failed=True))

    assert merged_shards([shard(1), ShardGiven("2.json", failed)]).verdict == "failed"
