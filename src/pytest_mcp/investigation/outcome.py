"""What one run says about the test under investigation.

Only a test that ran to its end has passed or failed; anything else is unknown, with the reason. The one exception is a
process that died while the test ran: that is a failure.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pytest_mcp.api.requests import Request
from pytest_mcp.report import collection_errors, failures, grouping, no_result, stacks
from pytest_mcp.report.failures import Failure
from pytest_mcp.run.run import Run
from pytest_mcp.text import in_line

# Passed, failed, skipped, passed only when a plugin repeated it; still running, or its file still being imported, when
# the time was over; its file could not be collected; unknown.
Letter = Literal["P", "F", "S", "R", "H", "C", "?"]


@dataclass(frozen=True)
class Outcome:
    letter: Letter
    # One line: the cause of a failure, the reason of a skip or why nothing is known.
    words: str = ""
    # Equal for failures of one statement, also in another version of the project; and what it said, with its values.
    cause: Hashable = None
    said: str = ""
    seconds: float = 0.0
    # Of pytest-randomly.
    random_seed: int | None = None
    # Why the run tested other code than it should have.
    elsewhere: str | None = None
    # Of one that hangs: the frames of the project, the innermost last.
    stack: tuple[str, ...] = ()
    failure: Failure | None = field(default=None, compare=False)

    @property
    def is_known(self) -> bool:
        """Whether it ran to its end. A test that is skipped says nothing about the code."""
        return self.letter in ("P", "F", "R")

    @property
    def failed(self) -> bool:
        return self.letter in ("F", "R")

    @property
    def passed(self) -> bool:
        return self.letter == "P"

    def is_like(self, others: Sequence["Outcome"]) -> bool:
        """Whether it failed by the same statement as one of them, with the same values.

        Values that differ between runs of the same code (times, ids, temporary folders) say nothing.
        """
        alike = [each.said for each in others if self.failed and each.failed and each.cause == self.cause]
        if len(set(alike)) > 1:
            return grouping.masked(self.said, "") in {grouping.masked(said, "") for said in alike}
        return self.said in alike


def pattern(outcomes: Iterable[Outcome]) -> str:
    return "".join(outcome.letter for outcome in outcomes)


def outcome_of(run: Run[Request], node_id: str) -> Outcome:
    record = run.ledger.tests.get(node_id)
    failure = failures.failure_of(record) if record is not None and record.outcome in ("failed", "error") else None
    letter: Letter
    cause: Hashable = None
    if failure is not None:
        letter, words, cause = "F", _words_of(failure), _cause_of(failure)
    elif record is not None and record.outcome == "passed":
        letter, words = ("R", "passed only when a plugin repeated it") if record.repeated else ("P", "")
    elif record is not None and record.outcome == "skipped":
        letter, words = "S", failures.skip_reason(record)
    else:
        letter, words = _without_outcome(run, node_id)
    elsewhere = next((in_line(f"{each.name} from {each.file}") for each in run.ledger.imported_elsewhere), None)
    return Outcome(
        letter,
        in_line(words),
        # A process that died has no failing statement.
        cause or (words if letter == "F" else None),
        said="" if failure is None else failures.plain(failure.message).replace(f"{run.environment.root}/", ""),
        seconds=run.exit.duration,
        random_seed=run.ledger.seeded.seed if run.ledger.seeded else None,
        elsewhere=elsewhere,
        stack=tuple(stacks.stuck_at(run)) if letter == "H" else (),
        failure=failure,
    )


def _without_outcome(run: Run[Request], node_id: str) -> tuple[Letter, str]:
    ended, ledger = run.exit, run.ledger
    if ended.timed_out:
        return _late(run, node_id)
    if node_id in ledger.running and ended.reason == "exited":
        return "F", f"the process ended while it ran ({ended.signal or f'exit code {ended.code}'})"
    if ledger.collection_failures:
        broken = collection_errors.collection_error(ledger.collection_failures[0])
        return "C", f"{broken.file} cannot be collected: {broken.error_type}: {broken.message}"
    if ledger.skipped_modules:
        return "S", ledger.skipped_modules[0].reason
    if ledger.refused is not None:
        return "?", "pytest does not collect its file (python_files)"
    error = no_result.diagnose(run)
    return "?", "not there: pytest does not select it" if error is None else error.message.partition("\n")[0]


def _late(run: Run[Request], node_id: str) -> tuple[Letter, str]:
    stack, after = stacks.stuck_at(run), f"after {run.exit.duration:.0f} s"
    place = f", at {stack[-1]}" if stack else ""
    if node_id in run.ledger.running:
        return "H", f"it was still running {after}{place}"
    if run.ledger.hello is not None and not run.ledger.selected:
        return "H", f"its file was still being imported {after}{place}"
    return "?", f"it had not begun {after}"


def _words_of(failure: Failure) -> str:
    """The cause and, of a comparison, the first thing that differs, of texts both sides of it."""
    words, chain = grouping.line(failure.cause), failure.parts[0].chain
    below = [line.strip() for each in chain[-1:] for line in each.text[1:] if line.strip()]
    if not below or below[0].startswith("+") or not re.match(r"(?:AssertionError: )?assert ", chain[-1].headline):
        return words
    differing = below[: 2 if below[1:] and below[1].startswith("+ ") else 1]
    return f"{words}; {grouping.line(' '.join(differing))}"


def _cause_of(failure: Failure) -> Hashable:
    """As failures are grouped, but by the failing statement instead of its line, which moves between versions.

    Assertions of one test stand apart here: they are different causes if they are different statements.
    """
    site = next((frame for frame in reversed(failure.frames) if frame.place == failure.site), None)
    if site is not None and site.statement is not None:
        return failure.when, failure.type, site.path, site.function, " ".join(site.statement.split())
    return failure.when, grouping.masked(failure.cause, failure.node_id)
