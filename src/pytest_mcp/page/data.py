"""The data of a page: one JSON value for its script, within a limit in bytes.

Pure. When it would be too large, first the tracebacks of failures that share a cause with one that is shown are left
out, then those of examples, and of the tests those that passed. What is left out is said in sentences.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mcp.api.results import Outcome, TestResult
from pytest_mcp.page.content import Cause, Content
from pytest_mcp.page.failures import Json
from pytest_mcp.report import grouping, serialize
from pytest_mcp.text import cut_middle

# Shares of the room: for the list of tests and for the causes. The rest is for tracebacks.
TESTS_SHARE = 0.45
CAUSES_SHARE = 0.2
# Keys and brackets around the parts.
FRAME_BYTES = 2_000
LONGEST_REASON = 200
# Of one cause; the others are in the list of tests.
MOST_IDS = 1_000

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_LETTERS: dict[Outcome, str] = {"passed": "P", "failed": "F", "skipped": "S", "error": "E"}
_MOST_IMPORTANT_FIRST: tuple[Outcome, ...] = ("failed", "error", "skipped", "passed")


@dataclass(frozen=True)
class Data:
    # For a script element: no character of it can end the element.
    text: str
    left_out: list[str]


class _Room:
    """Counts what is left of a limit in bytes."""

    def __init__(self, most: int) -> None:
        self.left = most

    def takes(self, value: Any) -> bool:
        size = len(escaped(value)) + 1
        if size > self.left:
            return False
        self.left -= size
        return True


def escaped(value: Any) -> str:
    """JSON in ASCII without the characters that mean something in HTML."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).translate(_ESCAPES)


def of_content(content: Content, *, again: str, most: int) -> Data:
    """In `most` bytes. `again` is the command to which node ids are added."""
    room = _Room(most - FRAME_BYTES - len(escaped(again)))
    tests = _kept_tests(content.tests, int(room.left * TESTS_SHARE))
    files = _by_file(tests)
    causes = _kept_causes(content.causes, int(room.left * CAUSES_SHARE))
    room.takes([files, causes])
    shown = [cause.example for cause in content.causes if cause.example]
    shown += [failure for cause in content.causes for failure in cause.others]
    details = {
        serialize.safe(failure.node_id): detail
        for failure in shown
        if room.takes([failure.node_id, detail := serialize.safe(failure.detail)])
    }
    text = escaped({"again": again, "causes": causes, "failures": details, "files": files})
    return Data(text, [*_missing_tests(content, tests), *_missing_failures(content, causes, len(shown) - len(details))])


def _kept_tests(tests: Sequence[TestResult], most: int) -> list[TestResult]:
    """As many as there is room for, the failed before the others; in the order in which they ran."""
    room = _Room(most)
    kept: set[int] = set()
    for outcome in _MOST_IMPORTANT_FIRST:
        numbers = [number for number, test in enumerate(tests) if test.outcome == outcome]
        kept.update(number for number in numbers if room.takes(_row(tests[number])))
    return [test for number, test in enumerate(tests) if number in kept]


def _by_file(tests: Iterable[TestResult]) -> list[list[Any]]:
    """Rows under the name of their file, which they share."""
    files: list[list[Any]] = []
    for test in tests:
        file = serialize.safe(test.node_id.partition("::")[0])
        if not files or files[-1][0] != file:
            files.append([file, []])
        files[-1][1].append(_row(test))
    return files


def _row(test: TestResult) -> list[Any]:
    """Name, outcome, milliseconds and, if it did not pass, why."""
    name = test.node_id.partition("::")[2]
    row = [serialize.safe(name), _LETTERS[test.outcome], round(test.duration * 1000)]
    reason = cut_middle(grouping.line(test.message or ""), LONGEST_REASON, separator=" ")
    return [*row, serialize.safe(reason)] if reason else row


def _kept_causes(causes: Sequence[Cause], most: int) -> list[Json]:
    room = _Room(most)
    return [cause for each in causes if room.takes(cause := _cause(each))]


def _cause(cause: Cause) -> Json:
    named: Json = serialize.safe(
        {
            "count": cause.count,
            "message": cut_middle(cause.message, 2 * LONGEST_REASON, separator=" "),
            "location": cause.location,
            "ids": cause.node_ids[:MOST_IDS],
            "rerun": cause.rerun,
        }
    )
    return named


def _missing_tests(content: Content, kept: Sequence[TestResult]) -> list[str]:
    missing = len(content.tests) - len(kept)
    if missing:
        return [f"The list has {len(kept)} of {len(content.tests)} tests, so that the page stays below its size limit."]
    if content.lists_every_test or not content.summary.total:
        return []
    return [f"The list has only those {len(kept)} of {content.summary.total} tests that the answers list."]


def _missing_failures(content: Content, causes: Sequence[Json], details: int) -> list[str]:
    sentences = []
    if details:
        sentences.append(
            f"The tracebacks of {details} failures are left out, so that the page stays below its size limit."
        )
    if missing := len(content.causes) - len(causes):
        sentences.append(f"{missing} causes are left out for the same reason; their tests are in the list.")
    return sentences
