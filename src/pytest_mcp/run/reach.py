"""Which files a change can reach, and its lines: decided in `changes`, used by the child, told in answers."""

from dataclasses import dataclass

# Instead of ranges.
ALL_LINES = "all"


@dataclass(frozen=True)
class Reach:
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


@dataclass(frozen=True)
class ChangedLines:
    # The ref as a person names it.
    since: str
    # For each changed file the lines that were added or replaced, as ranges (`3-5,9`); None if they are not known.
    ranges: dict[str, str] | None
    # Why they are not known.
    reason: str | None = None
