"""How much of a complete answer is sent.

Pure: a complete result and what the request says of detail in; the answer that is sent, and what it
leaves out, out. Verdict, counts, notices and the cause of every failure always stay.
"""

import json
from collections import Counter

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


def fit_execution(result: ExecuteResult, request: ExecuteTests) -> ExecuteResult:
    if request.detail == "full":
        return result
    new_text = transcript.condense(result.text_output)
    text_output = cut_middle(new_text, TEXT_CHARACTERS)
    shown = result.tests if request.detail == "tests" else _shown(result)
    omitted = _omitted(result, shown, text_characters=max(0, len(new_text) - TEXT_CHARACTERS))
    return result.model_copy(update={"tests": shown, "text_output": text_output, "omitted": omitted})


def fit_discovery(result: DiscoverResult, request: DiscoverTests) -> DiscoverResult:
    limit = request.max_tokens or request.default_max_tokens
    if request.detail == "full" or _tokens(result) <= limit:
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


def _tokens(result: DiscoverResult) -> int:
    return len(json.dumps(result.model_dump(by_alias=True), separators=(",", ":"))) // CHARACTERS_PER_TOKEN
