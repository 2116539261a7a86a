"""What a database of the history can do, whichever it is.

In come rows and portable SQL with `?` for values; out come tuples, or `Unavailable` with one sentence. Every method
blocks: callers use a thread. The databases are in `sqlite` and `postgres`, which one is used is decided in `opening`.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pytest_mcp.history.rows import RunRow, TestRow


class Unavailable(Exception):
    """The history cannot be read or written; the message is a clause that says why, without the password."""


class Transaction(Protocol):
    """What is executed in it is stored as a whole or not at all."""

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[object]]) -> None: ...


class Store(Protocol):
    # What the result of one test takes, with its indexes.
    bytes_per_result: int

    def record(self, run: RunRow, tests: Sequence[TestRow]) -> int:
        """Store a run in one transaction and return its id. A run with a known key is not stored again."""

    def select(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]: ...

    def transaction(self) -> AbstractContextManager[Transaction]:
        """For writing; committed when the block ends, rolled back if it raises."""

    def close(self) -> None: ...
