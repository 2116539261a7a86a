"""One row for a run and one for each of its tests, as both databases store them.

The fields have the names of the columns in `schema`. They hold no source, no output and no values: a cause is only a
fingerprint.
"""

from dataclasses import astuple, dataclass, fields
from typing import Literal

# Passed, failed, skipped, error.
Letter = Literal["P", "F", "S", "E"]


@dataclass(frozen=True)
class Origin:
    """What identifies a run, and when and where it took place."""

    # A new UUID in hex: a run that is recorded twice is stored once.
    key: str
    # Seconds since 1970, UTC.
    started: float
    project: str
    host: str


@dataclass(frozen=True)
class RunRow:
    key: str
    started: float
    project: str
    root: str
    commit_id: str | None
    # Equal for equal code: a hash of the commit and of every changed file. None if it is not known.
    state: str | None
    dirty: int
    # The arguments of the call that select tests, as compact JSON.
    selection: str
    verdict: str
    passed: int
    failed: int
    skipped: int
    errors: int
    duration: float
    python: str
    pytest: str
    host: str


@dataclass(frozen=True)
class TestRow:
    # It is not a test class for pytest.
    __test__ = False

    node_id: str
    outcome: Letter
    duration: float | None
    # 16 hex digits, equal for failures with the same cause.
    cause: str | None = None
    worker: str | None = None


RUN_COLUMNS = tuple(field.name for field in fields(RunRow))


def run_values(run: RunRow) -> tuple[object, ...]:
    return astuple(run)
