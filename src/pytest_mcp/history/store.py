"""The database of the history, whichever it is: its tables, its rows, and how a run is written into it.

SQL here and in the questions is portable, with `?` for values. Every method of a store blocks: callers use a thread.
What differs between the databases is in `sqlite` and `postgres`, each of which is loaded only when it is used.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from pytest_mcp.config.history import is_postgres

# Words in braces differ between the databases.
SQLITE: Mapping[str, str] = {"identity": "INTEGER PRIMARY KEY", "clustered": " WITHOUT ROWID"}
POSTGRES: Mapping[str, str] = {"identity": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "clustered": ""}
# Each tuple is one version of the tables and is never edited after a release: a change is a new tuple.
STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE runs (
        id {identity}, key TEXT NOT NULL UNIQUE, started DOUBLE PRECISION NOT NULL, project TEXT NOT NULL,
        root TEXT NOT NULL, commit_id TEXT, state TEXT, dirty INTEGER NOT NULL, selection TEXT NOT NULL,
        verdict TEXT NOT NULL, passed INTEGER NOT NULL, failed INTEGER NOT NULL, skipped INTEGER NOT NULL,
        errors INTEGER NOT NULL, duration DOUBLE PRECISION NOT NULL, python TEXT NOT NULL, pytest TEXT NOT NULL,
        host TEXT NOT NULL)""",
        "CREATE INDEX runs_started ON runs (started)",
        "CREATE INDEX runs_project ON runs (project, started)",
        "CREATE TABLE tests (id {identity}, project TEXT NOT NULL, node_id TEXT NOT NULL, UNIQUE (project, node_id))",
        """CREATE TABLE results (
        run_id BIGINT NOT NULL, test_id BIGINT NOT NULL, outcome TEXT NOT NULL, duration DOUBLE PRECISION, cause TEXT,
        worker TEXT, PRIMARY KEY (test_id, run_id)){clustered}""",
        "CREATE INDEX results_run ON results (run_id)",
        # Failures are few. Questions about them read this instead of every result.
        "CREATE INDEX results_failed ON results (run_id, test_id) WHERE outcome IN ('F', 'E')",
        """CREATE TABLE trends (
        test_id BIGINT NOT NULL, day INTEGER NOT NULL, runs INTEGER NOT NULL, failed INTEGER NOT NULL,
        median DOUBLE PRECISION, PRIMARY KEY (test_id, day)){clustered}""",
    ),
    # Version 2 added tables that are no longer used. A database that has them keeps them.
    (),
)

# Passed, failed, skipped, error.
Letter = Literal["P", "F", "S", "E"]
Row = tuple[Any, ...]
Value = TypeVar("Value")


class HistoryUnavailable(Exception):
    """The history cannot be read or written; the message is a clause that says why, without the password."""


@dataclass(frozen=True)
class RunRow:
    """Its fields have the names of the columns. No source, no output and no values are recorded."""

    # A new UUID in hex: a run that is recorded twice is stored once.
    key: str
    # Seconds since 1970, UTC.
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
_RUN = f"INSERT INTO runs ({', '.join(RUN_COLUMNS)}) VALUES ({', '.join('?' * len(RUN_COLUMNS))})"  # noqa: S608 - constants
_TEST = "INSERT INTO tests (project, node_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
_RESULT = """INSERT INTO results (run_id, test_id, outcome, duration, cause, worker)
    SELECT ?, id, ?, ?, ?, ? FROM tests WHERE project = ? AND node_id = ?"""


class Store(ABC):
    # What the result of one test takes, with its indexes.
    bytes_per_result: int
    # One of sqlite3 or of psycopg.
    connection: Any

    @abstractmethod
    def translated(self) -> AbstractContextManager[None]:
        """Errors of the database become HistoryUnavailable."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """What is executed in it is stored as a whole, or not at all if it raises."""

    def statement(self, sql: str) -> Any:
        """As the library takes it."""
        return sql

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        with self.translated():
            cursor = self.connection.execute(self.statement(sql), parameters)
            return cursor.fetchall() if cursor.description else []

    def executemany(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        with self.translated():
            self.connection.cursor().executemany(self.statement(sql), rows)

    def close(self) -> None:
        with suppress(HistoryUnavailable), self.translated():
            self.connection.close()

    def record(self, run: RunRow, tests: Sequence[TestRow]) -> int:
        """Store a run in one transaction and return its id."""
        with self.transaction():
            return self.insert(run, tests)

    def insert(self, run: RunRow, tests: Sequence[TestRow]) -> int:
        """A run whose key is known, as after a commit whose answer was lost, is left as it is."""
        if known := self._run_id(run.key):
            return known
        self.execute(_RUN, tuple(map(_storable, astuple(run))))
        run_id, project = self._run_id(run.key), _storable(run.project)
        assert run_id is not None
        # Sorted, so that two writers that add the same tests wait for each other in one order and never deadlock.
        by_name = sorted({_storable(test.node_id): test for test in tests}.items())
        self.executemany(_TEST, [(project, name) for name, _ in by_name])
        rows = [(each.outcome, each.duration, each.cause, _storable(each.worker)) for _, each in by_name]
        self.executemany(_RESULT, [(run_id, *row, project, name) for row, (name, _) in zip(rows, by_name, strict=True)])
        return run_id

    def _run_id(self, key: str) -> int | None:
        rows = self.execute("SELECT id FROM runs WHERE key = ?", (key,))
        return rows[0][0] if rows else None


def open_store(address: str, *, creates: bool = True) -> Store:
    """Raises HistoryUnavailable. Who only reads creates no file."""
    if is_postgres(address):
        try:
            from pytest_mcp.history.postgres import PostgresStore  # noqa: PLC0415
        except ImportError as error:
            raise HistoryUnavailable('psycopg is missing: install "pytest-mcp-server[postgres]"') from error
        return PostgresStore(address, writes=creates)
    try:
        from pytest_mcp.history.sqlite import SqliteStore  # noqa: PLC0415
    except ImportError as error:
        raise HistoryUnavailable("this Python was built without sqlite3") from error
    return SqliteStore(Path(address), creates=creates)


def missing_steps(version: int, name: object, dialect: Mapping[str, str]) -> list[str]:
    """The statements that bring a database of this version to the newest; version 0 is an empty one.

    Raises HistoryUnavailable if its tables are newer than these.
    """
    if version > len(STEPS):
        raise HistoryUnavailable(
            f"{name} was written by a newer pytest-mcp (version {version} of its tables; this one knows {len(STEPS)})"
        )
    return [statement.format_map(dialect) for step in STEPS[version:] for statement in step]


def marks(values: Sequence[object]) -> str:
    """At most 999, for SQLite before 3.32. PostgreSQL takes no empty list."""
    return ", ".join("?" * len(values)) or "NULL"


def _storable(value: Value) -> Value:
    """Neither database takes every string: tests and file systems can have names that are no Unicode."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return cast("Value", value.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00"))
