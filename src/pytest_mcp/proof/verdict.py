"""The one function that says `proven`, and what it rests on."""

from dataclasses import dataclass

from pytest_mcp.proof.result import ProofVerdict


@dataclass(frozen=True)
class ProofEvidence:
    has_change: bool = True
    # Tests that fail here, and whether all tests could be run that the change reaches.
    failing: int = 0
    is_whole: bool = True
    weakened: int = 0
    # New and edited tests.
    proving: int = 0
    missing: int = 0
    killed: int = 0
    survived: int = 0
    uncovered: int = 0


def verdict_of(evidence: ProofEvidence) -> ProofVerdict:
    """The first that applies."""
    cases: tuple[tuple[bool, ProofVerdict], ...] = (
        (not evidence.has_change, "no_change"),
        (evidence.failing > 0, "failing"),
        (evidence.weakened > 0, "tests_weakened"),
        (not evidence.is_whole, "unproven"),
        (not evidence.proving and not evidence.missing and not evidence.killed, "unproven"),
        (evidence.survived > 0 or evidence.uncovered > 0, "weak"),
        (evidence.missing > 0 and not evidence.proving, "weak"),
    )
    return next((verdict for applies, verdict in cases if applies), "proven")
