"""How much of a complete answer is sent.

Pure: a complete result, what the request says of detail, and the operator's ceiling in; the answer
that is sent, and what it leaves out, out. Verdict, counts, notices and every cause always stay.
"""

import json
import posixpath
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from pytest_mcp import transcript
from pytest_mcp.requests import DiscoverTests, ExecuteTests
from pytest_mcp.results import (
    LISTED_WITHOUT_FAILURE,
    CollectionError,
    DiscoverResult,
    ExecuteResult,
    FileCount,
    Omitted,
    OmittedTests,
    TestResult,
)
from pytest_mcp.text import cut_middle

# What pytest printed is cut in its middle beyond this, except with detail full.
TEXT_CHARACTERS = 4000
# Characters of compact JSON for one token; a cautious figure for ids and paths.
CHARACTERS_PER_TOKEN = 3
# Under pressure: what is left of a group's cause and of its ids, and the least of a text.
PRESSED_CAUSE = 200
PRESSED_IDS = 5
PRESSED_RERUN = 20
PRESSED_TEXT = 300

Fitted = TypeVar("Fitted", bound=ExecuteResult)
Arguments = dict[str, Any]
Update = dict[str, Any]


def fit_execution(result: Fitted, request: ExecuteTests, *, ceiling: int) -> Fitted:
    """What `detail` asks for; less only where that exceeds the operator's ceiling, in bytes."""
    if request.detail == "full":
        return _pressed(result, result, ceiling)
    new_text = transcript.condense(result.text_output)
    text_output = cut_middle(new_text, TEXT_CHARACTERS)
    shown = result.tests if request.detail == "tests" else _shown(result)
    omitted = _omitted(result, shown, text_characters=max(0, len(new_text) - TEXT_CHARACTERS))
    fitted = result.model_copy(update={"tests": shown, "text_output": text_output, "omitted": omitted})
    if request.detail == "tests":
        return _pressed(fitted, result, ceiling)
    tokens = request.max_tokens or request.default_max_tokens
    return _pressed(fitted, result, min(ceiling, tokens * CHARACTERS_PER_TOKEN))


def fit_discovery(result: DiscoverResult, request: DiscoverTests, *, ceiling: int) -> DiscoverResult:
    limit = request.max_tokens or request.default_max_tokens
    size = _bytes(result)
    if size <= ceiling and (request.detail == "full" or size // CHARACTERS_PER_TOKEN <= limit):
        return result
    files = Counter(test.file for test in result.tests)
    errors = [_shortened(error) for error in _with_one_traceback_each(result.collection_errors)]
    return result.model_copy(
        update={
            "tests": [],
            "collection_errors": errors,
            "files": [FileCount(file=file, count=count) for file, count in files.items()],
            "omitted": OmittedTests(
                tests=result.count,
                hint="narrow with path, markers or keywords, raise max_tokens, or ask for detail full",
            ),
        }
    )


def _shown(result: ExecuteResult) -> list[TestResult]:
    """One failure of each group, whole, in the order of the groups; then the others if they are few."""
    by_id = {test.node_id: test for test in result.tests}
    examples = [by_id[group.example] for group in result.failure_groups]
    quiet = [test for test in result.tests if test.outcome in ("passed", "skipped")]
    return [*examples, *(quiet if len(quiet) <= LISTED_WITHOUT_FAILURE else [])]


def _omitted(result: ExecuteResult, shown: list[TestResult], *, text_characters: int) -> Omitted | None:
    left_out = _left_out(result, shown)
    if not left_out and not text_characters:
        return None
    return Omitted(
        passed=left_out["passed"],
        skipped=left_out["skipped"],
        same_cause_failures=left_out["failed"] + left_out["error"],
        text_characters=text_characters,
        hint="detail full gives all of it" if text_characters else "detail tests lists every test",
    )


def _pressed(result: Fitted, complete: ExecuteResult, ceiling: int) -> Fitted:
    """The result, or as much of it as the ceiling leaves, given up in a fixed order."""
    pressed = result
    for give_up in _SACRIFICES:
        if _bytes(pressed) <= ceiling:
            break
        pressed = pressed.model_copy(update=give_up(pressed, ceiling))
    if pressed is result:
        return result
    left_out = _left_out(complete, pressed.tests)
    omitted = Omitted(
        passed=left_out["passed"],
        skipped=left_out["skipped"],
        same_cause_failures=left_out["failed"] + left_out["error"],
        text_characters=max(0, len(complete.text_output) - len(pressed.text_output)),
        hint=f"it had to fit {ceiling} bytes; raise max_tokens, choose fewer tests or ask for detail full",
    )
    return pressed.model_copy(update={"omitted": omitted})


def _left_out(complete: ExecuteResult, shown: list[TestResult]) -> Counter[str]:
    """How many tests of each outcome are not among those shown."""
    counted = complete.summary
    ran = Counter({"passed": counted.passed, "failed": counted.failed, "skipped": counted.skipped})
    ran["error"] = counted.errors - len(complete.collection_errors)
    return ran - Counter(test.outcome for test in shown)


def _without_text(result: ExecuteResult, _ceiling: int) -> Update:
    return {"text_output": cut_middle(result.text_output, PRESSED_TEXT)}


def _without_json_report(_result: ExecuteResult, _ceiling: int) -> Update:
    return {"json_report": None}


def _without_quiet_tests(result: ExecuteResult, _ceiling: int) -> Update:
    return {"tests": [test for test in result.tests if test.outcome in ("failed", "error")]}


def _without_further_ids(result: ExecuteResult, _ceiling: int) -> Update:
    groups = [group.model_copy(update={"node_ids": group.node_ids[:PRESSED_IDS]}) for group in result.failure_groups]
    return {"tests": _shown(result), "failure_groups": groups, "rerun": _shorter(result.rerun)}


def _shorter(rerun: Arguments | None) -> Arguments | None:
    """The failures' files, or the folder that holds them all, where the ids are many."""
    if rerun is None or len(rerun.get("node_ids", [])) <= PRESSED_RERUN:
        return rerun
    files = list(dict.fromkeys(node_id.partition("::")[0] for node_id in rerun["node_ids"]))
    others = {name: value for name, value in rerun.items() if name != "node_ids"}
    if len(files) <= PRESSED_RERUN:
        return {"node_ids": files, **others}
    return {"path": posixpath.commonpath(files) or ".", **others}


def _with_short_causes(result: ExecuteResult, _ceiling: int) -> Update:
    """The whole message stands in the example of the group, and again in its traceback."""
    groups = [
        group.model_copy(update={"message": cut_middle(group.message, PRESSED_CAUSE, separator=" ")})
        for group in result.failure_groups
    ]
    return {"failure_groups": groups, "collection_errors": _with_one_traceback_each(result.collection_errors)}


def _with_one_traceback_each(errors: list[CollectionError]) -> list[CollectionError]:
    """Files that fail for one reason show its traceback once."""
    first = {(error.error_type, error.message): error.file for error in reversed(errors)}
    return [
        error if first[error.error_type, error.message] == error.file else error.model_copy(update={"traceback": None})
        for error in errors
    ]


def _with_short_texts(result: ExecuteResult, ceiling: int) -> Update:
    """What room there is, shared by all that is shown."""
    share = ceiling // max(1, len(result.tests))
    tests = [
        test.model_copy(
            update={
                "message": test.message and cut_middle(test.message, max(PRESSED_TEXT, share // 8)),
                "traceback": test.traceback and cut_middle(test.traceback, max(PRESSED_TEXT, share // 2)),
            }
        )
        for test in result.tests
    ]
    return {"tests": tests, "collection_errors": [_shortened(error) for error in result.collection_errors]}


def _shortened(error: CollectionError) -> CollectionError:
    return error.model_copy(
        update={
            "message": cut_middle(error.message, PRESSED_CAUSE, separator=" "),
            "traceback": error.traceback and cut_middle(error.traceback, PRESSED_TEXT),
        }
    )


def _without_tests(result: ExecuteResult, _ceiling: int) -> Update:
    bare = [error.model_copy(update={"traceback": None}) for error in result.collection_errors]
    return {"tests": [], "collection_errors": bare}


_SACRIFICES: tuple[Callable[[ExecuteResult, int], Update], ...] = (
    _without_text,
    _without_json_report,
    _without_quiet_tests,
    _without_further_ids,
    _with_short_causes,
    _with_short_texts,
    _without_tests,
)


def _bytes(result: BaseModel) -> int:
    return len(json.dumps(result.model_dump(mode="json", by_alias=True), separators=(",", ":")))
