"""The page of `run --html`: the whole run and, with `--history`, what is recorded of its tests.

In come the run, or those of several environments, and the answer, or an error; out comes the text of the page. Where
it is written is decided in `page_file`, what it shows in `page`, which is loaded only when a page was asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_mcp.api.errors import CallError
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli.files import page_file
from pytest_mcp.config.model import Config
from pytest_mcp.events.run import Run
from pytest_mcp.page.origin import Origin

if TYPE_CHECKING:
    from pytest_mcp.page.strip import Result


# A run, or what is known of one that was cut short.
Part = Run[ExecuteTests] | ExecuteResult
OnPart = Callable[[Part], None]


class RunPage:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.parts: list[Part] = []

    def keep(self, part: Part) -> None:
        """For the page; without any part it shows what the answer has."""
        self.parts.append(part)

    def draw(self, outcome: ExecuteResult | CallError, origin: Origin, created: str) -> str:
        # No other command needs them.
        from pytest_mcp.page import content, document, past  # noqa: PLC0415

        if not self.parts or isinstance(outcome, CallError):
            shown = page_file.content_of(outcome)
        elif len(self.parts) == 1 and isinstance(self.parts[0], Run):
            shown = content.of_run(self.parts[0], outcome)
        else:
            shown = content.of_parts(self.parts, outcome)
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
