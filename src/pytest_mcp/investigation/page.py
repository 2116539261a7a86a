"""The page of `pytest-mcp investigate --html`: why one test fails, for people.

Pure. Failure and foot are those of the page of a run. An error is shown as a run that did not happen.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.results import Verdict
from pytest_mcp.investigation.result import KINDS_IN_WORDS, InvestigateResult, Kind, Polluter, Suspect
from pytest_mcp.page import document, sections
from pytest_mcp.page.content import Content, PageOrigin, Result
from pytest_mcp.page.document import Document
from pytest_mcp.page.sections import LONGEST_TEXT, Banner, Block, PageSection, sentence, short
from pytest_mcp.report.failures import Failure
from pytest_mcp.report.report import Report
from pytest_mcp.report.verdict import Evidence

# The look of the banner; all others look like a failure.
_LOOKS: dict[Kind, Verdict] = {"passes": "passed", "inconclusive": "incomplete"}
_EFFECTS = {"fails_after": "It fails after", "fails_without": "It fails without"}
_SUSPECTED = (
    "Functions that the failing runs execute and few passing tests do, the most suspicious first. 1 is the most."
)
_RUNS = "One letter for each run: {}. The bar above it is how long it took."


@dataclass(frozen=True)
class Investigated:
    node_id: str
    result: InvestigateResult
    # The test's runs at each place, in their order.
    runs: Mapping[str, Sequence[Result]]
    # The first that was seen; None if it did not fail, or if its process died.
    failure: Failure | None = None
    # Of the run that collected the test; None if there is none.
    environment: RunEnvironment | None = None


def of(found: Investigated, origin: PageOrigin, *, created: str, most: int) -> Document:
    report = _report(found)
    made = [
        sections.notices(report.notices, most),
        PageSection("tried", "What was tried", _tried(found, most)),
        *_polluter(found.result.polluter, origin),
        PageSection("rerun", "Run the failure again", _again(found.result, origin)),
        PageSection("suspects", "Suspects", _suspects(found.result.suspects)),
        sections.failures(report),
    ]
    shown = [section for section in made if section.blocks]
    return document.page_document(Content(report), origin, _banner(found, created), shown, most=most)


def _report(found: Investigated) -> Report:
    """As if it were a run with this failure alone."""
    return Report(
        Evidence(),
        notices=found.result.notices,
        failures=[] if found.failure is None else [found.failure],
        rerun=found.result.rerun,
        environment=found.environment,
    )


def _banner(found: Investigated, created: str) -> Banner:
    said = f"Confidence {sentence(found.result.confidence)}."
    word = KINDS_IN_WORDS[found.result.kind].capitalize()
    return Banner(_LOOKS.get(found.result.kind, "failed"), word, said, found.node_id, created)


def _tried(found: Investigated, most: int) -> list[Block]:
    rows = {name: ("", results) for name, results in found.runs.items() if results}
    evidence: list[Block] = [("list", [sentence(each) for each in found.result.evidence])]
    return [*sections.strips(_RUNS, rows, most), *(evidence if found.result.evidence else [])]


def _polluter(polluter: Polluter | None, origin: PageOrigin) -> list[PageSection]:
    if polluter is None:
        return []
    title = f"{_EFFECTS[polluter.effect]} {'this test' if len(polluter.node_ids) == 1 else 'these tests'}"
    names: Block = ("list", [short(name) for name in polluter.node_ids])
    return [PageSection("polluter", title, [names, *_copyable(polluter.rerun, origin)])]


def _again(result: InvestigateResult, origin: PageOrigin) -> list[Block]:
    is_told = result.polluter is not None and result.polluter.rerun == result.rerun
    return [] if result.rerun is None or is_told else _copyable(result.rerun, origin)


def _copyable(rerun: dict[str, Any], origin: PageOrigin) -> list[Block]:
    """As a command and as arguments of the tool. What would be cut is not there: it could not be used."""
    texts = {
        "Command": f"{origin.again} {shlex.join(rerun['node_ids'])}",
        "Arguments of execute_tests": json.dumps(rerun, ensure_ascii=False),
    }
    return [
        ("copyable", (title, text))
        if len(text) <= LONGEST_TEXT
        else ("text", f"{title}: too long for this page; `--json` prints the arguments.")
        for title, text in texts.items()
    ]


def _suspects(suspects: Sequence[Suspect]) -> list[Block]:
    bars = [
        (short(f"{each.function} in {each.file}:{each.line}"), f"{each.score:.2f}", round(100 * each.score, 1))
        for each in suspects
    ]
    return [("text", _SUSPECTED), ("charts", [("Function and score", bars)])] if bars else []
