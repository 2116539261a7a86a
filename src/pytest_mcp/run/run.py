"""One child from its start to its end: what was asked, what it reported, how its process ended.

Pure. `run.attempt` makes a `Run`. What it means is decided in `result` and `no_result`.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.reach import ChangedLines, Reach
from pytest_mcp.api.requests import Request
from pytest_mcp.config.model import Shard
from pytest_mcp.process.exit import Exit
from pytest_mcp.run.ledger import Ledger

Asked_co = TypeVar("Asked_co", bound=Request, covariant=True)


@dataclass(frozen=True)
class Run(Generic[Asked_co]):
    request: Asked_co
    ledger: Ledger
    exit: Exit
    command: tuple[str, ...]
    time_limit: int
    environment: RunEnvironment
    # Reasons to ask whether this was the right environment.
    doubts: tuple[str, ...] = ()
    # What certainly helps if files could not be collected, or if there are no tests.
    fix: Sentence | None = None
    shard: Shard | None = None
    # With `changed`: what the change can reach.
    reach: Reach | None = None
    # With coverage of changed lines: which lines those are.
    changed_lines: ChangedLines | None = None
    # The operator's limit for each of its processes, in bytes.
    max_memory: int | None = None
