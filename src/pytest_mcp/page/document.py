"""The page as one JSON value, within a limit in bytes: the same for a file and for a client.

Pure. `page.js` draws it. When it would be too large, first the tracebacks of failures that share a cause with one that
is shown are left out, then those of examples, and of the tests those that passed. What is left out is said.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from pytest_mcp.api.results import Outcome, TestResult
from pytest_mcp.page import sections
from pytest_mcp.page.content import Cause, Content, Origin
from pytest_mcp.page.failures import Json
from pytest_mcp.page.sections import LETTERS, LONGEST_TEXT, Banner, Room, Section, escaped, short
from pytest_mcp.report import grouping, serialize
from pytest_mcp.text import cut_middle

# Shares of what the sections leave: for the list of tests and for the causes. The rest is for tracebacks.
TESTS_SHARE = 0.45
CAUSES_SHARE = 0.2
# Of the whole, for the arguments that run the failures again: names of tests can be long.
RERUN_SHARE = 0.05
# For the sentences that say what was left out.
LAST_SENTENCES = 2_000
LONGEST_REASON = 200
# Of one cause; the others are in the list of tests.
MOST_IDS = 1_000
_MOST_IMPORTANT_FIRST: tuple[Outcome, ...] = ("failed", "error", "skipped", "passed")


class Document(TypedDict):
    verdict: str
    word: str
    sentence: str
    more: str
    when: str
    project: str
    sections: list[Section]
    facts: list[tuple[str, str]]
    # The command to which node ids are added, and the arguments that run the failures again.
    again: str
    rerun: dict[str, Any] | None
    causes: list[Json]
    # By node id.
    failures: dict[str, Json]
    # Rows of tests under the names of their files.
    files: list[list[Any]]


def of_run(content: Content, origin: Origin, *, created: str, most: int) -> Document:
    """Larger than `most` bytes only if nothing fits."""
    banner = sections.banner(content, created)
    return whole(content, origin, banner, sections.of_run(content, most), most=most)


def whole(content: Content, origin: Origin, banner: Banner, shown: list[Section], *, most: int) -> Document:
    """With these sections, and as many tests and failures as there is room for."""
    frame: Document = serialize.safe(
        {
            **banner._asdict(),
            "more": cut_middle(banner.more, LONGEST_TEXT),
            "project": short(origin.project),
            "sections": shown,
            "facts": sections.facts(content, origin),
            "again": origin.again,
            "rerun": content.rerun if Room(most * RERUN_SHARE).takes(content.rerun) else None,
            "causes": [],
            "failures": {},
            "files": [],
        }
    )
    room = Room(most - size(frame) - LAST_SENTENCES)
    tests = _kept_tests(content.tests, room.left * TESTS_SHARE)
    causes = _kept_causes(content.causes, room.left * CAUSES_SHARE)
    files = _by_file(tests)
    room.takes([files, causes])
    known = [failure for cause in content.causes for failure in cause.shown[:1]]
    known += [failure for cause in content.causes for failure in cause.shown[1:]]
    details = {each.node_id: each.detail for each in known if room.takes([each.node_id, each.detail])}
    left_out = [*_missing_tests(content, tests), *_missing_failures(content, causes, len(known) - len(details))]
    if left_out:
        frame["sections"].insert(1, Section("left-out", "Left out of this page", [("list", left_out)]))
    data = serialize.safe({"causes": causes, "failures": details, "files": files})
    return frame | data  # type: ignore[no-any-return]  # the keys are those of the type


def size(document: Document) -> int:
    return len(escaped(document))


def _kept_tests(tests: Sequence[TestResult], most: float) -> list[TestResult]:
    """As many as there is room for, the failed before the others; in the order in which they ran."""
    room = Room(most)
    kept: set[int] = set()
    for outcome in _MOST_IMPORTANT_FIRST:
        numbers = [number for number, test in enumerate(tests) if test.outcome == outcome]
        kept.update(number for number in numbers if room.takes(_row(tests[number])))
    return [test for number, test in enumerate(tests) if number in kept]


def _by_file(tests: Iterable[TestResult]) -> list[list[Any]]:
    """Rows under the name of their file, which they share."""
    files: list[list[Any]] = []
    for test in tests:
        file = test.node_id.partition("::")[0]
        if not files or files[-1][0] != file:
            files.append([file, []])
        files[-1][1].append(_row(test))
    return files


def _row(test: TestResult) -> list[Any]:
    """Name, outcome, milliseconds and, if it did not pass, why."""
    row = [test.node_id.partition("::")[2], LETTERS[test.outcome], round(test.duration * 1000)]
    reason = cut_middle(grouping.line(test.message or ""), LONGEST_REASON, separator=" ")
    return [*row, reason] if reason else row


def _kept_causes(causes: Sequence[Cause], most: float) -> list[Json]:
    room = Room(most)
    return [cause for each in causes if room.takes(cause := _cause(each))]


def _cause(cause: Cause) -> Json:
    return {
        "count": cause.count,
        "message": cut_middle(cause.message, 2 * LONGEST_REASON, separator=" "),
        "location": cause.location,
        "ids": cause.node_ids[:MOST_IDS],
        # A single test is run again by its name.
        "rerun": cause.rerun if cause.count > 1 else None,
    }


def _missing_tests(content: Content, kept: Sequence[TestResult]) -> list[str]:
    if len(kept) < len(content.tests):
        return [f"The list has {len(kept)} of {len(content.tests)} tests, so that the page stays below its size limit."]
    if content.lists_every_test or not content.summary.total:
        return []
    return [f"The list has only those {len(kept)} of {content.summary.total} tests that the answers list."]


def _missing_failures(content: Content, causes: Sequence[Json], details: int) -> list[str]:
    limit = "so that the page stays below its size limit"
    tracebacks = f"The tracebacks of {details} failures are left out, {limit}."
    missing = len(content.causes) - len(causes)
    others = f"{missing} causes are left out, {limit}; their tests are in the list."
    return [*([tracebacks] if details else []), *([others] if missing else [])]
