"""The history in a PostgreSQL database that many servers and CI jobs share.

The tables are in a schema of their own, so the database may hold other things too. No message repeats what the server
or libpq said about the connection: it could quote the URL. A server that accepts and never answers is given up here:
its own limits would not end our wait.
"""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors

from pytest_mcp.config.history import display_name
from pytest_mcp.history import store
from pytest_mcp.history.store import HistoryUnavailable, Row, Store

# libpq knows no shorter one.
CONNECT_SECONDS = 2
# For one statement, waiting for locks included. An answer may wait for what is read, and for nothing that is written.
READ_SECONDS = 2
WRITE_SECONDS = 10
# By so much the server comes first, which says what was wrong.
LATER_SECONDS = 0.5
SCHEMA = "pytest_mcp"
# Any constant: it keeps two processes from creating the tables at the same time.
_LOCK = 0x706D6368
_SESSION = f"SET search_path TO {SCHEMA}; SET statement_timeout TO '{{}}s'"


class PostgresStore(Store):
    # Measured with a million of them.
    bytes_per_result = 112

    def __init__(self, address: str, *, writes: bool = True) -> None:
        self._name = display_name(address)
        self._seconds = WRITE_SECONDS if writes else READ_SECONDS
        try:
            self.connection = _Connection.connect(
                address, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name="pytest-mcp"
            )
        except psycopg.Error:
            # Not chained: its message can quote the URL, and tracebacks are logged.
            raise HistoryUnavailable(f"{self._name} does not accept the connection") from None
        self.connection.longest = self._seconds + LATER_SECONDS
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def statement(self, sql: str) -> bytes:
        """No statement has a question mark or a percent sign in a string: values are passed beside it."""
        return sql.replace("%", "%%").replace("?", "%s").encode()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.translated(), self.connection.transaction():
            yield

    def _prepare(self) -> None:
        with self.translated():
            self.connection.execute(_SESSION.format(self._seconds).encode())
        if not self._missing_steps():
            return
        with self.transaction():
            self.execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
            # Asked first: IF NOT EXISTS needs the right to create one even if there is one.
            if not self.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (SCHEMA,)):
                self.execute(f"CREATE SCHEMA {SCHEMA}")
            missing = self._missing_steps()
            self.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
            for statement in missing:
                self.execute(statement)
            self.execute("DELETE FROM schema_version")
            self.execute("INSERT INTO schema_version VALUES (?)", (len(store.STEPS),))

    def _missing_steps(self) -> list[str]:
        has_version = "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'schema_version'"
        is_new = not self.execute(has_version, (SCHEMA,))
        ((version,),) = [(0,)] if is_new else self.execute("SELECT version FROM schema_version")
        return store.missing_steps(int(version), self._name, store.POSTGRES)

    @contextmanager
    def translated(self) -> Iterator[None]:
        try:
            yield
        except (errors.InsufficientPrivilege, errors.UndefinedTable):
            # Tables in a schema that may not be used are undefined.
            raise HistoryUnavailable(f"{self._name} does not let this user read and write the history") from None
        except psycopg.Error as error:
            if self.connection.is_given_up:
                raise HistoryUnavailable(f"{self._name} did not answer within {self._seconds} seconds") from None
            kind = type(error).__name__
            raise HistoryUnavailable(f"{self._name} cannot be used ({kind}, SQLSTATE {error.sqlstate})") from None


class _Connection(psycopg.Connection[Row]):
    longest: float
    is_given_up = False

    def wait(self, *generator: Any, **settings: Any) -> Any:
        """Every wait for the server."""
        watch = threading.Timer(self.longest, self._give_up)
        watch.daemon = True
        watch.start()
        try:
            return super().wait(*generator, **settings)
        finally:
            watch.cancel()

    def _give_up(self) -> None:
        """Shut the connection down, which ends the wait in the other thread. Only that one may close it."""
        self.is_given_up = True
        with suppress(OSError), socket.socket(fileno=os.dup(self.pgconn.socket)) as same:
            same.shutdown(socket.SHUT_RDWR)
