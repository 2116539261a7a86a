"""Wording may change; how much of the suite a shard is may not."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.cli import exit_codes
from pytest_mcp.config.model import Shard
from pytest_mcp.report import report, shard_facts
from pytest_mcp.report.report import Report
from pytest_mcp.report.shard_facts import ShardFacts
from pytest_mcp.run.events import Deselected, Divided, Event
from tests.support.invented.records import execution, green, session

A, B = "test_a.py::a", "test_b.py::b"


def reported(*events: Event, code: int = 0) -> Report:
    """The report of shard 2 of 5."""
    run = replace(execution(list(events), code=code), shard=Shard(2, 5, "c" * 40))
    return report.execution_report(run, None)


def divided(tests: int, total: int = 9) -> Divided:
    return Divided(tests=tests, total=total, files=4, digest="d")


def test_a_shard_says_how_much_of_the_suite_it_is() -> None:
    known = reported(divided(2), *green(A, B))

    assert known.verdict == "passed"
    assert known.share == ["shard 2 of 5: 2 of 9 tests; not a run of the whole suite."]


def test_the_report_of_a_shard_has_what_merge_needs_and_no_other_report_has_it() -> None:
    plain = report.execution_report(execution(green(A)), None)
    share = reported(divided(1), *green(A)).shard

    assert plain.shard is None
    assert share is not None
    assert share == ShardFacts(2, 5, tests=1, total=9, division="d", commit="c" * 40, selection=share.selection)


def test_calls_with_the_same_choice_of_tests_have_the_same_selection() -> None:
    def selection(**asked: Any) -> str | None:
        run = replace(execution(green(A), **asked), shard=Shard(1, 2, None))
        share = shard_facts.facts_of_run(run)
        return share.selection if share else None

    assert selection(keywords="a", timeout=9) == selection(keywords="a", detail="tests")
    assert selection(keywords="a") != selection(keywords="b")


def test_an_empty_shard_is_no_pass_and_no_failure() -> None:
    known = reported(divided(0), Deselected(9, None), *session(selected=0, exit_status=5), code=5)

    assert (known.verdict, exit_codes.of_report(known)) == ("no_tests", 0)
    (notice,) = known.share
    assert notice.startswith("shard 2 of 5: 0 of 9 tests: this shard is empty, because only 4 files have tests")


def test_a_suite_without_tests_is_no_empty_shard() -> None:
    known = reported(divided(0, total=0), *session(selected=0, exit_status=5), code=5)

    assert (known.verdict, exit_codes.of_report(known)) == ("no_tests", 5)
    assert any(notice.startswith("No test was selected") for notice in known.notices)


@pytest.mark.parametrize("told", [[], [divided(1)], [divided(3)]], ids=["unknown", "fewer", "more"])
def test_a_shard_that_did_not_run_its_share_is_incomplete(told: list[Event]) -> None:
    known = reported(*told, *green(A, B))

    assert known.verdict == "incomplete"
    assert known.share[0].startswith("shard 2 of 5: ")
