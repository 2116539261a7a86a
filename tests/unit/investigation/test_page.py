"""The page of an investigation as a parser sees it; `make page` looks at it in a real browser."""

import json

import pytest

from pytest_mcp.investigation.answer import Findings
from pytest_mcp.investigation.repetitions import Alone
from pytest_mcp.investigation.result import InvestigateResult, Kind
from tests.support.page.pages import Seen, investigated, rendered_investigation

FIVE_MB = 5_000_000


def seen_with(**changes: object) -> Seen:
    findings, result = investigated()
    return Seen(rendered_investigation(findings, result.model_copy(update=changes)))


def test_the_page_has_all_that_the_answer_has() -> None:
    findings, result = investigated()

    seen = Seen(rendered_investigation(findings, result))

    assert seen.data["verdict"] == "failed"
    assert "Depends on the order of the tests · shop" in seen.texts
    for text in (
        "Confidence high: passed in 3 of 3 runs alone, failed each time after test_x.",
        findings.node_id,
        *result.evidence,
        *result.notices,
        "It fails after this test",
        "tests/test_a.py::test_x",
        f"pytest-mcp run tests/test_a.py::test_x {findings.node_id}",
        json.dumps(result.rerun),
        "test_x in src/test_x.py:3",
        "0.71",
        "Error: test_x",
        "Made by",
    ):
        assert seen.has_text(text)
    assert seen.blocks("suspects")["charts"][0][1][0] == ["test_x in src/test_x.py:3", "0.71", 71.0]
    assert seen.blocks("tried")["strips"][0] == ["alone", "", [["P", 0.2], ["P", 0.3], ["P", 0.4]]]
    assert list(seen.data["failures"]) == [findings.node_id]
    assert seen.data["failures"][findings.node_id]["out"] == [["test_x", "test_x"]]


@pytest.mark.parametrize(
    ("kind", "look"), [("deterministic", "failed"), ("passes", "passed"), ("inconclusive", "incomplete")]
)
def test_the_banner_shows_the_kind_by_its_look(kind: Kind, look: str) -> None:
    assert seen_with(kind=kind).data["verdict"] == look


def test_what_was_not_found_has_no_section() -> None:
    result = InvestigateResult(
        kind="passes",
        confidence="high: passed",
        evidence=[],
        first_difference=[],
        broken_by=None,
        suspects=[],
        polluter=None,
        notices=[],
        rerun=None,
    )

    seen = Seen(rendered_investigation(Findings("test_a.py::test_x", Alone((), (), 5)), result))

    assert seen.data["sections"] == []
    assert seen.data["causes"] == []


def test_the_command_stands_there_once_where_the_polluter_is_what_makes_it_fail() -> None:
    again = {"node_ids": ["tests/test_b.py::test_x"]}

    same, other = seen_with(), seen_with(rerun=again)

    assert [bool(seen.blocks("rerun")) for seen in (same, other)] == [False, True]
    assert other.has_text(json.dumps(again))


def test_a_command_that_would_be_cut_is_not_there() -> None:
    long = {"node_ids": ["tests/test_b.py::" + "x" * 4_000] * 20}

    seen = seen_with(polluter=None, rerun=long)

    assert seen.has_text("Command: too long for this page; `--json` prints the arguments.")


def test_everything_large_at_once_stays_under_five_megabytes() -> None:
    page = rendered_investigation(*investigated("<&>" * 10_000, runs=50))

    assert len(page.encode()) < FIVE_MB
