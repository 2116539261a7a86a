"""Which functions of the project are most likely to contain the bug."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mcp.investigation.changed_lines import Before
from pytest_mcp.investigation.context import Investigation


@dataclass(frozen=True)
class Suspect:
    file: str
    line: int
    function: str
    score: float


async def suspects(
    _investigation: Investigation, _failing: Sequence[str], _before: Before | None = None
) -> list[Suspect]:
    return []
