"""What recorded runs say: the handler of `test_history`, and one line of evidence for `investigate_failure`.

In comes a request; out comes its answer, or the error that the history cannot be read. How a question is answered is
decided in `history/questions`, how much of it is sent in `report/history/answers.py`. Loaded only with a history.
"""

import time
from collections.abc import Callable
from functools import partial

import anyio

from pytest_mcp.api.errors import ExecutionFailed, Fault, InvalidParams, RunFacts
from pytest_mcp.api.history import HistoryResult, TestHistory
from pytest_mcp.config.model import Config, History
from pytest_mcp.execution import additions
from pytest_mcp.execution.background import in_thread
from pytest_mcp.history import project_name, remarks
from pytest_mcp.history.opening import reading
from pytest_mcp.history.questions import failing, flaky, one_test, slow
from pytest_mcp.history.questions.runs import Scope, ids_below, node_ids
from pytest_mcp.history.store import Unavailable
from pytest_mcp.report.history import answers
from pytest_mcp.running.project import Project
from pytest_mcp.text import label

SECONDS_PER_DAY = 86_400
# A question takes a fifth of a second. This only ends one to a database that does not answer.
LONGEST_ANSWER = 5

Answer = Callable[[int], HistoryResult]


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
    return [f"recorded runs: {each.removeprefix(f'{node_id}: ').removesuffix('.')}" for each in told]


def _answer(request: TestHistory, config: Config, history: History) -> HistoryResult:
    try:
        with reading(history.address) as store:
            since = time.time() - request.days * SECONDS_PER_DAY
            made = _asked(request, Scope(store, project_name.of(config.root), since))
            return answers.fitted(made, request, ceiling=config.max_reply_bytes)
    except Unavailable as error:
        raise _unreadable(str(error)) from error


def _unreadable(why: str) -> ExecutionFailed:
    return ExecutionFailed("environment", f"The history cannot be read: {why}", RunFacts())


def _asked(request: TestHistory, scope: Scope) -> Answer:
    match request.about:
        case "flaky":
            return _flaky(request, scope)
        case "slow":
            return _slow(request, scope)
        case "failing":
            return _failing(request, scope)
        case "test":
            return _test(request, scope)


def _flaky(request: TestHistory, scope: Scope) -> Answer:
    found = flaky.ask(scope, request.place)
    return partial(answers.of_flaky, found, node_ids(scope.store, [each.test for each in found.tests]))


def _slow(request: TestHistory, scope: Scope) -> Answer:
    found = slow.ask(scope, request.place)
    shown = [*found.tests, *(test for test, _ in found.slowest[: answers.SLOWEST])]
    return partial(answers.of_slow, found, node_ids(scope.store, shown))


def _failing(request: TestHistory, scope: Scope) -> Answer:
    found = failing.ask(scope, request.place)
    return partial(
        answers.of_failing, found, node_ids(scope.store, [test for group in found.groups for test in group.tests])
    )


def _test(request: TestHistory, scope: Scope) -> Answer:
    node_id = request.place
    test = one_test.find(scope, node_id)
    if test is not None:
        return partial(answers.of_test, one_test.ask(scope, node_id, test))
    several = sorted(node_ids(scope.store, sorted(ids_below(scope, node_id) or ())).values())
    if several:
        problem = f"names {len(several)} recorded tests; name one of them, for example {label(several[0])}"
        raise InvalidParams([Fault("node_id", problem, "several_tests", node_id)])
    return lambda _: answers.of_nothing("No run of this test is recorded.")
