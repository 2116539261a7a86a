"""The project that calls are about: the operator's settings, the child that waits, and who follows the call. Frozen."""

from collections.abc import Callable
from dataclasses import dataclass

from pytest_mcp.config.model import Config
from pytest_mcp.process.spare import Spare
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.steps import Steps

OnProgress = Callable[[Ledger | Steps], None]


def _ignore(_made: Ledger | Steps) -> None:
    pass


@dataclass(frozen=True)
class Project:
    config: Config
    # A child that was started ahead; None if there is none and none is wanted.
    spare: Spare | None = None
    # Told of everything that a run reports, as it comes.
    on_progress: OnProgress = _ignore
