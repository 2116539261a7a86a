"""What a run has covered, as the child tells it.

Pure. A test can forge a record, so the ranges of lines are checked. What an answer says of it is decided in
`report/coverage.py`.
"""

import re

from pytest_mcp.run.model import Event, event

_RANGES = re.compile(r"(?:\d{1,8}(?:-\d{1,8})?(?:,\d{1,8}(?:-\d{1,8})?)*)?")


@event
class NoCoverage(Event):
    """A call asks for coverage, but coverage.py cannot be imported."""

    kind = "no_coverage"
    error: str


@event
class Measuring(Event):
    """pytest has come back; before its process exits with this, what was measured is put together."""

    kind = "measuring"
    exit_status: int


@event
class CoveredFile(Event):
    """How many lines of a file count, how many of them did not run, and the first of those as ranges (`3-5,9`)."""

    kind = "covered_file"
    file: str
    lines: int
    missed: int
    ranges: str
    # Branches that were not taken, as pairs of lines; a negative one leaves the function. None: not measured.
    untaken: list[list[int]] | None

    def __post_init__(self) -> None:
        if not _RANGES.fullmatch(self.ranges) or any(len(pair) != 2 for pair in self.untaken or ()):
            raise ValueError("not lines")


@event
class Covered(Event):
    """All files together; `error` is why nothing is known. None: not measured, or only some lines were asked for."""

    kind = "covered"
    percent: float | None
    lines: int
    missed: int
    branches: int | None
    untaken: int | None
    files: int
    error: str | None
