"""How a child's process ended. `process` finds it out; what it means is decided in `result` and `no_result`. Pure."""

from dataclasses import dataclass
from typing import Literal

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
    # The signal by which whoever had asked for the run ended it at once.
    stopped_by: str | None = None

    @property
    def timed_out(self) -> bool:
        return self.reason == "timeout"
