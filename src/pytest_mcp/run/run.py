"""The values that every call is about: the project, what has changed in it, how far its runs are, a run that is over.

`run.attempt` makes a `Run`. What it means is decided in `report`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.requests import Request
from pytest_mcp.config.model import Config, Shard
from pytest_mcp.process.confinement import SandboxLimits
from pytest_mcp.process.job import Exit
from pytest_mcp.process.spare import Spare
from pytest_mcp.run.ledger import Ledger

# Stands for all lines of a changed file, instead of their ranges.
ALL_LINES = "all"
Asked_co = TypeVar("Asked_co", bound=Request, covariant=True)


@dataclass(frozen=True)
class Steps:
    """How far a call of several runs is: the number of its steps so far, and the last of them in words.

    While it waits, the number is between 0 and 1.
    """

    finished: float
    words: str
    # Nobody knows how many there will be.
    selected: None = None


OnProgress = Callable[[Ledger | Steps], None]


@dataclass(frozen=True)
class Project:
    """What calls are about: the operator's settings, the child that waits, and who follows the call."""

    config: Config
    # A child that was started ahead; None if there is none and none is wanted.
    spare: Spare | None = None
    # Told of everything that a run reports, as it comes.
    on_progress: OnProgress = lambda _progress: None


@dataclass(frozen=True)
class Reach:
    """Which files a change can reach: `changed` decides it."""

    # The ref as a person names it, and how many files changed since then; None if that is not known.
    since: str
    changed: int | None
    # Python files that the change can reach, nearest first: the changed ones, what imports them, and so on.
    files: tuple[str, ...] = ()
    # Python files that it cannot reach. Every other file, also one that is not known, is run.
    unreached: tuple[str, ...] = ()
    # Why everything is run, if it is.
    reason: str | None = None
    # Files that every change reaches, each with the reason.
    always: tuple[str, ...] = ()
    # What to say if it turns out that all tests are reached.
    hub: str | None = None
    # For each test file that is reached by names, the shortest way from it to what changed.
    ways: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ChangedLines:
    # The ref as a person names it.
    since: str
    # For each changed file the lines that were added or replaced, as ranges (`3-5,9`); None if they are not known.
    ranges: dict[str, str] | None
    # Why they are not known.
    reason: str | None = None


@dataclass(frozen=True)
class Run(Generic[Asked_co]):
    """One child from its start to its end: what was asked, what it reported, how its process ended."""

    request: Asked_co
    ledger: Ledger
    exit: Exit
    command: tuple[str, ...]
    time_limit: int
    environment: RunEnvironment
    # Reasons to ask whether this was the right environment.
    doubts: tuple[str, ...] = ()
    # What certainly helps if files could not be collected, or if there are no tests.
    fix: Sentence | None = None
    shard: Shard | None = None
    # With `changed`: what the change can reach.
    reach: Reach | None = None
    # With coverage of changed lines: which lines those are.
    changed_lines: ChangedLines | None = None
    # The operator's limit for each of its processes, in bytes.
    max_memory: int | None = None
    # The sandbox that the server is in, and its runs with it.
    sandbox: SandboxLimits | None = None
