"""What became of a call: which Python was taken, which were not, and how the run in it ended. Pure."""

from dataclasses import dataclass
from typing import Generic

from pytest_mcp.api.errors import CallError
from pytest_mcp.environments.interpreter import Candidate
from pytest_mcp.events.run import Asked_co, Run


@dataclass(frozen=True)
class Trial(Generic[Asked_co]):
    """Without an error the run has a result. With one there may have been no run, and no Python to run it in."""

    chosen: Candidate | None
    rejected: tuple[Candidate, ...]
    run: Run[Asked_co] | None
    error: CallError | None
