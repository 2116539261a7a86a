"""Where a page comes from. Separate from what draws it, so that a command can name it without loading that."""

from typing import NamedTuple


class Origin(NamedTuple):
    project: str
    # As it was typed, and the beginning of one that runs some of the tests again.
    command: str
    again: str
    commit: str | None = None
