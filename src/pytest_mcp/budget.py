"""How much of a complete answer is sent.

Pure: a complete result, what the request says of detail, and the operator's ceiling in; the answer
that is sent, and what it leaves out, out. Verdict, counts, notices and every cause always stay.
"""

import json
from collections import Counter
from collections.abc import Callable

from pydantic import BaseModel

from pytest_mcp import transcript
from pytest_mcp.requests import DiscoverTests, ExecuteTests
from pytest_mcp.results import (
    LISTED_WITHOUT_FAILURE,
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
# Under the ceiling's pressure: what is left of a text, and of the ids of a group.
PRESSED_TEXT = 1000
PRESSED_IDS = 20


def fit_execution(result: ExecuteResult, request: ExecuteTests, *, ceiling: int) -> ExecuteResult:
    """What `detail` asks for; less only where that exceeds the operator's ceiling, in bytes."""
    if request.detail == "full":
        return _pressed(result, result, ceiling)
    new_text = transcript.condense(result.text_output)
    text_output = cut_middle(new_text, TEXT_CHARACTERS)
    shown = result.tests if request.detail == "tests" else _shown(result)
    omitted = _omitted(result, shown, text_characters=max(0, len(new_text) - TEXT_CHARACTERS))
    fitted = result.model_copy(update={"tests": shown, "text_output": text_output, "omitted": omitted})
    return _pressed(fitted, result, ceiling)


def fit_discovery(result: DiscoverResult, request: DiscoverTests, *, ceiling: int) -> DiscoverResult:
    limit = request.max_tokens or request.default_max_tokens
    size = _bytes(result)
    if size <= ceiling and (request.detail == "full" or size // CHARACTERS_PER_TOKEN <= limit):
        return result
    files = Counter(test.file for test in result.tests)
    return result.model_copy(
        update={
            "tests": [],
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
    if len(shown) == len(result.tests) and not text_characters:
        return None
    before, after = (Counter(test.outcome for test in tests) for tests in (result.tests, shown))
    left_out = before - after
    return Omitted(
        passed=left_out["passed"],
        skipped=left_out["skipped"],
        same_cause_failures=left_out["failed"] + left_out["error"],
        text_characters=text_characters,
        hint="detail full gives all of it" if text_characters else "detail tests lists every test",
    )


def _pressed(result: ExecuteResult, complete: ExecuteResult, ceiling: int) -> ExecuteResult:
    """The result, or as much of it as the ceiling leaves, given up in a fixed order."""
    pressed = result
    for give_up in _SACRIFICES:
        if _bytes(pressed) <= ceiling:
            break
        pressed = give_up(pressed)
    if pressed is result:
        return result
    lost_text = len(complete.text_output) - len(pressed.text_output)
    omitted = _omitted(complete, pressed.tests, text_characters=max(1, lost_text))
    assert omitted is not None
    hint = f"the operator allows {ceiling} bytes; choose fewer tests"
    return pressed.model_copy(update={"omitted": omitted.model_copy(update={"hint": hint})})


def _without_text(result: ExecuteResult) -> ExecuteResult:
    return result.model_copy(update={"text_output": cut_middle(result.text_output, TEXT_CHARACTERS)})


def _without_json_report(result: ExecuteResult) -> ExecuteResult:
    return result.model_copy(update={"json_report": None})


def _without_quiet_tests(result: ExecuteResult) -> ExecuteResult:
    return result.model_copy(update={"tests": [t for t in result.tests if t.outcome in ("failed", "error")]})


def _without_further_ids(result: ExecuteResult) -> ExecuteResult:
    groups = [group.model_copy(update={"node_ids": group.node_ids[:PRESSED_IDS]}) for group in result.failure_groups]
    return result.model_copy(update={"tests": _shown(result), "failure_groups": groups, "rerun": None})


def _with_short_texts(result: ExecuteResult) -> ExecuteResult:
    tests = [
        test.model_copy(
            update={
                "message": test.message and cut_middle(test.message, PRESSED_TEXT),
                "traceback": test.traceback and cut_middle(test.traceback, PRESSED_TEXT),
            }
        )
        for test in result.tests
    ]
    groups = [
        group.model_copy(update={"message": cut_middle(group.message, PRESSED_TEXT)}) for group in result.failure_groups
    ]
    return result.model_copy(update={"tests": tests, "failure_groups": groups})


def _without_tests(result: ExecuteResult) -> ExecuteResult:
    return result.model_copy(update={"tests": []})


_SACRIFICES: tuple[Callable[[ExecuteResult], ExecuteResult], ...] = (
    _without_text,
    _without_json_report,
    _without_quiet_tests,
    _without_further_ids,
    _with_short_texts,
    _without_tests,
)


def _bytes(result: BaseModel) -> int:
    return len(json.dumps(result.model_dump(mode="json", by_alias=True), separators=(",", ":")))
