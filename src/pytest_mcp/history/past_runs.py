"""What recorded runs say: the handler of `test_history`, and one line of evidence for `investigate_failure`.

Each question is answered in a module of its own; how much of an answer is sent is decided here.
"""

import time
from collections.abc import Callable
from functools import partial

import anyio

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import OmittedTests
from pytest_mcp.config.model import Config
from pytest_mcp.history import remarks
from pytest_mcp.history.answer import DEFAULT_TOKENS, About, Durations, HistoryResult, TestHistory
from pytest_mcp.history.durations import slow_tests
from pytest_mcp.history.failing import failing_tests
from pytest_mcp.history.flaky import flaky_tests
from pytest_mcp.history.one_test import one_test
from pytest_mcp.history.retention import SECONDS_PER_DAY
from pytest_mcp.history.runs import OMITTED, Runs, reading
from pytest_mcp.history.store import HistoryUnavailable
from pytest_mcp.process.background import in_thread
from pytest_mcp.report import serialize, tokens
from pytest_mcp.run.run import Project
from pytest_mcp.text import safe

# A question takes a fifth of a second. This only ends one to a database that does not answer.
MAX_ANSWER = 5

# How many entries are tried, until the answer fits.
SIZES = (200, 100, 60, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1, 0)

_QUESTIONS: dict[About, Callable[[Runs, str], HistoryResult]] = {
    "flaky": flaky_tests,
    "slow": slow_tests,
    "failing": failing_tests,
    "test": one_test,
}


async def answer(request: TestHistory, project: Project) -> HistoryResult:
    with anyio.move_on_after(MAX_ANSWER):
        return await in_thread(partial(_answer, request, project.config))
    raise _unreadable(f"it did not answer within {MAX_ANSWER} seconds")


async def evidence(config: Config, node_id: str) -> list[str]:
    """At most one line; none if the history cannot be read in time."""
    if config.history is None:
        return []
    past = await remarks.remarks_in_time(config.history, config.root, [[node_id]])
    return [f"recorded runs: {words}" for words in past.values()]


def _answer(request: TestHistory, config: Config) -> HistoryResult:
    assert config.history is not None
    try:
        with reading(config.history, config.root, time.time() - request.days * SECONDS_PER_DAY) as runs:
            whole = _QUESTIONS[request.about](runs, request.place)
            return fitted(whole, most_tokens=request.max_tokens or DEFAULT_TOKENS, ceiling=config.max_reply_bytes)
    except HistoryUnavailable as error:
        raise _unreadable(str(error)) from error


def _unreadable(why: str) -> ExecutionFailed:
    return ExecutionFailed("environment", f"The history cannot be read: {why}", RunFacts())


def fitted(whole: HistoryResult, *, most_tokens: int, ceiling: int) -> HistoryResult:
    """With as many entries as fit; the others are counted."""
    for size in SIZES:
        answer = _cut(whole, size)
        sent = safe(serialize.line(answer.model_dump(mode="json")))
        if len(sent.encode()) <= ceiling and tokens.estimate(sent) <= most_tokens:
            break
    return answer


def _cut(whole: HistoryResult, most: int) -> HistoryResult:
    """At most so many entries of each list, and of one test a part of its runs and days."""
    flaky, slow, failing, test = whole.flaky, whole.slow, whole.failing, whole.test
    left = whole.omitted.tests if whole.omitted else 0
    left += len((flaky or [])[most:]) + sum(group.count for group in (failing or [])[most:])
    if slow is not None:
        left += len(slow.changed[most:]) + len(slow.suites[most:])
        slow = Durations(changed=slow.changed[:most], suites=slow.suites[:most], slowest=slow.slowest[: max(1, most)])
    if test is not None:
        daily = test.daily[max(0, len(test.daily) - most) :]
        test = test.model_copy(update={"pattern": test.pattern[-5 * most - 1 :], "daily": daily})
    return HistoryResult(
        runs=whole.runs,
        flaky=flaky and flaky[:most],
        slow=slow,
        failing=failing and failing[:most],
        test=test,
        notices=whole.notices,
        omitted=OmittedTests(tests=left, hint=OMITTED) if left else None,
    )
