"""The tables of the history, for SQLite and PostgreSQL, and the steps from one version to the next.

In comes the version of a database; out come the statements that bring it to `VERSION`. Each tuple of `STEPS` is one
version and is never edited after a release: a change is a new tuple. Words in braces differ between the databases.
"""

from collections.abc import Mapping

SQLITE: Mapping[str, str] = {"identity": "INTEGER PRIMARY KEY", "clustered": " WITHOUT ROWID"}
POSTGRES: Mapping[str, str] = {"identity": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "clustered": ""}

_FIRST = (
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
)

# Version 2 added tables that are no longer used. A database that has them keeps them.
_SECOND: tuple[str, ...] = ()

STEPS = (_FIRST, _SECOND)
VERSION = len(STEPS)


def steps_from(version: int, dialect: Mapping[str, str]) -> list[str]:
    """The statements that bring a database of this version to `VERSION`; version 0 is an empty one."""
    return [statement.format_map(dialect) for step in STEPS[version:] for statement in step]
