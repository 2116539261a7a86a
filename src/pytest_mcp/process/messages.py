"""The lines of JSON that the server and a run's supervisor write to each other. Standard library only.

The server writes a `Start` to the supervisor's stdin and, if that has no time limit, a `Go` when the job is there.
An `Interrupt` may follow while the child runs.
The supervisor writes one `Ended` or `NotStarted` to its stdout. Both sides encode and decode with this module.
"""

import json
from typing import Literal, TypeAlias, TypedDict, cast

# Why the child is gone: by itself, at the time limit, on the server's order (after an `Interrupt`, or at once), or
# because its report was too large.
Reason = Literal["exited", "timeout", "interrupted", "stopped", "overflow"]

# What the supervisor appends to the report before it sends SIGINT: the event `Ending`. It is outside the child's count.
ENDING = b'\n{"k":"ending","n":0}\n'


class Start(TypedDict):
    """Start this program. Without a time limit it is started ahead of its job and waits for it."""

    kind: Literal["start"]
    argv: list[str]
    cwd: str
    env: dict[str, str]
    time_limit: float | None
    # How much is kept of the beginning of each output stream, and as much of its end, in bytes.
    kept_output: int
    report_limit: int
    # The memory that the child and everything it starts may use, each of them; None: as much as there is.
    max_memory: int | None
    # Its stdin is the file `input` of the run's folder and its stdout the file `report`, not nothing and a pipe.
    redirected: bool


class Go(TypedDict):
    """The job of a child that was started ahead is there."""

    kind: Literal["go"]
    time_limit: float


class Interrupt(TypedDict):
    """End the child, but let it clean up first."""

    kind: Literal["interrupt"]


class Ended(TypedDict):
    kind: Literal["ended"]
    # The exit code, or the negative number of the signal; None if the child could not be waited for in time.
    status: int | None
    reason: Reason
    duration: float
    stdout: str
    stderr: str
    # Bytes that are missing from the middle of what was printed.
    left_out: int
    # Descendants that the child left behind and that were killed; how many of them were still there in the end.
    strays: int
    left: int


class NotStarted(TypedDict):
    kind: Literal["not_started"]
    message: str
    errno: int | None


Order: TypeAlias = Start | Go | Interrupt
Answer: TypeAlias = Ended | NotStarted


def encode(message: Order | Answer) -> bytes:
    return json.dumps(message).encode() + b"\n"


def decode_order(line: bytes) -> Order:
    return cast("Order", _decode(line, "start", "go", "interrupt"))


def decode_answer(line: bytes) -> Answer:
    return cast("Answer", _decode(line, "ended", "not_started"))


def _decode(line: bytes, *kinds: str) -> object:
    """Raises ValueError for anything else than one whole message of these kinds."""
    message = json.loads(line)
    if not isinstance(message, dict) or message.get("kind") not in kinds:
        raise ValueError("not a message")
    return message
