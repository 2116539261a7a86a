"""What the steps of an investigation share."""

from dataclasses import dataclass

from pytest_mcp.investigation.order import Suite
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.runner import Runner


@dataclass(frozen=True)
class Investigation:
    """`runner` has the time limit and reproduces the failure: its seeds are those of a run that failed."""

    runner: Runner
    outcome: Outcome
    # None if it could not be collected in time.
    suite: Suite | None
