"""The page of `pytest-mcp investigate --html`: why one test fails, for people.

Pure. In comes what an investigation found; out comes the text of a file. Frame, failure and foot are those of the page
of a run. The text of an error is the page of a run that did not happen: `content.of_error`.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.investigation import KINDS_IN_WORDS, InvestigateResult, Kind, Polluter, Suspect
from pytest_mcp.api.results import Summary, Verdict
from pytest_mcp.page import document, failures, strip
from pytest_mcp.page.content import Cause, Content
from pytest_mcp.page.origin import Origin
from pytest_mcp.page.strip import Result
from pytest_mcp.page.template import LONGEST_VALUE, Markup, fill, short
from pytest_mcp.report.failures import Failure
from pytest_mcp.text import cut_middle

# The look of the banner; all others look like a failure.
_LOOKS: dict[Kind, Verdict] = {"passes": "passed", "inconclusive": "incomplete"}
_EFFECTS = {"fails_after": "It fails after", "fails_without": "It fails without"}
_SUSPECTED = (
    "Functions that the failing runs execute and few passing tests do, the most suspicious first. 1 is the most."
)
_NO_RUN = Summary(total=0, passed=0, failed=0, skipped=0, errors=0, duration=0.0)


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


def render(found: Investigated, origin: Origin, *, created: str) -> str:
    content = _content(found)
    parts = {
        "banner": _banner(found, origin, created),
        "notices": document.notices(content.notices, []),
        "tried": _tried(found),
        "polluter": _polluter(found.result.polluter, origin),
        "again": _again(found.result, origin),
        "suspects": _suspects(found.result.suspects),
        "failures": document.failures(content, document.plain_failures(content, origin)),
        "foot": document.facts(content, origin),
    }
    return document.whole(content, origin, parts, word=_word(found.result.kind))


def _content(found: Investigated) -> Content:
    """As if it were a run with this failure alone."""
    environment = found.environment
    return Content(
        verdict=_LOOKS.get(found.result.kind, "failed"),
        summary=_NO_RUN,
        notices=found.result.notices,
        causes=[] if found.failure is None else [_cause(found.failure, found.result)],
        collection_errors=[],
        tests=[],
        rerun=found.result.rerun,
        python=environment.python if environment else None,
        pytest=environment.pytest if environment else None,
        interpreter=environment.interpreter if environment else None,
    )


def _cause(failure: Failure, result: InvestigateResult) -> Cause:
    shown = failures.of_failure(failure, captures=True)
    return Cause(1, failure.cause, failure.site, [failure.node_id], result.rerun, shown)


def _word(kind: Kind) -> str:
    return KINDS_IN_WORDS[kind].capitalize()


def _banner(found: Investigated, origin: Origin, created: str) -> Markup:
    return fill(
        "banner.html",
        verdict=_LOOKS.get(found.result.kind, "failed"),
        word=_word(found.result.kind),
        sentence=f"Confidence {cut_middle(found.result.confidence, document.LONGEST_SENTENCE)}.",
        more=fill("more.html", text=found.node_id),
        project=origin.project,
        when=created,
    )


def _tried(found: Investigated) -> Markup:
    told = [fill("notice.html", text=cut_middle(each, document.LONGEST_SENTENCE)) for each in found.result.evidence]
    rows = {name: results for name, results in found.runs.items() if results}
    drawn = [strip.row(name, "", results) for name, results in rows.items()]
    meaning = f"One letter for each run: {strip.legend(list(rows.values()))}. The bar above it is how long it took."
    parts = [
        *([fill("strips.html", legend=meaning, rows=drawn)] if drawn else []),
        *([fill("list.html", rows=told)] if told else []),
    ]
    return document.section("tried", "What was tried", parts, "rows.html") if parts else Markup()


def _polluter(polluter: Polluter | None, origin: Origin) -> Markup:
    if polluter is None:
        return Markup()
    title = f"{_EFFECTS[polluter.effect]} {'this test' if len(polluter.node_ids) == 1 else 'these tests'}"
    names = [fill("notice.html", text=short(name)) for name in polluter.node_ids]
    shown = [fill("list.html", rows=names), *_copyable(polluter.rerun, origin)]
    return document.section("polluter", title, shown, "rows.html")


def _again(result: InvestigateResult, origin: Origin) -> Markup:
    if result.rerun is None or (result.polluter is not None and result.polluter.rerun == result.rerun):
        return Markup()
    return document.section("rerun", "Run the failure again", _copyable(result.rerun, origin), "rows.html")


def _copyable(rerun: dict[str, Any], origin: Origin) -> list[Markup]:
    """As a command and as arguments of the tool. What would be cut is not there: it could not be used."""
    texts = {
        "Command": f"{origin.again} {shlex.join(rerun['node_ids'])}",
        "Arguments of execute_tests": json.dumps(rerun, ensure_ascii=False),
    }
    return [
        fill("copyable.html", title=title, text=text)
        if len(text) <= LONGEST_VALUE
        else fill("paragraph.html", text=f"{title}: too long for this page; `--json` prints the arguments.")
        for title, text in texts.items()
    ]


def _suspects(suspects: Sequence[Suspect]) -> Markup:
    if not suspects:
        return Markup()
    bars = [
        fill(
            "bar.html",
            name=short(f"{each.function} in {each.file}:{each.line}"),
            seconds=f"{each.score:.2f}",
            share=f"{100 * each.score:.1f}",
        )
        for each in suspects
    ]
    chart = fill("chart.html", title="Function and score", bars=bars)
    return document.section("suspects", "Suspects", [fill("paragraph.html", text=_SUSPECTED), chart], "rows.html")
