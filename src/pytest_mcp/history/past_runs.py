"""What recorded runs say: the handler of `test_history`, and one line of evidence for `investigate_failure`.

How a question is answered is decided in `history/questions`, how much of it is sent here. Loaded only with a history.
"""

import time
from collections.abc import Callable
from functools import partial

import anyio

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import OmittedTests
from pytest_mcp.config.model import Config, History
from pytest_mcp.history import project_name, remarks
from pytest_mcp.history.answer import DEFAULT_TOKENS, About, HistoryResult, TestHistory
from pytest_mcp.history.opening import reading
from pytest_mcp.history.questions import failing, flaky, one_test, slow
from pytest_mcp.history.runs import OMITTED, Scope
from pytest_mcp.history.store import Unavailable
from pytest_mcp.process import additions
from pytest_mcp.process.background import in_thread
from pytest_mcp.report import serialize, tokens
from pytest_mcp.run.run import Project
from pytest_mcp.text import safe

SECONDS_PER_DAY = 86_400
# A question takes a fifth of a second. This only ends one to a database that does not answer.
LONGEST_ANSWER = 5

# How many entries are tried, until the answer fits.
SIZES = (200, 100, 60, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1, 0)

_QUESTIONS: dict[About, Callable[[Scope, str], HistoryResult]] = {
    "flaky": flaky.ask,
    "slow": slow.ask,
    "failing": failing.ask,
    "test": one_test.ask,
}


async def answer(request: TestHistory, project: Project) -> HistoryResult:
    config = project.config
    assert config.history is not None
    with anyio.move_on_after(LONGEST_ANSWER):
        return await in_thread(partial(_answer, request, config, config.history))
    raise _unreadable(f"it did not answer within {LONGEST_ANSWER} seconds")


async def evidence(config: Config, node_id: str) -> list[str]:
    """At most one line; none if the history cannot be read in time."""
    if config.history is None:
        return []
    asked = in_thread(partial(remarks.look, config.history, config.root, [[node_id]]))
    told = await additions.awaited("recorded runs", asked, instead=[], seconds=remarks.LONGEST)
    return [f"recorded runs: {each.words}" for each in told]


def _answer(request: TestHistory, config: Config, history: History) -> HistoryResult:
    try:
        with reading(history.address) as store:
            since = time.time() - request.days * SECONDS_PER_DAY
            found = _QUESTIONS[request.about](Scope(store, project_name.of(config.root), since), request.place)
            return fitted(found, most_tokens=request.max_tokens or DEFAULT_TOKENS, ceiling=config.max_reply_bytes)
    except Unavailable as error:
        raise _unreadable(str(error)) from error


def _unreadable(why: str) -> ExecutionFailed:
    return ExecutionFailed("environment", f"The history cannot be read: {why}", RunFacts())


def fitted(found: HistoryResult, *, most_tokens: int, ceiling: int) -> HistoryResult:
    """With as many entries as fit; the others are counted."""
    for size in SIZES:
        answer = _cut(found, size)
        sent = safe(serialize.line(answer.model_dump(mode="json")))
        if len(sent.encode()) <= ceiling and tokens.estimate(sent) <= most_tokens:
            break
    return answer


def _cut(found: HistoryResult, most: int) -> HistoryResult:
    """At most so many entries of each list, and of one test a part of its runs and days."""
    slow, test = found.slow, found.test
    left = len((found.flaky or [])[most:]) + sum(group.count for group in (found.failing or [])[most:])
    if slow is not None:
        left += len(slow.changed[most:]) + len(slow.suites[most:])
        parts = {"changed": slow.changed[:most], "suites": slow.suites[:most], "slowest": slow.slowest[: max(1, most)]}
        slow = slow.model_copy(update=parts)
    if test is not None:
        parts = {
            "pattern": test.pattern[-5 * most - 1 :],
            "daily": test.daily[len(test.daily) - most :] if most < len(test.daily) else test.daily,
        }
        test = test.model_copy(update=parts)
    left += found.omitted.tests if found.omitted else 0
    return found.model_copy(
        update={
            "flaky": found.flaky and found.flaky[:most],
            "slow": slow,
            "failing": found.failing and found.failing[:most],
            "test": test,
            "omitted": OmittedTests(tests=left, hint=OMITTED) if left else None,
        }
    )
