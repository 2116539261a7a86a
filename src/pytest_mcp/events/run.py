"""One child from its start to its end: what was asked, what it reported, how its process ended.

Pure. `process` makes an `Exit`, `engine` a `Run`. What it means is decided in `result` and `no_result`.
"""

from dataclasses import dataclass
from typing import Generic, Literal, TypedDict, TypeVar

from pytest_mcp.api.reach import ChangedLines, Reach
from pytest_mcp.api.requests import Request
from pytest_mcp.config.model import Shard
from pytest_mcp.events.ledger import Ledger

Asked_co = TypeVar("Asked_co", bound=Request, covariant=True)
# Why a process is over: by itself, at the time limit, on our order (after an interruption, or at once), because its
# report was too large, or unknown because its supervisor was killed.
Reason = Literal["exited", "timeout", "interrupted", "stopped", "overflow", "lost"]
# The report file at the end: nothing was ever written, it is complete, something has truncated it, or it has so many
# records that not all of them were read.
ReportState = Literal["unwritten", "kept", "truncated", "unread"]


@dataclass(frozen=True)
class Exit:
    """How the child's process ended. The child cannot report this itself."""

    code: int | None
    signal: str | None
    reason: Reason
    duration: float
    stdout: str
    stderr: str
    # Processes that it started, left behind, and that were killed.
    strays: int = 0
    # How many of them were still there when the time for that had passed.
    left: int = 0
    # Bytes that are missing from the middle of what it printed.
    left_out: int = 0
    report: ReportState = "kept"

    @property
    def timed_out(self) -> bool:
        return self.reason == "timeout"


class RunEnvironment(TypedDict):
    """Where a run took place, as the data of an error shows it."""

    root: str
    interpreter: str | None
    candidates: list[dict[str, str | None]]
    python: str | None
    pytest: str | None
    config_file: str | None


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
    shard: Shard | None = None
    # With `changed`: what the change can reach.
    reach: Reach | None = None
    # With coverage of changed lines: which lines those are.
    changed_lines: ChangedLines | None = None
