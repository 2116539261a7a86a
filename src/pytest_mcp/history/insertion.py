"""Write one run into a transaction, with statements that SQLite and PostgreSQL both know."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from pytest_mcp.history.rows import RUN_COLUMNS, RunRow, TestRow, run_values
from pytest_mcp.history.store import Transaction

# SQLite before 3.32 takes at most 999 values in one statement.
MOST_VALUES = 900

_RUN = f"INSERT INTO runs ({', '.join(RUN_COLUMNS)}) VALUES ({', '.join('?' * len(RUN_COLUMNS))})"  # noqa: S608 - constants
_RESULT = "INSERT INTO results (run_id, test_id, outcome, duration, cause, worker) VALUES (?, ?, ?, ?, ?, ?)"
_TEST = "INSERT INTO tests (project, node_id) VALUES (?, ?) ON CONFLICT DO NOTHING"


def insert(into: Transaction, run: RunRow, tests: Sequence[TestRow]) -> int:
    """Returns the run's id. A run whose key is known, as after a commit whose answer was lost, is left as it is."""
    if known := _run_id(into, run.key):
        return known
    into.execute(_RUN, tuple(map(_storable, run_values(run))))
    run_id = _run_id(into, run.key)
    assert run_id is not None
    by_id = {_storable(test.node_id): replace(test, node_id=_storable(test.node_id)) for test in tests}
    ids = _test_ids(into, _storable(run.project), list(by_id))
    # In the order of the index: neighbouring rows are written to the same page.
    into.executemany(_RESULT, (_result(run_id, ids[test.node_id], test) for test in _sorted_by_id(by_id, ids)))
    return run_id


def _sorted_by_id(tests: dict[str, TestRow], ids: dict[str, int]) -> list[TestRow]:
    return sorted(tests.values(), key=lambda test: ids[test.node_id])


def _test_ids(into: Transaction, project: str, node_ids: Sequence[str]) -> dict[str, int]:
    """The id of each test; new tests get one."""
    known = _known(into, project, node_ids)
    # Sorted, so that two writers that add the same tests wait for each other in one order and never deadlock.
    missing = sorted(set(node_ids) - known.keys())
    if missing:
        into.executemany(_TEST, [(project, node_id) for node_id in missing])
        known |= _known(into, project, missing)
    return known


Value = TypeVar("Value")


def _storable(value: Value) -> Value:
    """Neither database takes every string: tests and file systems can have names that are no Unicode."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return cast("Value", value.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00"))


def _run_id(into: Transaction, key: str) -> int | None:
    found = into.execute("SELECT id FROM runs WHERE key = ?", (key,))
    return found[0][0] if found else None


def _known(into: Transaction, project: str, node_ids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in _parts(node_ids):
        marks = ", ".join("?" * len(part))
        sql = f"SELECT node_id, id FROM tests WHERE project = ? AND node_id IN ({marks})"  # noqa: S608 - only marks
        found |= dict(into.execute(sql, (project, *part)))
    return found


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), MOST_VALUES):
        yield values[start : start + MOST_VALUES]


def _result(run_id: int, test_id: int, test: TestRow) -> tuple[object, ...]:
    return (run_id, test_id, test.outcome, test.duration, test.cause, _storable(test.worker))
