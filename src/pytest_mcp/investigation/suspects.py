"""Which functions of the project are most likely to contain the bug.

The failing test and the tests nearest to it, which the child chooses, run once more in one process that records what
they run. A line is scored by Ochiai's formula, a function by its best line. The way to the failure and the last calls
before it decide between functions that the same tests ran. A test that cannot be imported has the chain of imports
instead.
"""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import anyio

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.changed.working_tree import Lines
from pytest_mcp.investigation.outcome import Outcome, outcome_of
from pytest_mcp.investigation.result import Suspect
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.process.job import Trace
from pytest_mcp.report import failures, grouping, places
from pytest_mcp.report.failures import Failure
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.recordings import Executed, Line
from pytest_mcp.run.run import Run
from pytest_mcp.text import in_line

MAX_SUSPECTS = 5
# How many failing tests are traced, and how many others.
MAX_FAILING = 20
MAX_TESTS = 300
# The time for tracing them, in seconds, and as a share of the time that is left.
MAX_SECONDS = 60.0
SHARE_OF_TIME = 0.4
# Code that ran while the test's file was imported is less suspicious than what the test itself ran.
AT_IMPORT = 0.5
# `make suspects` measures these; they were chosen on some of the libraries that it calls tuned. A function on the way
# to the failure, one that was called just before it, and how much a failed test with another cause counts.
FRAME = 1.0
CALL = 0.3
OTHER_CAUSE = 0.5
# A changed line is first among lines with equal scores, whatever the other clues say.
CHANGED = 1.5
# Which share of the lines that two tests run both must run to be near.
LEAST_LIKENESS = 0.5
MODULE = "<module>"
_UNTRACED = "it could not be traced: the test, the project, coverage or a debugger traces by itself"
_NOTHING_RAN = "it ran no Python code of the project except tests; native code and other processes are not traced"

# A frame of pytest's short style: path, line and function.
_FRAME = re.compile(r"^(?=\S)(.*?):(\d{1,9}): in (.+)$", re.MULTILINE)
# A file that cannot be parsed has no frame of its own.
_UNPARSED = re.compile(r'^E[ \t]+File "(.*)", line (\d{1,9})', re.MULTILINE)

# A file and the qualified name of a function in it.
Function = tuple[str, str]
# The lines that differ from the base.
LinesChanged = Callable[[], Awaitable[Lines]]
# The most suspicious line of each function, with its score.
Ranked = list[tuple[Line, float]]


@dataclass(frozen=True)
class Suspected:
    """`problem` says why there are none."""

    functions: tuple[Suspect, ...] = ()
    problem: str | None = None
    # The passing test that is nearest to it.
    nearest: str | None = None


@dataclass(frozen=True)
class Clues:
    # Places on the way to the failure, the innermost first: file and line.
    frames: Sequence[tuple[str, int]] = ()
    # Functions that were called before the failure, the last one first: file and name.
    calls: Sequence[Function] = ()
    # Lines of each file that differ from the base.
    changed: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def is_changed(self, line: Line) -> bool:
        return line.number in self.changed.get(line.file, ())

    def is_frame(self, line: Line) -> bool:
        return (line.file, line.number) in self.frames


async def find_suspects(
    runner: Runner, node_id: str, expected: Outcome, *, everything: bool, since_base: LinesChanged | None = None
) -> Suspected:
    """`expected` is the test's outcome without tracing; `everything` as in `traced`. Raises OutOfTime."""
    run = await traced(runner, [node_id], everything=everything)
    if problem := _problem(run, node_id, expected):
        return Suspected(problem=problem)
    changed: Lines = {}
    if since_base is not None and node_id in run.ledger.executed:
        # git can take longer than what is left.
        with anyio.move_on_after(runner.deadline.left):
            changed = await since_base()
    functions = await runner.computed(partial(suspects_of, run, node_id, changed))
    nearest = await runner.computed(partial(nearest_of, run.ledger, node_id))
    return Suspected(tuple(functions), None if functions else _NOTHING_RAN, nearest)


def _problem(run: Run[ExecuteTests], node_id: str, expected: Outcome) -> str | None:
    """Why what was recorded does not tell anything about the failure."""
    seen = outcome_of(run, node_id)
    if seen.passed:
        return "it did not fail when it was traced"
    if seen.letter != expected.letter or seen.cause != expected.cause:
        return f"when it was traced, something else happened: {seen.words}"
    if seen.letter == "C":
        return None
    executed = run.ledger.executed.get(node_id)
    if executed is None:
        return f"nothing was recorded: {seen.words}"
    # Python removes a trace function if there is no stack left to call it; by then enough has been seen.
    is_whole = executed.complete or (seen.failure is not None and seen.failure.type == "RecursionError")
    return None if is_whole else _UNTRACED


async def traced(runner: Runner, failing: Sequence[str], *, everything: bool) -> Run[ExecuteTests]:
    """Run them and the tests nearest to them, of the whole suite or of their files."""
    seconds = min(MAX_SECONDS, SHARE_OF_TIME * runner.deadline.left)
    trace: Trace = {"failing": [*failing[:MAX_FAILING]], "most_tests": MAX_TESTS, "seconds": seconds}
    files = [*dict.fromkeys(node_id.partition("::")[0] for node_id in failing)]
    if everything:
        run = await runner.run(None, trace=trace)
        # A file outside of the project's testpaths is collected only if it is named.
        if failing[0] in run.ledger.tests or _import_error(run.ledger, files[0]) is not None:
            return run
    return await runner.run(None, paths=files, trace=trace)


def suspects_of(run: Run[ExecuteTests], node_id: str, changed: Lines) -> list[Suspect]:
    failed = failures_of(run.ledger)
    if node_id in failed:
        ranked = _suspects_of_failure(run.ledger, failed, node_id, changed)
    else:
        ranked = _import_chain(_import_error(run.ledger, node_id.partition("::")[0]) or "")
    return [
        Suspect(file=in_line(line.file), line=line.number, function=in_line(line.function), score=round(score, 2))
        for line, score in ranked[:MAX_SUSPECTS]
    ]


def nearest_of(ledger: Ledger, node_id: str) -> str | None:
    """The passing test that runs most of the same lines; None if no test runs as many of them as others."""
    if node_id not in ledger.executed:
        return None
    own = _source_lines(ledger.executed[node_id])
    likeness: dict[str, float] = {}
    for record in ledger.completed:
        known = ledger.executed.get(record.node_id)
        if record.outcome == "passed" and known is not None and known.complete:
            lines = _source_lines(known)
            likeness[record.node_id] = len(own & lines) / max(1, len(own | lines))
    nearest = max(likeness, key=likeness.__getitem__, default=None)
    return nearest if nearest is not None and likeness[nearest] >= LEAST_LIKENESS else None


def _source_lines(executed: Executed) -> set[Line]:
    return {line for line in executed.lines() if places.is_source(line.file)}


def failures_of(ledger: Ledger) -> dict[str, Failure]:
    failed = [record for record in ledger.completed if record.outcome in ("failed", "error")]
    return {record.node_id: failures.failure_of(record) for record in failed}


def _suspects_of_failure(ledger: Ledger, failed: Mapping[str, Failure], node_id: str, changed: Lines) -> Ranked:
    target = ledger.executed.get(node_id)
    if target is None:
        return []

    def executed(ids: Iterable[str]) -> list[Executed]:
        return [known for each in ids if (known := ledger.executed.get(each)) is not None and known.complete]

    groups = [{each.node_id for each in group.members} for group in grouping.group([*failed.values()])]
    alike = next(ids for ids in groups if node_id in ids)
    passed = executed(record.node_id for record in ledger.completed if record.outcome == "passed")
    own = [line for line in target.lines() if places.is_source(line.file)]
    clues = _clues(failed[node_id], target, changed)
    ran = ranked(scores(own, executed(alike - {node_id}), executed(failed.keys() - alike), passed), clues)
    return ran if len(ran) >= MAX_SUSPECTS else [*ran, *_at_import(ledger, target, passed, clues)]


def _clues(failure: Failure, target: Executed, changed: Lines) -> Clues:
    own = [place.rpartition(":") for place in reversed(failure.own_places)]
    frames = [(path, int(line)) for path, _, line in own if places.is_source(path) and line.isdecimal()]
    calls = [(file, name) for file, name in target.calls if places.is_source(file)]
    return Clues(frames, calls, changed)


def _at_import(ledger: Ledger, target: Executed, passed: Sequence[Executed], clues: Clues) -> Ranked:
    """Functions that ran while the test's own file was imported; all tests of that file depend on them."""
    file = target.id.partition("::")[0]
    imported = ledger.executed.get(file)
    if imported is None:
        return []
    own = {(line.file, line.function) for line in target.lines()}
    lines = [line for line in imported.lines() if places.is_source(line.file) and line.function != MODULE]
    dependent = sum(test.id.startswith(f"{file}::") for test in passed)
    score = AT_IMPORT * ochiai(1, dependent, 1)
    return ranked({line: score for line in lines if line[:2] not in own}, clues)


def _import_error(ledger: Ledger, file: str) -> str | None:
    """The text of what kept a test file, or a conftest above it, from being imported."""
    for event in ledger.collection_failures:
        folder, _, name = event.file.rpartition("/")
        if event.file == file or (name == "conftest.py" and file.startswith(f"{folder}/" if folder else "")):
            return event.traceback
    return None


def _import_chain(text: str) -> Ranked:
    """Where the import ended, and the places that it came by, the nearest first."""
    frames = [Line(path, function, int(line)) for path, line, function in _FRAME.findall(text)]
    frames += [Line(path, MODULE, int(line)) for path, line in _UNPARSED.findall(text)]
    own = [line for line in reversed(frames) if places.is_source(line.file)]
    return [(line, 1 / place) for place, line in enumerate(own, start=1)]


def ochiai(failed: float, passed: float, failing: float) -> float:
    """Of a line that so many failed and passed tests ran, where `failing` tests failed."""
    return failed / math.sqrt(failing * (failed + passed)) if failed else 0.0


def scores(
    lines: Iterable[Line], alike: Sequence[Executed], otherwise: Sequence[Executed], passed: Sequence[Executed]
) -> dict[Line, float]:
    """Of lines that the test under investigation ran, by those tests that failed alike, failed otherwise or passed."""
    wanted = frozenset(lines)
    like, unlike, good = (
        Counter(line for test in tests for line in wanted.intersection(test.lines()))
        for tests in (alike, otherwise, passed)
    )
    failing = 1 + len(alike) + OTHER_CAUSE * len(otherwise)
    return {line: ochiai(1 + like[line] + OTHER_CAUSE * unlike[line], good[line], failing) for line in wanted}


def ranked(scored: Mapping[Line, float], clues: Clues) -> Ranked:
    """The most suspicious line of each function, with a score between 0 and 1, the highest first.

    Of lines with equal scores one that was changed, one on the way to the failure, the first. A function that is
    nearest in every way that is known keeps its score, all others have less.
    """
    best: dict[Function, Line] = {}
    for line in sorted(
        scored, key=lambda line: (-scored[line], not clues.is_changed(line), not clues.is_frame(line), line)
    ):
        best.setdefault((line.file, line.function), line)
    function_at = {(line.file, line.number): (line.file, line.function) for line in scored}
    frames = _places(function_at[place] for place in clues.frames if place in function_at)
    calls = _places(call for call in clues.calls if call in best)
    changed = {function for function, line in best.items() if clues.is_changed(line)}
    most = 1 + (FRAME if frames else 0) + (CALL if calls else 0) + (CHANGED if changed else 0)

    def weight(function: Function) -> float:
        of_frame = FRAME / frames.get(function, math.inf)
        of_call = CALL / math.sqrt(calls.get(function, math.inf))
        return (1 + of_frame + of_call + (CHANGED if function in changed else 0)) / most

    weighed = [(line, scored[line] * weight(function)) for function, line in best.items()]
    return sorted(weighed, key=lambda each: (-each[1], each[0]))


def _places(functions: Iterable[Function]) -> dict[Function, int]:
    """The first is 1."""
    return {function: place for place, function in enumerate(dict.fromkeys(functions), start=1)}
