from itertools import product
from typing import Any, NamedTuple

import pytest

from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.proof.answer import proof_answer, verdict_of
from pytest_mcp.proof.at_base import ShownAtBase
from pytest_mcp.proof.findings import ProofFindings, Trials
from pytest_mcp.proof.result import ProofSummary, ProofVerdict
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.recordings import Probed


class Case(NamedTuple):
    has_change: bool = True
    failing: int = 0
    is_whole: bool = True
    weakened: int = 0
    proving: int = 0
    missing: int = 0
    killed: int = 0
    survived: int = 0
    uncovered: int = 0


ALL = [
    Case(change, failing, whole, weakened, proving, missing, killed, survived, uncovered)
    for change, whole in product((True, False), repeat=2)
    for failing, weakened, proving, missing, killed, survived, uncovered in product((0, 1), repeat=7)
]


def verdict(case: Case) -> ProofVerdict:
    summary = ProofSummary(
        tests=1,
        failed=case.failing,
        proving=case.proving,
        missing=case.missing,
        passing_at_base=0,
        unknown_at_base=0,
        killed=case.killed,
        survived=case.survived,
        not_tried=0,
        changed_lines=1,
        covered_lines=1 - case.uncovered,
    )
    return verdict_of(summary, has_change=case.has_change, is_whole=case.is_whole, weakened=case.weakened)


def test_proven_needs_a_proof_and_that_nothing_at_all_speaks_against_it() -> None:
    proven = [each for each in ALL if verdict(each) == "proven"]

    for each in ALL:
        is_shown = each.proving > 0 or (each.killed > 0 and not each.missing)
        is_doubted = each.failing or each.weakened or each.survived or each.uncovered or not each.is_whole
        assert (each in proven) == bool(each.has_change and is_shown and not is_doubted)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (Case(has_change=False, failing=1), "no_change"),
        (Case(failing=1, weakened=1), "failing"),
        (Case(weakened=1, survived=1), "tests_weakened"),
        (Case(is_whole=False, proving=1), "unproven"),
        (Case(survived=1, uncovered=1), "unproven"),
        (Case(killed=1, survived=1), "weak"),
        (Case(proving=1, uncovered=1), "weak"),
        (Case(missing=1), "weak"),
        (Case(missing=1, killed=1), "weak"),
        (Case(killed=1), "proven"),
        (Case(proving=1, missing=1), "proven"),
    ],
)
def test_the_first_verdict_that_applies_is_the_one(case: Case, expected: ProofVerdict) -> None:
    assert verdict(case) == expected


def findings(**more: Any) -> ProofFindings:
    """One test proves the change, another one failed in a copy."""
    probed = [Probed(f"a.py::test_{n}", outcome, 0.1, [], "", {}) for n, outcome in enumerate(("passed", "failed"))]
    trials = Trials((), Ledger(probed=probed, selected=2))
    return ProofFindings(trials=trials, at_base={"a.py::test_0": ShownAtBase("proves")}, **more)


def test_nothing_is_proven_before_it_is_known_whether_what_failed_in_a_copy_fails_here_too() -> None:
    unknown = proof_answer(findings())

    assert unknown.verdict == "unproven"
    assert "a.py::test_1" in unknown.notices[0]
    assert proof_answer(findings(refuted={"a.py::test_1"})).verdict == "proven"
    assert proof_answer(findings(failing={"a.py::test_1": Outcome("F")})).verdict == "failing"
