"""The events of a collection: which tests pytest found and kept, and what it could not collect or left out.

Pure. The other kinds of events are in `model`.
"""

from types import NoneType
from typing import Any, NamedTuple

from pytest_mcp.run.model import Event, event


@event
class Refused(Event):
    """Files that were named explicitly and that the project's own collection would not take."""

    kind = "refused"
    files: list[str]


@event
class DoctestsLeftOut(Event):
    """Modules that a call reached and the project's own collection does not: how many, None where it is not known."""

    kind = "doctests_left_out"
    count: int | None
    first: str | None


@event
class Unreachable(Event):
    """Files with tests that no call can name: by a link they lie outside the root, or `::` stands in their path."""

    kind = "unreachable"
    files: list[str]


@event
class CollectionFailed(Event):
    kind = "collection_error"
    file: str
    error_type: str | None
    message: str | None
    line: int | None
    traceback: str


@event
class CollectionSkipped(Event):
    """A whole module that asked to be skipped; pytest counts it as one skipped test."""

    kind = "collection_skipped"
    id: str
    reason: str


@event
class Collected(Event):
    """One collector in the pytest-json-report plugin's shape; only with detail full."""

    kind = "collector"
    collector: dict[str, Any]


@event
class Deselected(Event):
    kind = "deselected"
    count: int
    ids: list[str] | None


@event
class Selected(Event):
    kind = "selected"
    count: int


@event
class Divided(Event):
    """The share of this shard: its tests, all tests and their files, and a digest of how many tests each file has."""

    kind = "divided"
    tests: int
    total: int
    files: int
    digest: str


@event
class Unreached(Event):
    """How many tests were deselected because the change cannot reach them."""

    kind = "unreached"
    count: int


@event
class LeftOut(Event):
    """A named target of which no test is left: how many were found, and the options or code that left them out."""

    kind = "left_out"
    id: str
    found: int
    by: list[str]


@event
class Compared(Event):
    """All named targets were compared with the collected tests. Not known of xdist's workers without our plugin."""

    kind = "compared"


@event
class FromCache(Event):
    """Options that left tests out for what failed last time. Not `certain` if xdist's workers lack our plugin."""

    kind = "from_cache"
    options: list[str]
    certain: bool


@event
class Marks(Event):
    """Which marks are registered, and which the tests have; only where marks were to choose the tests."""

    kind = "marks"
    registered: list[str]
    used: list[str]


@event
class NothingSelected(Event):
    """Options that leave tests out, where pytest looked, for which names, and how many Python files (do not) match.

    `near` has names of tests that a word of -k nearly matches.
    """

    kind = "nothing_selected"
    options: list[str]
    patterns: list[str]
    places: list[str]
    matching: int
    others: int
    near: list[str]


class Item(NamedTuple):
    """A discovered test."""

    id: str
    classes: list[str]
    function: str
    line: int | None


@event
class Items(Event):
    """Some discovered tests, each a row in the order of an item's fields: there may be a hundred thousand."""

    kind = "items"
    rows: list[list[Any]]

    def __post_init__(self) -> None:
        for id_, classes, function, line in self.rows:
            texts = [id_, function, *classes]
            if not all(type(text) is str for text in texts) or type(line) not in (int, NoneType):
                raise ValueError("not an item")

    @property
    def items(self) -> list[Item]:
        return [Item(*row) for row in self.rows]
