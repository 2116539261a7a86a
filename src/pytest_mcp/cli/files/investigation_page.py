"""The page of `investigate --html`.

In come what an investigation found and its answer, or an error; out comes the text of the page. Where it is written is
decided in `page_file`, what it shows in `page`. Loaded only when a page was asked for.
"""

from collections.abc import Sequence

from pytest_mcp.api.errors import CallError
from pytest_mcp.api.investigation import InvestigateResult, OneTest
from pytest_mcp.cli.files import page_file
from pytest_mcp.events.run import Run
from pytest_mcp.investigation.answer import Findings
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.page import investigation
from pytest_mcp.page.investigation import Investigated
from pytest_mcp.page.origin import Origin
from pytest_mcp.page.strip import Result


class InvestigationPage:
    def __init__(self) -> None:
        self.findings: Findings | None = None
        self.collected: Run[OneTest] | None = None

    def keep(self, findings: Findings, collected: Run[OneTest] | None) -> None:
        self.findings, self.collected = findings, collected

    def draw(self, outcome: InvestigateResult | CallError, origin: Origin, created: str) -> str:
        if isinstance(outcome, CallError):
            return page_file.of_answer(outcome, origin, created)
        assert self.findings is not None, "an answer is made of findings"
        found = _found(self.findings, outcome, self.collected)
        return investigation.render(found, origin, created=created)


def _found(findings: Findings, result: InvestigateResult, collected: Run[OneTest] | None) -> Investigated:
    runs = {"alone": _results(findings.alone.outcomes)}
    if findings.base is not None:
        runs[f"at {findings.base.name}"] = _results(findings.base.outcomes)
    environment = None if collected is None else collected.environment
    return Investigated(findings.node_id, result, runs, findings.failure, environment)


def _results(outcomes: Sequence[Outcome]) -> list[Result]:
    return [Result(each.letter, each.seconds) for each in outcomes]
