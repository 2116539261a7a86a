"""Whether tests that fail in two trees by the same statement also take the same way through the project there.

In files that did not change the lines are compared that a test runs, in the others the functions. What differs between
two runs of the same code says nothing.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.investigation.outcome import outcome_of
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.process.job import Trace
from pytest_mcp.report import places
from pytest_mcp.run.recordings import Line
from pytest_mcp.run.run import Run
from pytest_mcp.text import in_line

# Nothing else runs with them.
_SECONDS = 1.0


class Step(NamedTuple):
    file: str
    function: str
    # 0 in a file that has changed, where lines have other numbers.
    line: int

    def __str__(self) -> str:
        return in_line(
            f"{self.file}:{self.line} in {self.function}" if self.line else f"{self.file} in {self.function}"
        )


Way = frozenset[Step]


class WayThere(NamedTuple):
    """`other` is where the ways part, in words; None if they are the same. They may not be known."""

    is_known: bool
    other: str | None = None


async def compare_ways(now: Runner, base: Runner, node_id: str, changed: Collection[str]) -> WayThere:
    """`changed` are paths relative to the root. Raises OutOfTime."""
    here, there = way_of(await traced_run(now, [node_id]), node_id, changed), None
    if here is not None:
        there = way_of(await traced_run(base, [node_id]), node_id, changed)
    again = None if here == there else way_of(await traced_run(now, [node_id]), node_id, changed)
    return compared(here, there, again)


def compared(here: Way | None, there: Way | None, again: Way | None) -> WayThere:
    """`again` is a second way here: what differs between the two is chance."""
    if here is None or there is None:
        return WayThere(is_known=False)
    noise = frozenset[Step]() if again is None else here ^ again
    parts = sorted(here - there - noise)[:1], sorted(there - here - noise)[:1]
    words = [f"{step} runs only {when}" for when, steps in zip(("now", "there"), parts, strict=True) for step in steps]
    return WayThere(is_known=True, other=" and ".join(words) or None)


async def traced_run(runner: Runner, node_ids: Sequence[str]) -> Run[ExecuteTests]:
    """Only these tests, in one process."""
    trace: Trace = {"failing": [*node_ids], "most_tests": 0, "seconds": _SECONDS}
    return await runner.run(node_ids, trace=trace)


def way_of(run: Run[ExecuteTests], node_id: str, changed: Collection[str]) -> Way | None:
    """None if it did not fail, or was not recorded."""
    executed = run.ledger.executed.get(node_id)
    if executed is None or not executed.complete or not outcome_of(run, node_id).failed:
        return None
    return frozenset(_step(line, changed) for line in executed.lines() if places.is_source(line.file))


def _step(line: Line, changed: Collection[str]) -> Step:
    return Step(line.file, line.function, 0 if line.file in changed else line.number)
