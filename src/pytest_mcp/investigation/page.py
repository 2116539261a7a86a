"""The page of `pytest-mcp investigate --html`: why one test fails, for people.

Failure and foot are those of the page of a run. An error is shown as a run that did not happen.
"""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from pytest_mcp.api.results import Verdict
from pytest_mcp.investigation.answer import Findings
from pytest_mcp.investigation.result import (
    KINDS_IN_WORDS,
    BrokenBy,
    FirstDifference,
    InvestigateResult,
    Kind,
    Polluter,
    Sides,
    Suspect,
    sides_of,
)
from pytest_mcp.page import document, sections
from pytest_mcp.page.content import Content, PageOrigin
from pytest_mcp.page.document import Document
from pytest_mcp.page.sections import MAX_TEXT, Banner, Block, PageSection, sentence, short
from pytest_mcp.report.report import Report
from pytest_mcp.report.verdict import Evidence

# The look of the banner; all others look like a failure.
_LOOKS: dict[Kind, Verdict] = {"passes": "passed", "inconclusive": "incomplete"}
_EFFECTS = {"fails_after": "It fails after", "fails_without": "It fails without"}
_SUSPECTED = (
    "Functions that the failing runs execute and few passing tests do, the most suspicious first. 1 is the most."
)
_RUNS = "One letter for each run: {}. The bar above it is how long it took."


def page_of(findings: Findings, result: InvestigateResult, origin: PageOrigin, *, created: str, most: int) -> Document:
    # As if it were a run with this failure alone.
    report = Report(
        Evidence(),
        notices=result.notices,
        failures=[] if findings.failure is None else [findings.failure],
        rerun=result.rerun,
        environment=findings.environment,
    )
    made = [
        sections.notices(report.notices, most),
        PageSection("tried", "What was tried", _tried(findings, result, most)),
        PageSection("broken", "Broken by", _broken_by(result.broken_by)),
        *_polluter(result.polluter, origin),
        PageSection("difference", _title(result.kind), _differences(result.first_difference, sides_of(result.kind))),
        PageSection("rerun", "Run the failure again", _again(result, origin)),
        PageSection("suspects", "Suspects", _suspects(result.suspects)),
        sections.failures(report),
    ]
    word = KINDS_IN_WORDS[result.kind].capitalize()
    confidence = f"Confidence {sentence(result.confidence)}."
    banner = Banner(_LOOKS.get(result.kind, "failed"), word, confidence, findings.node_id, created)
    filled = [section for section in made if section.blocks]
    return document.page_document(Content(report), origin, banner, filled, most=most)


def _tried(findings: Findings, result: InvestigateResult, most: int) -> list[Block]:
    """The test's runs at each place, in their order, and what they say."""
    runs = {"alone": findings.alone.outcomes}
    if findings.base is not None:
        runs[f"at {findings.base.name}"] = findings.base.outcomes
    rows = {place: ("", [(each.letter, each.seconds) for each in made]) for place, made in runs.items() if made}
    evidence: list[Block] = [("list", [sentence(each) for each in result.evidence])]
    return [*sections.strips(_RUNS, rows, most), *(evidence if result.evidence else [])]


def _broken_by(broken: BrokenBy | None) -> list[Block]:
    if broken is None:
        return []
    return [("text", short(f"{broken.commit} {broken.subject}")), ("list", [short(file) for file in broken.files])]


def _polluter(polluter: Polluter | None, origin: PageOrigin) -> list[PageSection]:
    if polluter is None:
        return []
    title = f"{_EFFECTS[polluter.effect]} {'this test' if len(polluter.node_ids) == 1 else 'these tests'}"
    names: Block = ("list", [short(name) for name in polluter.node_ids])
    return [PageSection("polluter", title, [names, *_copyable(polluter.rerun, origin)])]


def _again(result: InvestigateResult, origin: PageOrigin) -> list[Block]:
    is_there = result.polluter is not None and result.polluter.rerun == result.rerun
    return [] if result.rerun is None or is_there else _copyable(result.rerun, origin)


def _copyable(rerun: dict[str, Any], origin: PageOrigin) -> list[Block]:
    """As a command and as arguments of the tool. What would be cut is not there: it could not be used."""
    texts = {
        "Command": f"{origin.again} {shlex.join(rerun['node_ids'])}",
        "Arguments of execute_tests": json.dumps(rerun, ensure_ascii=False),
    }
    return [
        ("copyable", (title, text))
        if len(text) <= MAX_TEXT
        else ("text", f"{title}: too long for this page; `--json` prints the arguments.")
        for title, text in texts.items()
    ]


def _title(kind: Kind) -> str:
    runs = "between a run that passes and one that fails" if sides_of(kind).is_same_code else "from the base"
    return f"The first difference {runs}"


def _differences(found: Sequence[FirstDifference], sides: Sides) -> list[Block]:
    """Both runs side by side."""
    blocks: list[Block] = []
    for each in found:
        is_given_else = any(part.what.endswith(" before") for part in each.differs)
        same = "" if sides.is_same_code or is_given_else else f" the same as {sides.base}"
        place = f"{each.function} in {each.file}:{each.line}, given{same}: {each.arguments or 'nothing'}"
        way = [f"Called by {each.called_by}." if each.called_by else "", each.parts_at or "", *each.then]
        rows = [[short(part.what), sentence(part.base), sentence(part.now)] for part in each.differs]
        blocks += [("text", sentence(place)), ("sides", [["", *(side.capitalize() for side in sides)], rows])]
        blocks.append(("list", [sentence(line) for line in way if line]))
    return blocks


def _suspects(suspects: Sequence[Suspect]) -> list[Block]:
    bars = [
        (short(f"{each.function} in {each.file}:{each.line}"), f"{each.score:.2f}", round(100 * each.score, 1))
        for each in suspects
    ]
    return [("text", _SUSPECTED), ("charts", [("Function and score", bars)])] if bars else []
