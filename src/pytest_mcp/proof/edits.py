"""What is told of the tests of a change."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Weakening:
    """`line` is of the file now, or of the base if the file is gone. Strong is what needs no second look."""

    file: str
    line: int
    what: str
    before: str
    after: str
    is_strong: bool = True


@dataclass(frozen=True)
class TestEdits:
    """Tests by node id. `values` are checks of which only the expected value changed: not judged."""

    __test__ = False

    weakened: tuple[Weakening, ...]
    new: tuple[str, ...]
    edited: tuple[str, ...]
    values: tuple[Weakening, ...] = ()
