"""Recorded runs of one project, as the questions read them, and the answer that they fill.

How much is read is bounded, so that a question takes as long for a million results as for a hundred thousand: of more
runs the newest are read, and a notice says so.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from pytest_mcp.api.errors import CallError
from pytest_mcp.config.model import History
from pytest_mcp.history.request_and_result import HistoryResult
from pytest_mcp.history.store import RUN_COLUMNS, HistoryUnavailable, RunRow, Store, marks, open_store
from pytest_mcp.python.files import read_manifest

# The most runs that a question looks at.
MAX_RUNS = 3_000
# The most results of one test that are read, and how many of the last outcomes are shown.
MAX_RESULTS = 500
SHOWN_RUNS = 40
# The selection of a run of everything.
EVERYTHING = "{}"
# A run of everything with fewer of the tests was stopped early or could not collect all of them.
WHOLE_SHARE = 0.9
SHORT_COMMIT = 7
# How to get what an answer leaves out.
OMITTED = "raise max_tokens, or name a path"
_NO_RUNS = "No run of this project is recorded in these days."
EMPTY = HistoryResult(runs=0, flaky=None, slow=None, failing=None, test=None, notices=[], omitted=None)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PastRun(RunRow):
    id: int

    @property
    def results(self) -> int:
        return self.passed + self.failed + self.skipped + self.errors

    @property
    def moment(self) -> str:
        return f"{datetime.fromtimestamp(self.started, UTC):%Y-%m-%d %H:%M}"

    @property
    def code(self) -> str | None:
        """For people: the commit, and whether there were changes on top of it."""
        return None if self.commit_id is None else self.commit_id[:SHORT_COMMIT] + ("+changes" if self.dirty else "")


class PastResult(NamedTuple):
    run: PastRun
    outcome: str
    cause: str | None
    seconds: float | None

    @property
    def failed(self) -> bool:
        return self.outcome in ("F", "E")


_COLUMNS = ", ".join((*RUN_COLUMNS, "id"))


@dataclass(frozen=True)
class Runs:
    """The runs of a project that started at `since` (seconds since 1970) or later, oldest first.

    `skipped` older ones are in that time too, but were not read.
    """

    store: Store
    project: str
    runs: tuple[PastRun, ...]
    since: float = 0.0
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
    def machines(self) -> dict[int, tuple[str, str]]:
        """Host and Python of each run. Hosts that ran only once, as containers do, count as one."""
        count = Counter(run.host for run in self.runs)
        return {run.id: (run.host if count[run.host] > 1 else "", run.python) for run in self.runs}

    def answer(self, *notices: str, **parts: object) -> HistoryResult:
        """Empty notices are left out. Without a run there is nothing else to say."""
        skipped = f"Only the newest {len(self.runs)} runs were read; {self.skipped} older ones of these days were not."
        said = [skipped if self.skipped else "", *notices] if self.runs else [_NO_RUNS]
        return EMPTY.model_copy(update={"runs": len(self.runs), "notices": [*filter(None, said)], **parts})

    def test_id(self, node_id: str) -> int | None:
        rows = self.store.execute("SELECT id FROM tests WHERE project = ? AND node_id = ?", (self.project, node_id))
        return rows[0][0] if rows else None

    def results_of(self, test: int | None, most: int = MAX_RESULTS) -> list[PastResult]:
        """The newest results of one test in these runs, oldest first."""
        sql = (
            "SELECT run_id, outcome, cause, duration FROM results WHERE test_id = ? AND run_id >= ?"
            " ORDER BY run_id DESC LIMIT ?"
        )
        rows = self.store.execute(sql, (test, self.first_id, most)) if test is not None else []
        results = [PastResult(self.by_id[run], *values) for run, *values in rows if run in self.by_id]
        return sorted(results, key=lambda result: (result.run.started, result.run.id))

    def names(self, ids: Sequence[int]) -> dict[int, str]:
        return dict(self.store.execute(f"SELECT id, node_id FROM tests WHERE id IN ({marks(ids)})", ids))  # noqa: S608

    def ids_below(self, place: str) -> set[int] | None:
        """The ids of the tests of a file or folder, or of one test and its parameters; None means all tests."""
        if place in ("", "."):
            return None
        # Not LIKE: no character of the name has a meaning. Not a range: PostgreSQL may sort in another way.
        sql = "SELECT id FROM tests WHERE project = ? AND (node_id = ? OR substr(node_id, 1, ?) IN (?, ?, ?))"
        below = [place + separator for separator in "/:["]
        return {row[0] for row in self.store.execute(sql, (self.project, place, len(place) + 1, *below))}


@contextmanager
def reading(history: History, root: Path, since: float = 0.0, most: int = MAX_RUNS) -> Iterator[Runs]:
    """Raises HistoryUnavailable, also for values that nobody recorded: no database notices every damage of its file."""
    with closing(open_store(history.address, creates=False)) as store:
        try:
            yield read_runs(store, project_name(root), since, most)
        # What a caller can mend is no damage.
        except (HistoryUnavailable, CallError):
            raise
        except Exception as error:
            logger.warning("unexpected value in the history", exc_info=error)
            raise HistoryUnavailable("it has values that pytest-mcp did not write") from error


def project_name(root: Path) -> str:
    """Equal on every machine of a team: `[project] name`, normalised as package indexes do; else that of the folder."""
    name = read_manifest(root).table("project").get("name")
    return re.sub(r"[-_.]+", "-", name.strip()).lower() if isinstance(name, str) and name.strip() else root.name


def read_runs(store: Store, project: str, since: float = 0.0, most: int = MAX_RUNS) -> Runs:
    sql = f"SELECT {_COLUMNS} FROM runs WHERE project = ? AND started >= ? ORDER BY started DESC LIMIT ?"  # noqa: S608
    rows = store.execute(sql, (project, since, most))
    ((every,),) = store.execute("SELECT COUNT(*) FROM runs WHERE project = ? AND started >= ?", (project, since))
    return Runs(store, project, tuple(PastRun(*row) for row in reversed(rows)), since, every - len(rows))


def find_runs(store: Store, ids: Sequence[int]) -> dict[int, PastRun]:
    """These runs, whenever they were; those that are no longer recorded are missing."""
    sql = f"SELECT {_COLUMNS} FROM runs WHERE id IN ({marks(ids)})"  # noqa: S608 - only marks
    return {run.id: run for run in (PastRun(*row) for row in store.execute(sql, ids))}


def letters(results: Sequence[PastResult]) -> str:
    """The last outcomes, as an answer shows them."""
    return "".join(result.outcome for result in results[-SHOWN_RUNS:])


def failures_in_a_row(results: Sequence[PastResult]) -> list[PastResult]:
    """The failures since it passed the last time, the newest first; a skip is no outcome."""
    return list(takewhile(lambda result: result.failed, (each for each in reversed(results) if each.outcome != "S")))
