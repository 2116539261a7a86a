"""What the server and a run's supervisor agree on: their messages, and how long each step of ending a run may take.

The server writes a `Start` to the supervisor's stdin and, if that has no time limit, a `Go` when the job is there.
An `Interrupt` may follow while the child runs. The supervisor writes one `Ended` or `NotStarted` to its stdout. It
takes the steps and the server waits for their sum, which stays below the five seconds after the time limit within
which an answer must come. Standard library only.
"""

import json
from typing import Literal, TypeAlias, TypedDict, cast

# Why the child is over: by itself, at the time limit, on the server's order (after an `Interrupt`, or at once), because
# its report was too large, or unknown because its supervisor was killed.
Reason = Literal["exited", "timeout", "interrupted", "stopped", "overflow", "lost"]

# At the time limit the child gets SIGINT, so that pytest writes its summary. After the grace it gets SIGABRT, so that
# the stacks are printed. After that it is killed.
GRACE_SECONDS = 2.0
ABORT_SECONDS = 0.5
# The same grace if a person interrupts the run: fixtures may have containers to take down, and who is in a hurry
# interrupts a second time.
INTERRUPT_SECONDS = 30.0
# How long helper processes of a child that exited by itself may take to notice that and exit.
HELPER_SECONDS = 0.3
# Killing is repeated until nothing is left, but no longer than this. What is left then is reported.
SWEEP_SECONDS = 1.5
# The same for a run that ended by itself before its time limit: processes die late on a busy machine.
UNHURRIED_SWEEP_SECONDS = 10.0
# Normally nobody holds the pipes any more when they are drained; this is the limit if somebody does.
DRAIN_SECONDS = 0.3
# For starting and ending processes on a busy machine.
MARGIN_SECONDS = 0.5

# From the time limit to the supervisor's answer.
OVERTIME_SECONDS = GRACE_SECONDS + ABORT_SECONDS + SWEEP_SECONDS + DRAIN_SECONDS + MARGIN_SECONDS
# From an interruption to the supervisor's answer.
INTERRUPTION_SECONDS = INTERRUPT_SECONDS + OVERTIME_SECONDS - GRACE_SECONDS
# From the order to stop to the supervisor's end.
STOP_SECONDS = SWEEP_SECONDS + DRAIN_SECONDS + MARGIN_SECONDS

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
    """The first fields of `job.Exit`."""

    kind: Literal["ended"]
    code: int | None
    signal: str | None
    reason: Reason
    duration: float
    stdout: str
    stderr: str
    strays: int
    left: int
    left_out: int


class NotStarted(TypedDict):
    kind: Literal["not_started"]
    message: str
    errno: int | None


Order: TypeAlias = Start | Go | Interrupt
Answer: TypeAlias = Ended | NotStarted


def encode(message: Order | Answer) -> bytes:
    return json.dumps(message).encode() + b"\n"


def decode_order(line: bytes) -> Order:
    return cast("Order", json.loads(line))


def decode_answer(line: bytes) -> Answer:
    """Raises ValueError for anything else than a whole answer: a supervisor that is killed may have written a part."""
    answer = json.loads(line)
    if not isinstance(answer, dict) or answer.get("kind") not in ("ended", "not_started"):
        raise ValueError("not a message")
    return cast("Answer", answer)


def end_of_killing(now: float, deadline: float) -> float:
    """When to give up killing what a run has left that ended by itself before its deadline."""
    return max(now + SWEEP_SECONDS, min(now + UNHURRIED_SWEEP_SECONDS, deadline))
