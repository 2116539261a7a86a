"""The page as one JSON value, within a limit in bytes: the same for a file and for a client. `page.js` draws it.

When it would be too large, first the tracebacks of failures that share a cause with one that is shown are left out,
then those of examples, and of the tests those that passed. What is left out is said. Long texts are cut in their
middle, with a note of how much is left out.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, TypedDict

from pytest_mcp.api.results import Outcome
from pytest_mcp.page import sections
from pytest_mcp.page.content import Content, PageOrigin
from pytest_mcp.page.sections import LETTERS, MAX_TEXT, Banner, PageSection, Room, escaped, short
from pytest_mcp.report import grouping, places, rerun, serialize
from pytest_mcp.report.failures import Failure, Part, Section
from pytest_mcp.report.grouping import Group
from pytest_mcp.report.report import RanTest, Report
from pytest_mcp.run.events import Frame, Raised
from pytest_mcp.text import cut_middle

# Shares of what the sections leave: for the list of tests and for the causes. The rest is for tracebacks.
TESTS_SHARE = 0.45
CAUSES_SHARE = 0.2
# The part of the page for the arguments that run the failures again: names of tests can be long.
RERUN_SHARE = 0.05
# For the sentences that say what was left out.
LAST_SENTENCES = 2_000
MAX_REASON = 200
# The ids that one cause names; the others are in the list of tests.
MAX_IDS = 1_000
# How much there is of an exception's text and of each captured stream, in characters; and of a value in a frame.
MAX_OUTPUT = 20_000
MAX_VALUE = 500
# The first and the last frames of an exception are shown: recursions have a thousand.
FIRST_FRAMES = 15
LAST_FRAMES = 25
_LIMIT = "so that the page stays below its size limit"
_MOST_IMPORTANT_FIRST: tuple[Outcome, ...] = ("failed", "error", "skipped", "passed")

Json = dict[str, Any]


class Document(TypedDict):
    verdict: str
    word: str
    sentence: str
    more: str
    when: str
    project: str
    sections: list[PageSection]
    facts: list[tuple[str, str]]
    # The command to which node ids are added, and the arguments that run the failures again.
    again: str
    rerun: dict[str, Any] | None
    causes: list[Json]
    # By node id.
    failures: dict[str, Json]
    # Rows of tests under the names of their files.
    files: list[list[Any]]


def run_document(content: Content, origin: PageOrigin, *, created: str, most: int) -> Document:
    """Larger than `most` bytes only if nothing fits."""
    banner = sections.banner(content.report, created)
    return page_document(content, origin, banner, sections.run_sections(content, most), most=most)


def page_document(
    content: Content, origin: PageOrigin, banner: Banner, parts: list[PageSection], *, most: int
) -> Document:
    """With these parts, and as many tests and failures as there is room for."""
    report = content.report
    frame = _frame_of(report, origin, banner, parts, most)
    room = Room(most - size(frame) - LAST_SENTENCES)
    rows = _kept_rows(content, room.left * TESTS_SHARE)
    causes = _kept_causes(report, room.left * CAUSES_SHARE)
    files = [[file, [row for _, row in same]] for file, same in groupby(rows, key=lambda pair: pair[0])]
    room.takes([files, causes])
    details = _kept_details(report, room)
    if left_out := _left_out(content, tests=len(rows), causes=len(causes), details=len(details)):
        frame["sections"].insert(1, PageSection("left-out", "Left out of this page", [("list", left_out)]))
    data = serialize.safe({"causes": causes, "failures": details, "files": files})
    return frame | data  # type: ignore[no-any-return]  # the keys are those of the type


def _frame_of(report: Report, origin: PageOrigin, banner: Banner, parts: list[PageSection], most: int) -> Document:
    """All but failures and tests."""
    document: Document = serialize.safe(
        {
            **banner._asdict(),
            "more": cut_middle(banner.more, MAX_TEXT),
            "project": short(origin.project),
            "sections": parts,
            "facts": sections.facts(report, origin),
            "again": origin.again,
            "rerun": report.rerun if Room(most * RERUN_SHARE).takes(report.rerun) else None,
            "causes": [],
            "failures": {},
            "files": [],
        }
    )
    return document


def size(document: Document) -> int:
    return len(escaped(document))


def _kept_rows(content: Content, most: float) -> list[tuple[str, list[Any]]]:
    """As many tests as there is room for, the failed before the others; in the order in which they ran.

    Each with its file: its name, outcome, milliseconds and, if it did not pass, why.
    """
    room, causes = Room(most), {failure.node_id: failure.cause for failure in content.report.failures}
    rows = [_row(test, causes.get(test.node_id) or test.reason or "") for test in content.tests]
    by_importance = sorted(range(len(rows)), key=lambda n: _MOST_IMPORTANT_FIRST.index(content.tests[n].outcome))
    kept = sorted(n for n in by_importance if room.takes(rows[n]))
    return [(content.tests[n].node_id.partition("::")[0], rows[n]) for n in kept]


def _row(test: RanTest, why: str) -> list[Any]:
    row = [test.node_id.partition("::")[2], LETTERS[test.outcome], round(test.duration * 1000)]
    reason = cut_middle(grouping.line(why), MAX_REASON, separator=" ")
    return [*row, reason] if reason else row


def _kept_causes(report: Report, most: float) -> list[Json]:
    room, pattern = Room(most), (report.rerun or {}).get("pattern")
    return [cause for group in report.groups if room.takes(cause := _cause(group, pattern))]


def _cause(group: Group, pattern: str | None) -> Json:
    node_ids = [failure.node_id for failure in group.members]
    return {
        "count": group.count,
        "message": cut_middle(group.example.cause, 2 * MAX_REASON, separator=" "),
        "location": group.location,
        "ids": node_ids[:MAX_IDS],
        # A single test is run again by its name.
        "rerun": rerun.covering(node_ids, pattern) if group.count > 1 else None,
    }


def _kept_details(report: Report, room: Room) -> dict[str, Json]:
    """By node id; the examples before the others."""
    known = [group.example for group in report.groups]
    known += [failure for group in report.groups for failure in group.others]
    details = ((failure.node_id, _detail(failure, report.captures)) for failure in known)
    return {node_id: detail for node_id, detail in details if room.takes([node_id, detail])}


def _left_out(content: Content, *, tests: int, causes: int, details: int) -> list[str]:
    """Sentences, for so many that are on the page."""
    every, report = len(content.tests), content.report
    tracebacks, others = len(report.failures) - details, len(report.groups) - causes
    sentences = {
        f"The list has {tests} of {every} tests, {_LIMIT}.": every - tests,
        f"The tracebacks of {tracebacks} failures are left out, {_LIMIT}.": tracebacks,
        f"{others} causes are left out, {_LIMIT}; their tests are in the list.": others,
    }
    return [sentence for sentence, number in sentences.items() if number]


def _detail(failure: Failure, captures: bool) -> Json:
    parts = [_part(part, captures) for part in failure.parts]
    return _known(parts=parts, out=_outputs(failure.sections if captures else ()))


def _known(**values: Any) -> Json:
    """Without what is empty: the script takes what is missing for that."""
    return {name: value for name, value in values.items() if value}


def _part(part: Part, captures: bool) -> Json:
    text = "" if part.chain else cut_middle(part.text.strip("\n") or part.message, MAX_OUTPUT)
    out = _outputs(part.sections if captures else ())
    return _known(title=part.title, out=out, chain=[_raised(raised) for raised in part.chain], text=text)


def _raised(raised: Raised) -> Json:
    frames = raised.frames
    left_out = max(0, len(frames) - FIRST_FRAMES - LAST_FRAMES)
    kept = [*frames[:FIRST_FRAMES], *frames[-LAST_FRAMES:]] if left_out else [*frames]
    return _known(
        link=raised.link,
        note=raised.note,
        text=cut_middle("\n".join(raised.text), MAX_OUTPUT),
        frames=[_frame(frame) for frame in kept],
        # How many frames are missing, and behind how many.
        left_out=left_out,
        first=left_out and FIRST_FRAMES,
    )


def _frame(frame: Frame) -> Json:
    values = [[name, cut_middle(value, MAX_VALUE, separator=" ")] for name, value in frame.arguments]
    return {"path": places.short(frame.path), "line": frame.line} | _known(
        function=frame.function,
        statement=frame.statement,
        values=[[name, value] for name, value in values if name not in ("self", "cls")],
        variables=cut_middle("\n".join(frame.variables), MAX_OUTPUT),
        library=places.package(frame.path) if places.is_foreign(frame.path) else None,
    )


def _outputs(sections: Iterable[Section]) -> list[list[str]]:
    return [[title, cut_middle(content, MAX_OUTPUT)] for title, content in sections]
