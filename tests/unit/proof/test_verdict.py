from itertools import product

import pytest

from pytest_mcp.proof.result import ProofVerdict
from pytest_mcp.proof.verdict import ProofEvidence, verdict_of

ALL = [
    ProofEvidence(change, failing, whole, weakened, proving, missing, killed, survived, uncovered)
    for change, whole in product((True, False), repeat=2)
    for failing, weakened, proving, missing, killed, survived, uncovered in product((0, 1), repeat=7)
]


def test_proven_needs_a_proof_and_that_nothing_at_all_speaks_against_it() -> None:
    proven = [each for each in ALL if verdict_of(each) == "proven"]

    for each in ALL:
        is_shown = each.proving > 0 or (each.killed > 0 and not each.missing)
        is_doubted = each.failing or each.weakened or each.survived or each.uncovered or not each.is_whole
        assert (each in proven) == bool(each.has_change and is_shown and not is_doubted)


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (ProofEvidence(has_change=False, failing=1), "no_change"),
        (ProofEvidence(failing=1, weakened=1), "failing"),
        (ProofEvidence(weakened=1, survived=1), "tests_weakened"),
        (ProofEvidence(is_whole=False, proving=1), "unproven"),
        (ProofEvidence(survived=1, uncovered=1), "unproven"),
        (ProofEvidence(killed=1, survived=1), "weak"),
        (ProofEvidence(proving=1, uncovered=1), "weak"),
        (ProofEvidence(missing=1), "weak"),
        (ProofEvidence(missing=1, killed=1), "weak"),
        (ProofEvidence(killed=1), "proven"),
        (ProofEvidence(proving=1, missing=1), "proven"),
    ],
)
def test_the_first_verdict_that_applies_is_the_one(evidence: ProofEvidence, verdict: ProofVerdict) -> None:
    assert verdict_of(evidence) == verdict
