"""Record runs after they were answered.

In comes what a finished run is recorded as; it is written in a thread, in one transaction, when its answer has been
sent. Nothing here raises into a call: what went wrong becomes one sentence for an answer's notices. What is recorded
of a run is decided in `history/recorded.py`.
"""

import asyncio
import logging
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import anyio

from pytest_mcp.changed.code_state import CodeState, CodeWatch
from pytest_mcp.changed.differences import Comparison
from pytest_mcp.config.history import is_postgres
from pytest_mcp.config.model import Config, History
from pytest_mcp.history import project_name, remarks, retention
from pytest_mcp.history.opening import open_store
from pytest_mcp.history.rows import Origin, RunRow, TestRow
from pytest_mcp.history.store import Unavailable
from pytest_mcp.process import additions
from pytest_mcp.process.background import in_thread

# The answer of a call is still being sent when the call is over.
SETTLE_SECONDS = 0.1
# How long an answer waits to learn whether its run can be recorded, which is asked when the run begins.
OPENING_SECONDS = 2
# How long a server waits for outstanding writes when it stops.
PARTING_SECONDS = 2
# A command is there for its one run.
COMMAND_SECONDS = 5

logger = logging.getLogger(__name__)

# The rows of a run, for which the state of its code must be known.
MakeRows = Callable[[Origin, CodeState], tuple[RunRow, Sequence[TestRow]]]


class Recorder:
    """All recording of one process to one history."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._tasks: set[asyncio.Task[None]] = set()
        # Why an earlier run was not recorded; told once.
        self._problem: str | None = None
        self._code: dict[Path, CodeWatch] = {}

    @contextmanager
    def begin(self, config: Config, comparison: Comparison | None = None) -> Iterator["Recording"]:
        """During a run: look at the code and try to open the history. They are stopped if the block raises.

        `comparison` is the call's own look at the working tree, if it needed one.
        """
        recording = Recording(self, config, comparison)
        try:
            yield recording
        except BaseException:
            recording.drop()
            raise

    def code_of(self, config: Config) -> CodeWatch:
        address = self.history.address
        written = None if is_postgres(address) else Path(address)
        return self._code.setdefault(config.root, CodeWatch(config, written))

    def take_problem(self) -> str | None:
        problem, self._problem = self._problem, None
        return problem

    def write_later(self, recording: "Recording", make: MakeRows) -> None:
        task = asyncio.create_task(self._write(recording, make))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, *, is_awaited: bool) -> str | None:
        """Wait for outstanding writes, but not for ever. Why something was not recorded, if nobody was told yet."""
        if self._tasks:
            seconds = COMMAND_SECONDS if is_awaited else PARTING_SECONDS
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            if late:
                self._fail(f"it was not written within {seconds} seconds")
        return self.take_problem()

    async def _write(self, recording: "Recording", make: MakeRows) -> None:
        try:
            await anyio.sleep(SETTLE_SECONDS)
            code = await recording.code
            await in_thread(lambda: _record(recording, self.history, make, code))
        except Unavailable as error:
            self._fail(str(error))
        except Exception:  # a bug of ours costs a record, not the server
            logger.exception("bug while recording a run")
            self._fail("pytest-mcp failed to write it")

    def _fail(self, problem: str) -> None:
        self._problem = problem
        logger.warning("run not recorded: %s", problem)


class Recording:
    """One run that may be recorded."""

    def __init__(self, recorder: Recorder, config: Config, comparison: Comparison | None) -> None:
        address = recorder.history.address
        self._recorder = recorder
        self.started = time.time()
        self.code = asyncio.create_task(recorder.code_of(config).state(comparison))
        self._opened = asyncio.create_task(in_thread(partial(_problem_of_opening, address)))
        self._is_open = False
        self.root = config.root

    async def notices(self, failures: Sequence[Sequence[str]]) -> list[str]:
        """What recorded runs say of these groups of failures. If this run cannot be recorded, that alone."""
        await asyncio.wait([self._opened], timeout=OPENING_SECONDS)
        late = f"it did not answer within {OPENING_SECONDS} seconds"
        if problem := self._opened.result() if self._opened.done() else late:
            return [f"This run is not recorded in the history: {problem}."]
        self._is_open = True
        earlier = self._recorder.take_problem()
        lost = [] if earlier is None else [f"An earlier run was not recorded in the history: {earlier}."]
        if not failures:
            return lost
        past = in_thread(partial(remarks.look, self._recorder.history, self.root, failures))
        told = await additions.awaited("recorded runs", past, instead=[], seconds=remarks.LONGEST)
        return [*(remark.sentence for remark in told), *lost]

    def keep(self, make: MakeRows) -> None:
        """Record it as soon as its answer has been sent, unless `notices` found that it cannot be."""
        if self._is_open:
            self._recorder.write_later(self, make)

    def drop(self) -> None:
        self.code.cancel()
        self._opened.cancel()


@cache
def of(history: History) -> Recorder:
    """The one recorder of this process."""
    return Recorder(history)


def _problem_of_opening(address: str) -> str | None:
    try:
        open_store(address).close()
    except Unavailable as error:
        return str(error)
    return None


def _record(recording: Recording, history: History, make: MakeRows, code: CodeState) -> None:
    origin = Origin(uuid.uuid4().hex, recording.started, project_name.of(recording.root), socket.gethostname())
    run, tests = make(origin, code)
    store = open_store(history.address)
    try:
        store.record(run, tests)
        retention.thin(store, history, now=time.time())
    finally:
        store.close()
