"""What a page is made of: the report of a call, and what only a page shows beside it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pytest_mcp.report.report import RanTest, Report

# One run of a test: its letter as in the history, and its seconds if they are known.
Result = tuple[str, float | None]


class Origin(NamedTuple):
    """Where a page comes from."""

    project: str
    # As it was typed, and the beginning of one that runs some of the tests again.
    command: str
    again: str
    commit: str | None = None


@dataclass(frozen=True)
class Content:
    report: Report
    # By file: the text of lines that did not run.
    missed_lines: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    # With a history: what is recorded of some of the tests, the oldest first, without this run.
    past: Mapping[str, Sequence[Result]] | None = None

    @cached_property
    def tests(self) -> list[RanTest]:
        """In the order in which they ran; a module that skips itself counts as one."""
        return [*self.report.tests, *self.report.skipped_modules]
