"""How much of an answer is sent.

Pure: everything that could be shown, what the request says of detail and tokens, and the operator's
ceiling in; the answer that is sent, and what it leaves out, out. What does not fit goes in a fixed order:

    text output, passing tests, further ids of groups, captured output, frames outside the project,
    the middle of messages and diffs, and last whole examples.

Verdict, counts, notices and one line for every cause stay as long as they can; causes by the hundred share lines.
Where even that is too much they share one, then the last notices go, then everything is cut short: the budget holds.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

from pydantic import BaseModel

from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.results import LISTED_WITHOUT_FAILURE, ExecuteResult, FailureGroup, Omitted, TestResult
from pytest_mcp.report import collection_errors, grouping, last_resort, pytest_output, rerun, tokens, tracebacks
from pytest_mcp.report.token_limit import limit
from pytest_mcp.text import cut_middle

# What pytest printed is cut in its middle beyond this, except with detail full.
TEXT_CHARACTERS = 4000
# How many further ids a group shows, and rerun names, before files and folders stand for them.
IDS_OF_A_GROUP = 5
IDS_OF_RERUN = 20
# A message of several lines that is longer than this is whole in the traceback only.
REPEATED_CHARACTERS = 400
# The least that is left of a text whose middle is cut.
LEAST_TEXT = 200
# No token of JSON takes fewer bytes for long.
LEAST_BYTES_OF_A_TOKEN = 4
FITTED = "it had to fit; raise max_tokens, choose fewer tests or ask for detail full"
# What causes may take of the budget before they share lines.
SHARE_OF_CAUSES = 0.6

Fitted = TypeVar("Fitted", bound=ExecuteResult)
Answer = TypeVar("Answer", bound=BaseModel)


def fit_execution(result: Fitted, request: ExecuteTests, *, ceiling: int) -> Fitted:
    """What `detail` asks for, or as much of it as `max_tokens` and the ceiling in bytes leave."""
    small_enough = limit(request, ceiling)
    if request.detail == "full":
        whole = shown = result
    else:
        whole = result.model_copy(update={"text_output": pytest_output.condense(result.text_output)})
        shown = whole.model_copy(update={"text_output": cut_middle(whole.text_output, TEXT_CHARACTERS)})
    first = _digest(shown) if request.detail == "auto" else shown
    texts = {test.node_id: tracebacks.plain(test.traceback or "") for test in whole.tests}

    def told(answer: Fitted) -> Fitted:
        return _with_omitted(answer, whole, texts, "detail: tests" if answer is first else FITTED)

    def fits(answer: Fitted) -> bool:
        return small_enough(told(answer))

    smaller = first
    for smaller in _sacrifices(first, fits, most=_most_tokens(request, ceiling)):
        if fits(smaller):
            break
    return told(smaller)


def _most_tokens(request: Request, ceiling: int) -> int:
    most = ceiling // LEAST_BYTES_OF_A_TOKEN
    return most if request.detail == "full" else min(most, request.max_tokens or request.default_max_tokens)


def _digest(result: Fitted) -> Fitted:
    """What detail auto shows when everything fits: each cause once, without decoration."""
    return result.model_copy(
        update={
            "collection_errors": [collection_errors.without_machinery(error) for error in result.collection_errors],
            "failure_groups": [_with_ids(cause, IDS_OF_A_GROUP) for cause in result.failure_groups],
            "tests": [_slim(test) for test in _shown(result)],
            "rerun": rerun.shorter(result.rerun, IDS_OF_RERUN),
        }
    )


def _shown(result: ExecuteResult) -> list[TestResult]:
    """One failure of each group, whole, in the order of the groups; then the others if they are few."""
    by_id = {test.node_id: test for test in result.tests}
    examples = [by_id[cause.example] for cause in result.failure_groups if cause.example in by_id]
    quiet = [test for test in result.tests if not _is_bad(test)]
    return [*examples, *(quiet if len(quiet) <= LISTED_WITHOUT_FAILURE else [])]


def _slim(test: TestResult) -> TestResult:
    if test.traceback is None:
        return test
    message = test.message or ""
    if len(message) > REPEATED_CHARACTERS and "\n" in message:
        message = tracebacks.brief(message)
    return test.model_copy(update={"message": message, "traceback": tracebacks.slim(test.traceback)})


# --- what is given up, in this order -----------------------------------------------------------


def _sacrifices(shown: Fitted, fits: Callable[[Fitted], bool], *, most: int) -> Iterator[Fitted]:
    """The answer, and ever less of it."""
    yield shown
    shown = shown.model_copy(update={"text_output": ""})
    yield shown
    shown = shown.model_copy(update={"json_report": None})
    yield shown
    shown = _with_fewer_quiet_tests(shown, fits)
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
    tests = [_cut(test, LEAST_TEXT) for test in shown.tests]
    shown = _largest(len(tests), lambda number: shown.model_copy(update={"tests": tests[:number]}), fits)
    yield shown
    shown = shown.model_copy(update={"rerun": rerun.shorter(shown.rerun, 0)})
    yield shown
    shown = _largest(len(shown.failure_groups), lambda number: _with_shared_causes(shown, number), fits)
    yield shown
    for errors in collection_errors.ever_fewer(shown.collection_errors):
        shown = shown.model_copy(update={"collection_errors": errors})
        yield shown
    shown = shown.model_copy(update={"rerun": shown.rerun and rerun.EVERYTHING})
    yield shown
    shown = _largest(len(shown.notices), lambda number: _with_fewer_notices(shown, number), fits)
    yield shown
    yield from last_resort.ever_less(shown)


def _largest(most: int, made: Callable[[int], Answer], fits: Callable[[Answer], bool]) -> Answer:
    """What is made of the largest number that fits, or of none."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if fits(made(middle)):
            least = middle
        else:
            most = middle - 1
    return made(least)


def _is_bad(test: TestResult) -> bool:
    return test.outcome in ("failed", "error")


def _with_fewer_quiet_tests(shown: Fitted, fits: Callable[[Fitted], bool]) -> Fitted:
    bad = [test for test in shown.tests if _is_bad(test)]
    quiet = [test for test in shown.tests if not _is_bad(test)]
    return _largest(len(quiet), lambda number: shown.model_copy(update={"tests": [*bad, *quiet[:number]]}), fits)


def _with_fewer_ids(shown: Fitted, number: int) -> Fitted:
    return shown.model_copy(update={"failure_groups": [_with_ids(cause, number) for cause in shown.failure_groups]})


def _with_ids(cause: FailureGroup, number: int) -> FailureGroup:
    return cause.model_copy(update={"node_ids": cause.node_ids[:number]})


def _with_fewer_notices(shown: Fitted, number: int) -> Fitted:
    return shown.model_copy(update={"notices": last_resort.with_notices(shown.notices, number)})


def _with_tracebacks(shown: Fitted, shorter: Callable[[str], str]) -> Fitted:
    tests = [test.model_copy(update={"traceback": test.traceback and shorter(test.traceback)}) for test in shown.tests]
    return shown.model_copy(update={"tests": tests})


def _with_fewer_causes(shown: Fitted, most: int) -> Fitted:
    """Causes by the hundred share lines: first those of the same words, at last those of the same type."""
    groups = shown.failure_groups
    for fewer in (groups, *grouping.coarser(groups)):
        groups = [_with_ids(cause, 0) for cause in fewer]
        if sum(map(_tokens, groups)) <= most:
            break
    for errors in (shown.collection_errors, *collection_errors.ever_fewer(shown.collection_errors)):
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
    """The middles of the longest texts go first."""
    longest = max([len(test.traceback or "") for test in shown.tests], default=0)
    while longest > LEAST_TEXT:
        longest = max(LEAST_TEXT, longest * 2 // 3)
        yield shown.model_copy(update={"tests": [_cut(test, longest) for test in shown.tests]})


def _cut(test: TestResult, most: int) -> TestResult:
    return test.model_copy(
        update={
            "message": test.message and cut_middle(test.message, max(LEAST_TEXT, most // 2), separator=" "),
            "traceback": test.traceback and cut_middle(test.traceback, most),
        }
    )


# --- what was left out -------------------------------------------------------------------------


def _with_omitted(shown: Fitted, whole: ExecuteResult, texts: dict[str, str], hint: str) -> Fitted:
    left_out = _left_out(whole, shown)
    missing = sum(max(0, len(texts.get(test.node_id, "")) - len(test.traceback or "")) for test in shown.tests)
    characters = missing + max(0, len(whole.text_output) - len(shown.text_output))
    told_less = len(shown.collection_errors) < len(whole.collection_errors) or shown.json_report != whole.json_report
    if not left_out and not characters and not told_less:
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
