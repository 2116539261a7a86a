"""The outcome of a call: the chosen Python, the rejected ones, and the run or its error. Pure."""

from dataclasses import dataclass
from typing import Generic

from pytest_mcp.api.errors import CallError
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.run import Asked_co, Run


@dataclass(frozen=True)
class Trial(Generic[Asked_co]):
    """Without an error there is a run with a result. With one, there may be no run and no chosen Python."""

    chosen: Candidate | None
    rejected: tuple[Candidate, ...]
    run: Run[Asked_co] | None
    error: CallError | None
