"""Recorded runs of one project, as the questions read them.

In come a store and what to look at; out come runs, oldest first. How much is read is bounded, so that a question takes
as long for a million results as for a hundred thousand: of more runs the newest are read, and `Runs.skipped` says so.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from pytest_mcp.history.store import Store

# The most runs that a question looks at.
MOST_RUNS = 3_000
# SQLite before 3.32 takes at most 999 values in one statement.
MOST_VALUES = 900
# The selection of a run of everything.
EVERYTHING = "{}"
# A run of everything with fewer of the tests was stopped early or could not collect all of them.
WHOLE_SHARE = 0.9
SHORT_COMMIT = 7
_COLUMNS = "id, started, commit_id, state, dirty, selection, verdict, passed, failed, skipped, errors, duration, python"
_COLUMNS += ", pytest, host"


class Scope(NamedTuple):
    """What a question looks at: the runs of a project that started at this time or later, in seconds since 1970."""

    store: Store
    project: str
    since: float = 0.0


class PastRun(NamedTuple):
    id: int
    started: float
    commit: str | None
    state: str | None
    dirty: int
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

    @property
    def results(self) -> int:
        return self.passed + self.failed + self.skipped + self.errors

    @property
    def moment(self) -> str:
        return f"{datetime.fromtimestamp(self.started, UTC):%Y-%m-%d %H:%M}"

    @property
    def code(self) -> str | None:
        """For people: the commit, and whether there were changes on top of it."""
        return None if self.commit is None else self.commit[:SHORT_COMMIT] + ("+changes" if self.dirty else "")


@dataclass(frozen=True)
class Runs:
    """Oldest first. `skipped` older ones are in the window too, but were not read."""

    runs: tuple[PastRun, ...]
    skipped: int = 0

    @cached_property
    def by_id(self) -> dict[int, PastRun]:
        return {run.id: run for run in self.runs}

    @property
    def first_id(self) -> int:
        return min(self.by_id, default=0)

    @cached_property
    def most_results(self) -> int:
        return max((run.results for run in self.runs), default=0)

    @cached_property
    def machines(self) -> dict[int, str]:
        """The machine of each run. Hosts that ran only once, as containers do, count as one machine."""
        count = Counter(run.host for run in self.runs)
        return {run.id: run.host if count[run.host] > 1 else "" for run in self.runs}

    @cached_property
    def newest_whole(self) -> int:
        """The id of the newest run that had every test; 0 if there is none."""
        return max((run.id for run in self.runs if self._is_whole(run)), default=0)

    def _is_whole(self, run: PastRun) -> bool:
        if run.selection != EVERYTHING:
            return False
        return run.verdict == "passed" or (run.errors == 0 and run.results >= WHOLE_SHARE * self.most_results)


def recent(scope: Scope, most: int = MOST_RUNS) -> Runs:
    sql = f"SELECT {_COLUMNS} FROM runs WHERE project = ? AND started >= ? ORDER BY started DESC LIMIT ?"  # noqa: S608
    found = scope.store.select(sql, (scope.project, scope.since, most))
    return Runs(tuple(PastRun(*row) for row in reversed(found)), _beyond(scope, len(found), most))


def _beyond(scope: Scope, read: int, most: int) -> int:
    if read < most:
        return 0
    sql = "SELECT COUNT(*) FROM runs WHERE project = ? AND started >= ?"
    return int(scope.store.select(sql, (scope.project, scope.since))[0][0]) - read


def named(store: Store, ids: Sequence[int]) -> dict[int, PastRun]:
    """These runs, whenever they were; those that are no longer recorded are missing."""
    found: dict[int, PastRun] = {}
    for part in parts(sorted(set(ids))):
        sql = f"SELECT {_COLUMNS} FROM runs WHERE id IN ({marks(part)})"  # noqa: S608 - only marks
        found |= {row[0]: PastRun(*row) for row in store.select(sql, part)}
    return found


def node_ids(store: Store, test_ids: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in parts(sorted(set(test_ids))):
        found |= dict(store.select(f"SELECT id, node_id FROM tests WHERE id IN ({marks(part)})", part))  # noqa: S608
    return found


def ids_below(scope: Scope, place: str) -> set[int] | None:
    """The ids of the tests of a file or folder, or of one test and its parameters; None means all tests."""
    if place in ("", "."):
        return None
    found: set[int] = set()
    for separator in ("/", "::", "["):
        # A range and not LIKE: it uses the index, and no character of the name has a meaning.
        low, high = place + separator, place + separator[:-1] + chr(ord(separator[-1]) + 1)
        sql = "SELECT id FROM tests WHERE project = ? AND (node_id = ? OR (node_id >= ? AND node_id < ?))"
        found.update(row[0] for row in scope.store.select(sql, (scope.project, place, low, high)))
    return found


def parts(values: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), MOST_VALUES):
        yield values[start : start + MOST_VALUES]


def marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
