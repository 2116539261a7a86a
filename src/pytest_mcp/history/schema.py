"""The tables of the history, for SQLite and PostgreSQL, and the steps from one version to the next.

In comes the version of a database; out come the statements that bring it to `VERSION`. Each tuple of `STEPS` is one
version and is never edited after a release: a change is a new tuple. Words in braces differ between the databases.
"""

from collections.abc import Mapping

SQLITE: Mapping[str, str] = {"identity": "INTEGER PRIMARY KEY", "bytes": "BLOB", "clustered": " WITHOUT ROWID"}
POSTGRES: Mapping[str, str] = {
    "identity": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "bytes": "BYTEA",
    "clustered": "",
}

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

# What tests execute. `code` is a fingerprint; lists of ids are compressed.
MAP_TABLES = (
    """CREATE TABLE functions (
        id {identity}, project TEXT NOT NULL, file TEXT NOT NULL, name TEXT NOT NULL, code TEXT NOT NULL,
        UNIQUE (project, file, name, code))""",
    """CREATE TABLE sources (
        id {identity}, project TEXT NOT NULL, file TEXT NOT NULL, hash TEXT NOT NULL, function_ids {bytes} NOT NULL,
        UNIQUE (project, file, hash))""",
    """CREATE TABLE maps (
        run_id BIGINT PRIMARY KEY, commit_id TEXT, dirty INTEGER NOT NULL, whole INTEGER NOT NULL,
        source_ids {bytes} NOT NULL, outside_ids {bytes} NOT NULL)""",
    """CREATE TABLE executed (
        test_id BIGINT PRIMARY KEY, run_id BIGINT NOT NULL, opaque INTEGER NOT NULL, function_ids {bytes} NOT NULL)""",
    "CREATE INDEX executed_run ON executed (run_id)",
)

STEPS = (_FIRST, MAP_TABLES)
VERSION = len(STEPS)


def steps_from(version: int, dialect: Mapping[str, str]) -> list[str]:
    """The statements that bring a database of this version to `VERSION`; version 0 is an empty one."""
    return [statement.format_map(dialect) for step in STEPS[version:] for statement in step]
