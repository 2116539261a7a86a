"""One of two sides that are compared: where and after what a test runs traced, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.investigation.difference.call_tree import CallRecording, RecordedCall, recording_of
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.investigation.outcome import Outcome, outcome_of
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.process.job import CallTrace, LinesOf
from pytest_mcp.run.run import Run

_UNTRACED = "it could not be traced: the test, the project, coverage or a debugger traces by itself"


class Depth(NamedTuple):
    """How deep values are read, and whether imports are traced."""

    depth: int
    parts: int
    imports: bool


SHALLOW = Depth(3, 80, imports=False)
DEEP = Depth(5, 600, imports=True)
# Only for lines: nothing but plain values is read.
FLAT = Depth(0, 80, imports=False)


class Unusable(Exception):
    """A traced run says nothing; the message says why."""


@dataclass(frozen=True)
class Side:
    runner: Runner
    # In words: at the base, here.
    where: str
    # How the test fails there; None if it passes.
    fails_as: Outcome | None = None
    # Tests that run before it, or files that are imported.
    before: tuple[str, ...] = ()
    # How often it may run until it has this outcome.
    tries: int = 1

    async def traced(self, tests: Sequence[str], depth: Depth, calls: Sequence[RecordedCall] = ()) -> Run[ExecuteTests]:
        """Of these calls the lines are recorded too. Raises OutOfTime."""
        trace: CallTrace = {
            "tests": [*tests],
            "depth": depth.depth,
            "parts": depth.parts,
            "imports": depth.imports,
            "lines_of": [_lines_of(call) for call in calls],
        }
        return await self.runner.run_after(self.before, tests, calls=trace)

    async def recorded(
        self, test: str, depth: Depth, values: Values, calls: Sequence[RecordedCall] = ()
    ) -> CallRecording:
        """Raises Unusable and OutOfTime."""
        self.runner.on_step(f"tracing {'lines ' if calls else ''}{self.where}")
        run = await self.traced([test], depth, calls)
        for _ in range(self.tries - 1):
            if self.is_expected(outcome_of(run, test)):
                break
            run = await self.traced([test], depth, calls)
        seen = outcome_of(run, test)
        if not self.is_expected(seen):
            raise Unusable(f"when it was traced {self.where}, something else happened: {seen.words or 'it passed'}")
        return await self.recording_of(run, test, values)

    async def recording_of(self, run: Run[ExecuteTests], test: str, values: Values) -> CallRecording:
        recording = await self.runner.computed(partial(recording_of, run.ledger, test, values))
        if recording is None:
            raise Unusable("nothing was recorded")
        if not recording.is_complete:
            raise Unusable(_UNTRACED)
        return recording

    def is_expected(self, seen: Outcome) -> bool:
        if self.fails_as is None:
            return seen.passed
        return (seen.letter, seen.cause) == (self.fails_as.letter, self.fails_as.cause)


def _lines_of(call: RecordedCall) -> LinesOf:
    return {"function": call.code.function, "line": call.code.line, "number": call.place}
