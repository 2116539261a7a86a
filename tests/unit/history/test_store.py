"""What both databases promise, each tested on the real thing."""

import sys
from dataclasses import astuple, replace

import pytest

from pytest_mcp.history import store as stores
from pytest_mcp.history.store import RUN_COLUMNS, HistoryUnavailable, Store, TestRow, open_store
from tests.support.history.histories import counts, passing, run_row, write_together

# A later version of the tables.
LATER = ("ALTER TABLE runs ADD COLUMN note TEXT",)


def test_a_run_is_stored_with_every_column(store: Store) -> None:
    run = run_row(commit_id=None, dirty=1, selection='{"keywords":"100% ?"}')
    tests = [TestRow("a.py::test_é[x?%s]", "F", 0.25, "0" * 16, "gw1"), TestRow("a.py::test_b", "S", None)]

    run_id = store.record(run, tests)

    assert store.execute(f"SELECT {', '.join(RUN_COLUMNS)} FROM runs WHERE id = ?", (run_id,)) == [astuple(run)]
    found = store.execute(
        "SELECT node_id, outcome, duration, cause, worker FROM results JOIN tests ON tests.id = test_id"
        " WHERE run_id = ? AND project = ? ORDER BY node_id DESC",
        (run_id, "shop"),
    )
    assert sorted(found) == sorted(astuple(test) for test in tests)


def test_names_that_are_no_unicode_are_stored_escaped(store: Store) -> None:
    store.record(run_row(root="/a\udc80"), [TestRow("a.py::test[\ud800\0é]", "P", 0.1, None, "gw\0")])
    store.record(run_row(), [TestRow("a.py::test[\ud800\0é]", "P", 0.1)])

    assert store.execute("SELECT root FROM runs WHERE root <> ?", ("/projects/shop",)) == [("/a\\udc80",)]
    assert store.execute("SELECT node_id FROM tests") == [("a.py::test[\\ud800\\x00é]",)]
    assert counts(store) == (2, 1, 2)


def test_a_run_is_stored_once_and_a_test_has_one_id(store: Store) -> None:
    run = run_row()

    ids = [store.record(each, passing(1_000)) for each in (run, run, run_row(), run_row(project="other"))]

    assert len(set(ids)) == 3
    assert ids[0] == ids[1]
    assert counts(store) == (3, 2_000, 3_000)


def test_a_transaction_that_fails_stores_nothing_and_the_store_can_go_on(store: Store) -> None:
    def interrupted() -> None:
        with store.transaction():
            store.execute("INSERT INTO tests (project, node_id) VALUES (?, ?)", ("shop", "a.py::test"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(HistoryUnavailable):
        store.record(replace(run_row(), verdict=None), passing(3))  # type: ignore[arg-type]
    store.record(run_row(), passing(2))

    assert counts(store) == (1, 2, 2)


def test_processes_that_record_at_the_same_time_lose_nothing_and_double_nothing(address: str) -> None:
    """`make histories` does it with 8 processes of 200 runs each."""
    write_together(address, processes=2, runs=6, tests=20)


def test_an_older_database_is_migrated_and_keeps_its_rows(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = open_store(address)
    run = run_row()
    old.record(run, passing(1))
    old.close()
    monkeypatch.setattr(stores, "STEPS", (*stores.STEPS, LATER))

    migrated = open_store(address)

    assert migrated.execute("SELECT key, note FROM runs") == [(run.key, None)]
    migrated.close()
    open_store(address).close()


def test_a_newer_database_is_not_touched(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(stores, "STEPS", (*stores.STEPS, LATER))
        open_store(address).close()

    with pytest.raises(HistoryUnavailable, match="was written by a newer pytest-mcp"):
        open_store(address)


@pytest.mark.parametrize(
    ("address", "module", "words"),
    [
        ("postgresql://team@host/tests", "postgres", 'install "pytest-mcp-server\\[postgres\\]"'),
        ("history.db", "sqlite", "built without sqlite3"),
    ],
)
def test_a_library_that_is_missing_is_told(
    address: str, module: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, f"pytest_mcp.history.{module}", None)

    with pytest.raises(HistoryUnavailable, match=words):
        open_store(address)
