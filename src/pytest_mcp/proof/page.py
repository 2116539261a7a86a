"""The page of `pytest-mcp check --html`: do the tests prove the change, for people."""

from collections.abc import Sequence

from pytest_mcp.api.results import Verdict
from pytest_mcp.page import document
from pytest_mcp.page import sections as blocks
from pytest_mcp.page.content import Content, PageOrigin
from pytest_mcp.page.document import Document
from pytest_mcp.page.sections import Banner, Block, PageSection, sentence, short
from pytest_mcp.proof.result import VERDICTS_IN_WORDS, CheckResult, ProofVerdict
from pytest_mcp.proof.terminal import Entry, counts, sections
from pytest_mcp.report.report import Report
from pytest_mcp.report.verdict import Evidence

# The look of the banner; all others look like a failure.
_LOOKS: dict[ProofVerdict, Verdict] = {"proven": "passed", "no_change": "no_tests", "weak": "incomplete"}


def page_of_proof(result: CheckResult, origin: PageOrigin, *, created: str, most: int) -> Document:
    report = Report(Evidence(), notices=result.notices, rerun=result.rerun)
    listed = [PageSection(title.split()[0].lower(), title, [_block(each)]) for title, each in sections(result).items()]
    word = VERDICTS_IN_WORDS[result.verdict].capitalize()
    banner = Banner(_LOOKS.get(result.verdict, "failed"), word, f"{counts(result)}.", "", created)
    notices = blocks.notices(report.notices, most)
    filled = [notices, *listed] if notices.blocks else listed
    return document.page_document(Content(report), origin, banner, filled, most=most)


def _block(entries: Sequence[Entry]) -> Block:
    if any(each.before for each in entries):
        return ("sides", [["", "Before", "After"], [[sentence(cell) for cell in each] for each in entries]])
    return ("list", [short(each.words) for each in entries])
