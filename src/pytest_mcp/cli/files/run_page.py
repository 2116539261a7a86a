"""The page of `run --html`: the whole run and, with `--history`, what is recorded of its tests.

Where it is written is decided in `page_file`, what it shows in `page`, which is loaded only when a page was asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_mcp.config.model import Config
from pytest_mcp.page.origin import Origin
from pytest_mcp.report.report import Report

if TYPE_CHECKING:
    from pytest_mcp.page.strip import Result


@dataclass(frozen=True)
class RunPage:
    config: Config

    def draw(self, report: Report, origin: Origin, created: str) -> str:
        # No other command needs them.
        from pytest_mcp.page import content, document, past  # noqa: PLC0415

        shown = content.of_report(report)
        recorded = self._recorded(past.shown_ids(shown))
        return document.render(replace(shown, past=recorded), origin, created=created)

    def _recorded(self, node_ids: Sequence[str]) -> "Mapping[str, Sequence[Result]] | None":
        if self.config.history is None:
            return None
        from pytest_mcp.history import last_results  # noqa: PLC0415 - only with a history
        from pytest_mcp.page.strip import Result  # noqa: PLC0415 - as above

        found = last_results.look(self.config.history, self.config.root, node_ids)
        if found is None:
            return None
        return {name: [Result(*each) for each in results] for name, results in found.items()}
