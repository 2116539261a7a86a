"""What a check knows so far: everything that its answer is made of.

The deadline can end a check at any moment, so its steps write here as soon as they know something.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.proof.at_base import ShownAtBase
from pytest_mcp.proof.mutants import Mutant
from pytest_mcp.proof.weakening import TestEdits
from pytest_mcp.report.coverage import lines_in
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.recordings import Probed, Tried

_SETTLED = ("killed", "survived", "same", "unseen")


@dataclass(frozen=True)
class Trials:
    """What became of the tests and of each mutant, which is known by its place in the list."""

    mutants: Sequence[Mutant] = ()
    ledger: Ledger = field(default_factory=Ledger)

    @property
    def probed(self) -> Sequence[Probed]:
        return self.ledger.probed

    @property
    def passed(self) -> list[Probed]:
        return [each for each in self.probed if each.outcome == "passed"]

    @property
    def not_passed(self) -> list[str]:
        return [each.id for each in self.probed if each.outcome not in ("passed", "skipped")]

    @property
    def broken(self) -> list[str]:
        """Files that could not be collected."""
        return [*dict.fromkeys(each.file for each in self.ledger.collection_failures)]

    @property
    def selected(self) -> int:
        return self.ledger.selected or 0

    @property
    def killers(self) -> set[str]:
        return {test for each in self.of("killed") for test in each.tests}

    @property
    def not_tried(self) -> int:
        """Without those that are no mutants after all, and those of lines that no test runs."""
        return len(self.mutants) - len(self.of(*_SETTLED))

    @property
    def harmful(self) -> Mutant | None:
        """The one that has deleted files that are needed, or ended the process that tries them."""
        found = [each.number for each in self.of("harmful")]
        if not found and self.is_probed and self.ledger.returned is None and not self.ledger.ending:
            found = sorted({*range(len(self.mutants))} - {each.number for each in self.ledger.tried})
        return self.mutants[found[0]] if found else None

    @property
    def is_probed(self) -> bool:
        """All tests have run, as far as there was time."""
        return self.ledger.probing_ended is not None

    def of(self, *outcomes: str) -> list[Tried]:
        return [each for each in self.ledger.tried if each.outcome in outcomes]

    def lines(self, path: str) -> frozenset[int]:
        """Of a file, those of the changed lines that have code; `ran` are those of them that ran."""
        code = self.ledger.changed_code
        return frozenset(lines_in(code.code.get(path, "")) if code else ())

    def ran(self, path: str) -> frozenset[int]:
        """In a test or in the imports."""
        code = self.ledger.changed_code
        imported = lines_in(code.imported.get(path, "")) if code else ()
        return frozenset(imported).union(*(lines_in(each.lines.get(path, "")) for each in self.probed))


@dataclass
class ProofFindings:
    has_change: bool = True
    edits: TestEdits = field(default_factory=lambda: TestEdits((), (), ()))
    are_tests_compared: bool = True
    trials: Trials = field(default_factory=Trials)
    # Of new and edited tests, by their names without parameters.
    at_base: dict[str, ShownAtBase] = field(default_factory=dict)
    # In the checkout, by node id.
    failing: dict[str, Outcome] = field(default_factory=dict)
    # Tests that fail only in a fork of a copy.
    refuted: set[str] = field(default_factory=set)
    # Lines of each file that changed and have code, and those of them that no test ran.
    changed: dict[str, frozenset[int]] = field(default_factory=dict)
    uncovered: dict[str, frozenset[int]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    is_cut_short: bool = False

    @property
    def unconfirmed(self) -> list[str]:
        """Tests and files that failed in a copy, of which nobody knows whether they fail in the checkout.

        Of a file that cannot be collected in the copy no test was tried, whatever becomes of it in the checkout.
        """
        known = self.failing.keys() | self.refuted
        return [name for name in [*self.trials.not_passed, *self.trials.broken] if name not in known]
