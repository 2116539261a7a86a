"""Record runs after they were answered, and what is recorded of one.

A run is written in a thread, in one transaction, when its answer has been sent. Nothing here raises into a call: what
went wrong becomes one sentence for an answer's notices. Nothing that a test printed, no message and no source is
recorded: the cause of a failure is a fingerprint.
"""

import asyncio
import hashlib
import json
import logging
import socket
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import anyio

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import Outcome
from pytest_mcp.changed.code_state import CodeState, CodeWatch
from pytest_mcp.changed.working_tree import TreeComparison
from pytest_mcp.config.model import Config, History
from pytest_mcp.history import remarks, retention
from pytest_mcp.history.runs import project_name
from pytest_mcp.history.store import HistoryUnavailable, Letter, RunRow, TestRow, open_store
from pytest_mcp.process.background import in_thread
from pytest_mcp.report import grouping, rerun
from pytest_mcp.report.report import Report

# The answer of a call is still being sent when the call is over.
SETTLE_SECONDS = 0.1
# How long an answer waits to learn whether its run can be recorded, which is asked when the run begins.
OPENING_SECONDS = 2
# How long a server waits for outstanding writes when it stops, and a command, which is there for its one run.
PARTING_SECONDS = 2
COMMAND_SECONDS = 5
_LETTERS: dict[Outcome, Letter] = {"passed": "P", "failed": "F", "skipped": "S", "error": "E"}

logger = logging.getLogger(__name__)


class RunRecorder:
    """All recording of one process to one history."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.tasks: set[asyncio.Task[None]] = set()
        # Why an earlier run was not recorded; told once.
        self._problem: str | None = None
        self._code: dict[Path, CodeWatch] = {}

    @contextmanager
    def begin(self, config: Config, comparison: TreeComparison | None = None) -> Iterator["Recording"]:
        """During a run: look at the code and try to open the history. They are stopped unless the run is kept.

        `comparison` is the call's own look at the working tree, if it needed one.
        """
        watch = self._code.setdefault(config.root, CodeWatch(config))
        code = asyncio.create_task(watch.state(comparison))
        opened = asyncio.create_task(in_thread(partial(_problem_of_opening, self.history.address)))
        recording = Recording(self, config.root, code, opened)
        try:
            yield recording
        finally:
            if not recording.is_kept:
                code.cancel()
                opened.cancel()

    def take_problem(self) -> str | None:
        problem, self._problem = self._problem, None
        return problem

    async def finish(self, *, is_awaited: bool) -> str | None:
        """Wait for outstanding writes, but not for ever. Why something was not recorded, if nobody was told yet."""
        if self.tasks:
            seconds = COMMAND_SECONDS if is_awaited else PARTING_SECONDS
            _, late = await asyncio.wait(self.tasks, timeout=seconds)
            if late:
                self._fail(f"it was not written within {seconds} seconds")
        return self.take_problem()

    async def write(self, recording: "Recording", request: ExecuteTests, report: Report) -> None:
        try:
            await anyio.sleep(SETTLE_SECONDS)
            run = run_row(request, report, recording, await recording.code)
            await in_thread(lambda: _record(self.history, run, test_rows(report)))
        except HistoryUnavailable as error:
            self._fail(str(error))
        except Exception:  # a bug of ours costs a record, not the server
            logger.exception("bug while recording a run")
            self._fail("pytest-mcp failed to write it")

    def _fail(self, problem: str) -> None:
        self._problem = problem
        logger.warning("run not recorded: %s", problem)


@dataclass
class Recording:
    """One run that may be recorded."""

    recorder: RunRecorder
    root: Path
    code: asyncio.Task[CodeState]
    # Why the history cannot be opened.
    opened: asyncio.Task[str | None]
    started: float = field(default_factory=time.time)
    is_open: bool = False
    is_kept: bool = False

    async def notices(self, failures: Sequence[Sequence[str]]) -> list[str]:
        """What recorded runs say of these groups of failures. If this run cannot be recorded, that alone."""
        await asyncio.wait([self.opened], timeout=OPENING_SECONDS)
        late = f"it did not answer within {OPENING_SECONDS} seconds"
        if problem := self.opened.result() if self.opened.done() else late:
            return [f"This run is not recorded in the history: {problem}."]
        self.is_open = True
        earlier = self.recorder.take_problem()
        lost = [] if earlier is None else [f"An earlier run was not recorded in the history: {earlier}."]
        past = await remarks.remarks_in_time(self.recorder.history, self.root, failures) if failures else {}
        return [*(f"{node_id}: {words}." for node_id, words in past.items()), *lost]

    def keep(self, request: ExecuteTests, report: Report) -> None:
        """Record it as soon as its answer has been sent, unless `notices` found that it cannot be."""
        self.is_kept = self.is_open
        if self.is_kept:
            task = asyncio.create_task(self.recorder.write(self, request, report))
            self.recorder.tasks.add(task)
            task.add_done_callback(self.recorder.tasks.discard)


@cache
def recorder_of(history: History) -> RunRecorder:
    """The one recorder of this process."""
    return RunRecorder(history)


def run_row(request: ExecuteTests, report: Report, recording: Recording, code: CodeState) -> RunRow:
    environment = report.environment
    assert environment is not None, "what is recorded has run"
    return RunRow(
        key=uuid.uuid4().hex,
        started=recording.started,
        project=project_name(recording.root),
        root=environment.root,
        commit_id=code.commit,
        state=code.hash,
        dirty=int(code.dirty),
        selection=_selection(request, report),
        verdict=report.verdict,
        passed=report.summary.passed,
        failed=report.summary.failed,
        skipped=report.summary.skipped,
        errors=report.summary.errors,
        duration=report.summary.duration,
        python=environment.python or "",
        pytest=environment.pytest or "",
        host=socket.gethostname(),
    )


def test_rows(report: Report) -> list[TestRow]:
    causes: dict[str, str] = {}
    for group in report.groups:
        # Equal for groups whose causes differ only in numbers, addresses, paths and parameters.
        cause = grouping.masked(group.example.cause, group.example.node_id)
        fingerprint = hashlib.sha256(cause.encode("utf-8", "replace")).hexdigest()[:16]
        causes |= {failure.node_id: fingerprint for failure in group.members}
    return [
        TestRow(test.node_id, _LETTERS[test.outcome], round(test.duration, 6), causes.get(test.node_id), test.worker)
        for test in report.tests
    ]


def _selection(request: ExecuteTests, report: Report) -> str:
    """The arguments that chose the tests; `{}` is everything."""
    chosen = rerun.same_selection(request)
    if request.changed is not None:
        chosen["changed"] = request.changed
    if report.shard is not None:
        chosen["shard"] = f"{report.shard.index}/{report.shard.count}"
    return json.dumps(chosen, sort_keys=True, separators=(",", ":"))


def _problem_of_opening(address: str) -> str | None:
    try:
        open_store(address).close()
    except HistoryUnavailable as error:
        return str(error)
    return None


def _record(history: History, run: RunRow, tests: Sequence[TestRow]) -> None:
    with closing(open_store(history.address)) as store:
        store.record(run, tests)
        retention.thin(store, history, now=time.time())
