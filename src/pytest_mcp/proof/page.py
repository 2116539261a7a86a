"""The page of `pytest-mcp check --html`: do the tests prove the change, for people."""

from pytest_mcp.api.results import Verdict
from pytest_mcp.page import document, sections
from pytest_mcp.page.content import Content, PageOrigin
from pytest_mcp.page.document import Document
from pytest_mcp.page.sections import Banner, Block, PageSection, sentence, short
from pytest_mcp.proof import terminal
from pytest_mcp.proof.result import VERDICTS_IN_WORDS, CheckResult, ProofVerdict
from pytest_mcp.report.report import Report
from pytest_mcp.report.verdict import Evidence

# The look of the banner; all others look like a failure.
_LOOKS: dict[ProofVerdict, Verdict] = {"proven": "passed", "no_change": "no_tests", "weak": "incomplete"}


def page_of_proof(result: CheckResult, origin: PageOrigin, *, created: str, most: int) -> Document:
    report = Report(Evidence(), notices=result.notices, rerun=result.rerun)
    weakened = [[f"{each.file}:{each.line} {each.what}", each.before, each.after] for each in result.weakened]
    survivors = [[f"{each.file}:{each.line}", each.before, each.after] for each in result.survivors]
    made = [
        sections.notices(report.notices, most),
        PageSection("weakened", "Weakened tests", _sides(weakened)),
        PageSection("survivors", "Edits that no test notices", _sides(survivors)),
        PageSection(
            "uncovered",
            "Changed lines that no test ran",
            _list([f"{each.file}:{each.lines}" for each in result.not_covered]),
        ),
        PageSection("new", "New tests", _list(terminal.new_tests(result))),
    ]
    word = VERDICTS_IN_WORDS[result.verdict].capitalize()
    banner = Banner(_LOOKS.get(result.verdict, "failed"), word, f"{terminal.counts(result)}.", "", created)
    filled = [section for section in made if section.blocks]
    return document.page_document(Content(report), origin, banner, filled, most=most)


def _sides(rows: list[list[str]]) -> list[Block]:
    return [("sides", [["", "Before", "After"], [[sentence(cell) for cell in row] for row in rows]])] if rows else []


def _list(rows: list[str]) -> list[Block]:
    return [("list", [short(row) for row in rows])] if rows else []
