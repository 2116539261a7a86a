"""Which functions of the project are most likely to contain the bug.

In come the context of an investigation and the failing tests; out come up to five functions, or why there are none.
The failing tests and the tests nearest to them run once more in one process that records what they run; the child
chooses which are near. How functions are scored is decided in `ranking`. A test that cannot be imported has the chain
of imports instead.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Protocol

import anyio

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.changed.differences import Lines
from pytest_mcp.investigation import outcome, ranking
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.ranking import Clues, Compared, Ranked
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.process.background import in_thread
from pytest_mcp.process.job import Trace
from pytest_mcp.report import failures, grouping, places
from pytest_mcp.report.failures import Failure
from pytest_mcp.run.events import Executed, Line
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Run
from pytest_mcp.text import in_line

MOST_SUSPECTS = 5
# How many failing tests are traced, and how many others.
MOST_FAILING = 20
MOST_TESTS = 300
# The time for tracing them, in seconds, and as a share of the time that is left.
MOST_SECONDS = 60.0
SHARE_OF_TIME = 0.4
# Code that ran while the test's file was imported is less suspicious than what the test itself ran.
AT_IMPORT = 0.5
MODULE = "<module>"
_UNTRACED = "it could not be traced: the test, the project, coverage or a debugger traces by itself"
_NOTHING_RAN = "it ran no Python code of the project except tests; native code and other processes are not traced"

# A frame of pytest's short style: path, line and function.
_FRAME = re.compile(r"^(?=\S)(.*?):(\d{1,9}): in (.+)$", re.MULTILINE)
# A file that cannot be parsed has no frame of its own.
_UNPARSED = re.compile(r'^E[ \t]+File "(.*)", line (\d{1,9})', re.MULTILINE)

# The lines that differ from the base.
LinesChanged = Callable[[], Awaitable[Lines]]


@dataclass(frozen=True)
class Suspect:
    file: str
    line: int
    function: str
    score: float


@dataclass(frozen=True)
class Suspected:
    """`problem` says why there are none."""

    functions: tuple[Suspect, ...] = ()
    problem: str | None = None


class Investigated(Protocol):
    """What is needed of an investigation. `suite` is None if the suite could not be collected in time."""

    @property
    def runner(self) -> Runner: ...

    @property
    def suite(self) -> object | None: ...

    @property
    def outcome(self) -> Outcome:
        """Of the test under investigation, without tracing."""


async def suspects(
    investigation: Investigated, failing: Sequence[str], since_base: LinesChanged | None = None
) -> Suspected:
    """The first of `failing` is under investigation. Raises OutOfTime."""
    runner = investigation.runner
    run = await traced(runner, failing, everything=investigation.suite is not None)
    if problem := _problem(run, failing[0], investigation.outcome):
        return Suspected(problem=problem)
    changed: Lines = {}
    if since_base is not None and failing[0] in run.ledger.executed:
        changed = await lines_changed(runner, since_base)
    with runner.in_time():
        found = await in_thread(partial(of_run, run, failing[0], changed))
    return Suspected(tuple(found), None if found else _NOTHING_RAN)


async def lines_changed(runner: Runner, since_base: LinesChanged) -> Lines:
    """Empty if the time is over first: git can take longer than what is left."""
    with anyio.move_on_after(runner.deadline.left):
        return await since_base()
    return {}


def _problem(run: Run[ExecuteTests], node_id: str, expected: Outcome) -> str | None:
    """Why what was recorded does not tell anything about the failure."""
    seen = outcome.of(run, node_id)
    if seen.passed:
        return "it did not fail when it was traced"
    if seen.letter != expected.letter or seen.cause != expected.cause:
        return f"when it was traced, something else happened: {seen.words}"
    if seen.letter == "C":
        return None
    target = run.ledger.executed.get(node_id)
    if target is None:
        return f"nothing was recorded: {seen.words}"
    return None if _is_whole(run.ledger, target) else _UNTRACED


def _is_whole(ledger: Ledger, test: Executed) -> bool:
    """Python removes a trace function if there is no stack left to call it; by then enough has been seen."""
    failure = failures_of(ledger).get(test.id)
    return test.complete or (failure is not None and failure.type == "RecursionError")


async def traced(runner: Runner, failing: Sequence[str], *, everything: bool) -> Run[ExecuteTests]:
    """Run them and the tests nearest to them, of the whole suite or of their files."""
    seconds = min(MOST_SECONDS, SHARE_OF_TIME * runner.deadline.left)
    trace: Trace = {"failing": [*failing[:MOST_FAILING]], "most_tests": MOST_TESTS, "seconds": seconds}
    files = [*dict.fromkeys(node_id.partition("::")[0] for node_id in failing)]
    if everything:
        run = await runner.run(None, trace=trace)
        # A file outside of the project's testpaths is collected only if it is named.
        if failing[0] in run.ledger.tests or _import_error(run.ledger, files[0]) is not None:
            return run
    return await runner.run(None, paths=files, trace=trace)


def of_run(run: Run[ExecuteTests], node_id: str, changed: Lines) -> list[Suspect]:
    ledger = run.ledger
    found = failures_of(ledger)
    if node_id in found:
        return _shown(_of_failure(ledger, found, node_id, changed))
    text = _import_error(ledger, node_id.partition("::")[0])
    return [] if text is None else _shown(_import_chain(text))


def failures_of(ledger: Ledger) -> dict[str, Failure]:
    failed = [record for record in ledger.completed if record.outcome in ("failed", "error")]
    return {record.node_id: failures.of_record(record) for record in failed}


def _shown(found: Iterable[Ranked]) -> list[Suspect]:
    best = islice(found, MOST_SUSPECTS)
    return [Suspect(in_line(each.file), each.line, in_line(each.function), round(each.score, 2)) for each in best]


def _of_failure(ledger: Ledger, found: Mapping[str, Failure], node_id: str, changed: Lines) -> list[Ranked]:
    target = ledger.executed.get(node_id)
    if target is None:
        return []
    clues = _clues(found[node_id], target, changed)
    compared = _compared(ledger, found, target)
    ran = ranking.ranked(ranking.scores(compared, filter(_is_source, target.lines())), clues)
    return [*ran, *_at_import(ledger, compared, clues)][: 2 * MOST_SUSPECTS] if len(ran) < MOST_SUSPECTS else ran


def _compared(ledger: Ledger, found: Mapping[str, Failure], target: Executed) -> Compared:
    groups = grouping.group([*found.values()])
    alike = next({each.node_id for each in cause.members} for cause in groups if _has(cause, target.id))
    executed = {name: each for name, each in ledger.executed.items() if each.complete}
    passed = [record.node_id for record in ledger.completed if record.outcome == "passed"]
    return Compared(
        target,
        [executed[other] for other in alike - {target.id} if other in executed],
        [executed[other] for other in found.keys() - alike if other in executed],
        [executed[other] for other in passed if other in executed],
    )


def _has(cause: grouping.Group, node_id: str) -> bool:
    return any(each.node_id == node_id for each in cause.members)


def _clues(failure: Failure, target: Executed, changed: Lines) -> Clues:
    own = [place.rpartition(":") for place in reversed(failure.own_places)]
    frames = [(path, int(line)) for path, _, line in own if places.is_source(path) and line.isdecimal()]
    calls = [(file, name) for file, name in target.calls if places.is_source(file)]
    return Clues(frames, calls, changed)


def _is_source(line: Line) -> bool:
    return places.is_source(line.file)


def _at_import(ledger: Ledger, compared: Compared, clues: Clues) -> list[Ranked]:
    """Functions that ran while the test's own file was imported; all tests of that file depend on them."""
    file = compared.target.id.partition("::")[0]
    imported = ledger.executed.get(file)
    if imported is None:
        return []
    own = {(line.file, line.function) for line in compared.target.lines()}
    lines = [line for line in imported.lines() if _is_source(line) and line.function != MODULE]
    dependent = sum(test.id.startswith(f"{file}::") for test in compared.passed)
    scored = {line: AT_IMPORT * ranking.ochiai(1, dependent, 1) for line in lines if line[:2] not in own}
    return ranking.ranked(scored, clues)


def _import_error(ledger: Ledger, file: str) -> str | None:
    """The text of what kept a test file, or a conftest above it, from being imported."""
    for event in ledger.collection_failures:
        folder, _, name = event.file.rpartition("/")
        if event.file == file or (name == "conftest.py" and file.startswith(f"{folder}/" if folder else "")):
            return event.traceback
    return None


def _import_chain(text: str) -> list[Ranked]:
    """Where the import ended, and the places that it came by, the nearest first."""
    frames = [(path, int(line), function) for path, line, function in _FRAME.findall(text)]
    frames += [(path, int(line), MODULE) for path, line in _UNPARSED.findall(text)]
    own = [frame for frame in reversed(frames) if places.is_source(frame[0])]
    return [Ranked(path, function, line, 1 / place) for place, (path, line, function) in enumerate(own, start=1)]
