"""One test as the child reports it, and the outcome that follows from its phases."""

from dataclasses import dataclass, field

from pytest_mcp.api.results import Outcome
from pytest_mcp.run.events import Phase


@dataclass(slots=True)
class TestRecord:
    """One test, however many reports it had; each test counts once."""

    __test__ = False  # pytest would collect a class of this name

    node_id: str
    phases: list[Phase] = field(default_factory=list)
    duration: float = 0.0
    finished: bool = False
    passed: bool = False
    # Whether any phase failed, and whether it has finished at least once, however often it is repeated.
    failed: bool = False
    counted: bool = False
    # Its place in the collection; only known, and only needed, with xdist.
    index: int = 0

    @property
    def outcome(self) -> Outcome | None:
        """None while the test has not finished.

        A failed call makes it `failed` whatever else went wrong; a failure in setup or teardown alone
        makes it `error`. An attempt that a plugin repeats has an outcome of its own and does not count.
        """
        if not self.phases:
            return "passed" if self.finished and self.passed else None
        failed = {phase.when for phase in self.phases if phase.outcome == "failed"}
        if failed - {"setup", "teardown"}:
            return "failed"
        if failed:
            return "error"
        if any(phase.outcome == "skipped" and phase.subtest is None for phase in self.phases):
            return "skipped"
        return "passed" if self.finished and self.passed else None

    @property
    def repeated(self) -> bool:
        return any(phase.outcome in ("rerun", "retried") for phase in self.phases)
