"""How much of an execution's result is sent.

Pure: the complete result, the request's detail and max_tokens, and the operator's ceiling in; the answer that is sent
out, with `omitted` saying what is missing. An answer that does not fit loses its parts in a fixed order:

    text output, passing tests, further ids of groups, captured output, frames outside the project,
    the middle of messages and diffs, and finally whole examples.

Verdict, counts, notices and one line per cause are kept as long as possible; hundreds of causes are merged into fewer
lines. If that is still too much, all causes share one line, then the last notices go, then every text is truncated.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

from pydantic import BaseModel

from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE, ExecuteResult, FailureGroup, Omitted, TestResult
from pytest_mcp.report import collection_errors, grouping, pytest_output, rerun, tokens, tracebacks, truncation
from pytest_mcp.text import cut_middle

# A longer text_output is cut in its middle, except with detail full.
TEXT_CHARACTERS = 4000
# How many further ids a group shows.
IDS_OF_A_GROUP = 5
# How many ids rerun lists before it names their folder instead.
IDS_OF_RERUN = 20
# If a message of several lines is longer than this, only the traceback has all of it.
REPEATED_CHARACTERS = 400
# A text is not cut below this length until whole examples are removed.
SHORTEST_TEXT = 200
# JSON has at least this many bytes per token on average.
BYTES_PER_TOKEN = 4
SHORTENED = "shortened to fit; raise max_tokens, select fewer tests or use detail: full"
# The share of the budget that causes may use before they are merged.
SHARE_OF_CAUSES = 0.6

Fitted = TypeVar("Fitted", bound=ExecuteResult)
Answer = TypeVar("Answer", bound=BaseModel)


def fit_execution(result: Fitted, request: ExecuteTests, *, ceiling: int) -> Fitted:
    """What `detail` asks for, or as much of it as fits `max_tokens` and the ceiling in bytes."""
    is_small_enough = tokens.limit(request, ceiling)
    if request.detail == "full":
        whole = shown = result
    else:
        whole = result.model_copy(update={"text_output": pytest_output.condense(result.text_output)})
        shown = whole.model_copy(update={"text_output": cut_middle(whole.text_output, TEXT_CHARACTERS)})
    first = _digest(shown) if request.detail == "auto" else shown
    texts = {test.node_id: tracebacks.plain(test.traceback or "") for test in whole.tests}

    def with_omitted(answer: Fitted) -> Fitted:
        return _with_omitted(answer, whole, texts, "detail: tests" if answer is first else SHORTENED)

    def fits(answer: Fitted) -> bool:
        return is_small_enough(with_omitted(answer))

    smaller = first
    for smaller in _reductions(first, fits, most=_most_tokens(request, ceiling)):
        if fits(smaller):
            break
    return with_omitted(smaller)


def _most_tokens(request: Request, ceiling: int) -> int:
    most = ceiling // BYTES_PER_TOKEN
    return most if request.detail == "full" else min(most, request.max_tokens or request.default_max_tokens)


def _digest(result: Fitted) -> Fitted:
    """What detail auto shows if everything fits: one example of each cause, with a shortened traceback."""
    return result.model_copy(
        update={
            "collection_errors": [
                collection_errors.without_outside_frames(error) for error in result.collection_errors
            ],
            "failure_groups": [_with_ids(cause, IDS_OF_A_GROUP) for cause in result.failure_groups],
            "tests": [_slim(test) for test in _shown(result)],
            "rerun": rerun.shorter(result.rerun, IDS_OF_RERUN),
        }
    )


def _shown(result: ExecuteResult) -> list[TestResult]:
    """The example of each group, in the order of the groups; then the tests without a failure if they are few."""
    by_id = {test.node_id: test for test in result.tests}
    examples = [by_id[cause.example] for cause in result.failure_groups if cause.example in by_id]
    not_failed = [test for test in result.tests if not _is_failed(test)]
    return [*examples, *(not_failed if len(not_failed) <= LISTED_WITHOUT_FAILURE else [])]


def _slim(test: TestResult) -> TestResult:
    if test.traceback is None:
        return test
    message = test.message or ""
    if len(message) > REPEATED_CHARACTERS and "\n" in message:
        message = tracebacks.brief(message)
    return test.model_copy(update={"message": message, "traceback": tracebacks.slim(test.traceback)})


# --- the reductions, in their order ------------------------------------------------------------


def _reductions(shown: Fitted, fits: Callable[[Fitted], bool], *, most: int) -> Iterator[Fitted]:
    """The answer, then smaller and smaller versions of it."""
    yield shown
    shown = shown.model_copy(update={"text_output": ""})
    yield shown
    shown = shown.model_copy(update={"json_report": None})
    yield shown
    shown = _with_fewer_not_failed(shown, fits)
    yield shown
    shown = shown.model_copy(update={"tests": _shown(shown), "rerun": rerun.shorter(shown.rerun, IDS_OF_RERUN)})
    shown = _largest(IDS_OF_A_GROUP, lambda number: _with_fewer_ids(shown, number), fits)
    yield shown
    shown = _with_tracebacks(shown, tracebacks.without_captured)
    yield shown
    shown = _with_tracebacks(shown, tracebacks.without_foreign_frames)
    yield shown
    shown = _with_fewer_causes(shown, int(most * SHARE_OF_CAUSES))
    yield shown
    yield from _with_shorter_texts(shown)
    tests = [_cut(test, SHORTEST_TEXT) for test in shown.tests]
    shown = _largest(len(tests), lambda number: shown.model_copy(update={"tests": tests[:number]}), fits)
    yield shown
    shown = shown.model_copy(update={"rerun": rerun.shorter(shown.rerun, 0)})
    yield shown
    shown = _largest(len(shown.failure_groups), lambda number: _with_shared_causes(shown, number), fits)
    yield shown
    for errors in collection_errors.reduced(shown.collection_errors):
        shown = shown.model_copy(update={"collection_errors": errors})
        yield shown
    shown = shown.model_copy(update={"rerun": shown.rerun and rerun.EVERYTHING})
    yield shown
    shown = _largest(len(shown.notices), lambda number: _with_fewer_notices(shown, number), fits)
    yield shown
    yield from truncation.truncated(shown)


def _largest(most: int, made: Callable[[int], Answer], fits: Callable[[Answer], bool]) -> Answer:
    """`made(number)` for the largest number that fits, found by bisection; `made(0)` if none fits."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if fits(made(middle)):
            least = middle
        else:
            most = middle - 1
    return made(least)


def _is_failed(test: TestResult) -> bool:
    return test.outcome in ("failed", "error")


def _with_fewer_not_failed(shown: Fitted, fits: Callable[[Fitted], bool]) -> Fitted:
    failed = [test for test in shown.tests if _is_failed(test)]
    others = [test for test in shown.tests if not _is_failed(test)]
    return _largest(len(others), lambda number: shown.model_copy(update={"tests": [*failed, *others[:number]]}), fits)


def _with_fewer_ids(shown: Fitted, number: int) -> Fitted:
    return shown.model_copy(update={"failure_groups": [_with_ids(cause, number) for cause in shown.failure_groups]})


def _with_ids(cause: FailureGroup, number: int) -> FailureGroup:
    return cause.model_copy(update={"node_ids": cause.node_ids[:number]})


def _with_fewer_notices(shown: Fitted, number: int) -> Fitted:
    return shown.model_copy(update={"notices": truncation.first_notices(shown.notices, number)})


def _with_tracebacks(shown: Fitted, shorter: Callable[[str], str]) -> Fitted:
    tests = [test.model_copy(update={"traceback": test.traceback and shorter(test.traceback)}) for test in shown.tests]
    return shown.model_copy(update={"tests": tests})


def _with_fewer_causes(shown: Fitted, most: int) -> Fitted:
    """Merge causes until they fit `most` tokens: first those with the same words, finally those of the same type."""
    groups = shown.failure_groups
    for fewer in (groups, *grouping.coarser(groups)):
        groups = [_with_ids(cause, 0) for cause in fewer]
        if sum(map(_tokens, groups)) <= most:
            break
    for errors in (shown.collection_errors, *collection_errors.reduced(shown.collection_errors)):
        if sum(map(_tokens, errors)) <= most:
            break
    return _with_causes(shown.model_copy(update={"collection_errors": errors}), groups)


def _with_shared_causes(shown: Fitted, number: int) -> Fitted:
    groups = [_with_ids(cause, 0) for cause in grouping.with_shared_tail(shown.failure_groups, number)]
    return _with_causes(shown, groups)


def _with_causes(shown: Fitted, groups: list[FailureGroup]) -> Fitted:
    examples = {cause.example for cause in groups}
    tests = [test for test in shown.tests if test.node_id in examples]
    return shown.model_copy(update={"failure_groups": groups, "tests": tests})


def _with_shorter_texts(shown: Fitted) -> Iterator[Fitted]:
    """The longest texts are cut in their middle first."""
    longest = max([len(test.traceback or "") for test in shown.tests], default=0)
    while longest > SHORTEST_TEXT:
        longest = max(SHORTEST_TEXT, longest * 2 // 3)
        yield shown.model_copy(update={"tests": [_cut(test, longest) for test in shown.tests]})


def _cut(test: TestResult, most: int) -> TestResult:
    return test.model_copy(
        update={
            "message": test.message and cut_middle(test.message, max(SHORTEST_TEXT, most // 2), separator=" "),
            "traceback": test.traceback and cut_middle(test.traceback, most),
        }
    )


# --- `omitted` ---------------------------------------------------------------------------------


def _with_omitted(shown: Fitted, whole: ExecuteResult, texts: dict[str, str], hint: str) -> Fitted:
    left_out = _left_out(whole, shown)
    missing = sum(max(0, len(texts.get(test.node_id, "")) - len(test.traceback or "")) for test in shown.tests)
    characters = missing + max(0, len(whole.text_output) - len(shown.text_output))
    is_reduced = len(shown.collection_errors) < len(whole.collection_errors) or shown.json_report != whole.json_report
    if not left_out and not characters and not is_reduced:
        return shown
    omitted = Omitted(
        passed=left_out["passed"],
        skipped=left_out["skipped"],
        same_cause_failures=left_out["failed"] + left_out["error"],
        text_characters=characters,
        hint=hint,
    )
    return shown.model_copy(update={"omitted": omitted})


def _left_out(whole: ExecuteResult, shown: ExecuteResult) -> Counter[str]:
    """How many tests of each outcome are not among those shown."""
    counted = whole.summary
    ran = Counter({"passed": counted.passed, "failed": counted.failed, "skipped": counted.skipped})
    ran["error"] = counted.errors - len(whole.collection_errors)
    return ran - Counter(test.outcome for test in shown.tests)


def _tokens(part: BaseModel) -> int:
    return tokens.estimate(part.model_dump_json())
