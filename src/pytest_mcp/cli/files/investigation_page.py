"""The page of `investigate --html`.

Where it is written is decided in `page_file`, what it shows in `page`. Loaded only when a page was asked for.
"""

from collections.abc import Sequence

from pytest_mcp.api.errors import CallError
from pytest_mcp.cli.files import page_file
from pytest_mcp.investigation import answer
from pytest_mcp.investigation.answer import Findings
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.page import investigation
from pytest_mcp.page.investigation import Investigated
from pytest_mcp.page.origin import Origin
from pytest_mcp.page.strip import Result
from pytest_mcp.report import report


def draw(known: Findings | CallError, origin: Origin, created: str) -> str:
    if isinstance(known, CallError):
        return page_file.of_report(report.of_no_run(known), origin, created)
    runs = {"alone": _results(known.alone.outcomes)}
    if known.base is not None:
        runs[f"at {known.base.name}"] = _results(known.base.outcomes)
    found = Investigated(known.node_id, answer.of(known), runs, known.failure, known.environment)
    return investigation.render(found, origin, created=created)


def _results(outcomes: Sequence[Outcome]) -> list[Result]:
    return [Result(each.letter, each.seconds) for each in outcomes]
