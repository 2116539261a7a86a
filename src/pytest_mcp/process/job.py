"""The job of a child: what the launcher reads from job.json in the run's folder.

`command` builds it, `report_file` writes it. The child has its own copy of this class in `child/launcher.py`, because
it imports nothing of ours; a test compares the two.
"""

from dataclasses import dataclass
from typing import TypedDict

from pytest_mcp.process.launch import Launch


class Trace(TypedDict):
    """Record which lines each test runs, and run only tests that help to explain a failure."""

    # These run first.
    failing: list[str]
    # How many others run after them, and for how long.
    most_tests: int
    seconds: float


class Coverage(TypedDict):
    """Measure which lines the tests run."""

    # Only these lines of these files, as ranges (`3-5,9`) or `all`; None: all that the project's settings name.
    changed: dict[str, str] | None


class Job(TypedDict):
    # The project's root, and pytest's arguments behind those that the child adds itself.
    root: str
    args: list[str]
    # Only collect, and leave nothing in the project.
    collect_only: bool
    # Whether the call names a part of the suite, and whether it has an expression for its tests.
    part: bool
    filtered: bool
    # The absolute paths of the arguments, and which of them are files that a call names.
    targets: list[str]
    explicit_files: list[str]
    # Every node id that was asked for; those that another argument covers, each with the argument it would have been.
    named: list[str]
    covered: list[list[str]]
    # What the child reports besides: everything of every phase, the marks of the tests, what pytest runs with.
    full: bool
    by_marks: bool
    portrait: bool
    # The most characters of one text of a test.
    text_limit: int
    # The number of the shard that runs, from 1, and how many there are; None runs the whole selection.
    shard: list[int] | None
    # Files that a change can reach, nearest first, and those that it cannot; None runs everything as it is collected.
    files: list[str] | None
    unreached: list[str]
    # How many of xdist's workers run the tests, whatever the project's addopts say; None leaves it to those.
    workers: int | None
    # Exactly these tests, in this order and in one process. None: whatever the arguments select.
    ids: list[str] | None
    trace: Trace | None
    # A checkout and the copy that is tested instead of it: no module may come from the checkout.
    moved: list[str] | None
    coverage: Coverage | None
    # Its memory is limited: some of it is kept for reporting.
    limited_memory: bool


@dataclass(frozen=True)
class Command:
    """What to start, its job, and the command that a person would type for it."""

    launch: Launch
    job: Job
    reproduction: tuple[str, ...]
