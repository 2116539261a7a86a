"""What a failing test called, where no base passes: the way to the exception or the last calls, and the suspects.

Beside it stands where the nearest passing test went another way, if both go the same way far enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_mcp.investigation.difference.call_tree import Alignment, CallRecording, RecordedCall
from pytest_mcp.investigation.difference.side import SHALLOW, Side, Unusable
from pytest_mcp.investigation.difference.telling import Telling
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.investigation.outcome import outcome_of
from pytest_mcp.investigation.result import AT_BASE, Suspect
from pytest_mcp.text import label

# How many calls are told, and how many calls two tests must have in common.
MOST_CALLS = 4
LEAST_COMMON = 3


@dataclass(frozen=True)
class RanCalls:
    side: Side
    node_id: str
    suspects: Sequence[Suspect]
    # A test that passes and runs much of the same code.
    nearest: str | None

    async def lines(self) -> list[str]:
        """Raises OutOfTime."""
        tests = [self.node_id, *([self.nearest] if self.nearest else [])]
        run = await self.side.traced(tests, SHALLOW)
        if not self.side.is_expected(outcome_of(run, self.node_id)):
            return []
        values = Values(is_shown=self.side.runner.config.shows_values)
        telling = Telling(values, AT_BASE)
        try:
            now = await self.side.recording_of(run, self.node_id, values)
            calls = await self.side.runner.computed(lambda: [*self._calls(now)][:MOST_CALLS])
            lines = [f"ran: {telling.call(each)}" for each in calls]
            if self.nearest is None or not outcome_of(run, self.nearest).passed:
                return lines
            passing = await self.side.recording_of(run, self.nearest, values)
            return [*lines, *await self.side.runner.computed(lambda: [*self._apart(passing, now, telling)][:1])]
        except Unusable:
            return []

    def _calls(self, now: CallRecording) -> Iterator[RecordedCall]:
        way = [*_way_to_failure(now)] or [each for each in now.calls if _is_called_by_test(each)]
        yield from way[-2:]
        shown = {each.function for each in way[-2:]}
        for suspect in self.suspects:
            function = suspect.file, suspect.function
            called = [each for each in now.calls if each.function == function and each.row.phase != "import"]
            if called and function not in shown:
                yield called[-1]

    def _apart(self, passing: CallRecording, now: CallRecording, telling: Telling) -> Iterator[str]:
        """The first call of both that makes other calls, or raises in one of them."""
        alignment = Alignment(passing, now)
        todo = [*reversed([*alignment.roots()])]
        common = 0
        while todo:
            there, here = todo.pop()
            if there is None or here is None:
                continue
            common += 1
            if common > LEAST_COMMON and _parts(there, here):
                yield f"unlike {label(self.nearest or '')}, where {telling.call(there)}: {telling.call(here)}"
            todo += reversed(alignment.below(there, here))


def _way_to_failure(now: CallRecording) -> Iterator[RecordedCall]:
    """The calls of the project that the exception came through, the innermost last."""
    tests = [each for each in now.calls if each.is_test and each.row.outcome == "raised" and each.row.phase != "import"]
    inner = tests[:1]
    while inner:
        call = inner[-1]
        inner = [each for each in call.children if each.row.outcome == "raised" and each.result == call.result]
        yield from (each for each in inner[-1:] if not each.is_test)


def _is_called_by_test(call: RecordedCall) -> bool:
    is_outer = call.parent is None or call.parent.is_test
    return is_outer and not call.is_test and call.row.phase == "call"


def _parts(there: RecordedCall, here: RecordedCall) -> bool:
    ones, others = ([each.function for each in call.children] for call in (there, here))
    return set(ones) != set(others) or there.row.outcome != here.row.outcome
