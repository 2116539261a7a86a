"""Open the history that the operator named: the path of an SQLite file, or the URL of a PostgreSQL database."""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pytest_mcp.api.errors import CallError
from pytest_mcp.config.history import is_postgres
from pytest_mcp.history.store import Store, Unavailable

logger = logging.getLogger(__name__)


@contextmanager
def reading(address: str) -> Iterator[Store]:
    """Raises Unavailable, also for values that nobody recorded: no database notices every damage of its file."""
    with closing(open_store(address, creates=False)) as store:
        try:
            yield store
        # What a caller can mend is no damage.
        except (Unavailable, CallError):
            raise
        except Exception as error:
            logger.warning("unexpected value in the history", exc_info=error)
            raise Unavailable("it has values that pytest-mcp did not write") from error


def open_store(address: str, *, creates: bool = True) -> Store:
    """Raises Unavailable. Each database's library is loaded only when it is used. Who only reads creates no file."""
    if is_postgres(address):
        return _open_postgres(address, writes=creates)
    try:
        from pytest_mcp.history.sqlite import SqliteStore  # noqa: PLC0415
    except ImportError as error:
        raise Unavailable("this Python was built without sqlite3") from error
    return SqliteStore(Path(address), creates=creates)


def _open_postgres(address: str, *, writes: bool) -> Store:
    try:
        from pytest_mcp.history.postgres import PostgresStore  # noqa: PLC0415
    except ImportError as error:
        raise Unavailable('psycopg is missing: install "pytest-mcp-server[postgres]"') from error
    return PostgresStore(address, writes=writes)
