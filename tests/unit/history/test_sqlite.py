"""The history in a file: whatever is wrong with it, one sentence says so and nothing is changed."""

import os
import resource
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mcp.history import sqlite
from pytest_mcp.history.store import HistoryUnavailable, open_store
from tests.support.history.histories import counts, kill_writers, passing, run_row


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.db"


@pytest.fixture
def filled(path: Path) -> Path:
    """With one run of 500 tests."""
    store = open_store(str(path))
    store.record(run_row(), passing(500))
    store.close()
    return path


def of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE tests (mine)")
    other.close()


NO_HISTORIES: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "noise": lambda path: path.write_bytes(b"\0noise" * 4096),
    "link to itself": lambda path: path.symlink_to(path),
    "another program's": of_another_program,
}


@pytest.mark.parametrize("kind", NO_HISTORIES)
def test_what_is_no_history_is_not_used_and_not_changed(kind: str, path: Path) -> None:
    NO_HISTORIES[kind](path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(HistoryUnavailable) as error:
        open_store(str(path))

    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize(("name", "creates"), [("no/history.db", True), ("no/history.db", False), ("n" * 300, True)])
def test_a_file_that_cannot_be_created_is_told(name: str, creates: bool, tmp_path: Path) -> None:
    with pytest.raises(HistoryUnavailable):
        open_store(str(tmp_path / name), creates=creates)


def test_who_only_reads_creates_no_file(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "history.db"), creates=False)

    assert store.execute("SELECT count(*) FROM runs") == [(0,)]
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_can_read_it_from_the_first_moment(path: Path) -> None:
    before = os.umask(0)
    try:
        store = open_store(str(path))
        store.record(run_row(), passing(1))
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
        store.close()
    finally:
        os.umask(before)

    assert modes == dict.fromkeys(("history.db", "history.db-wal", "history.db-shm"), 0o600)


def test_a_locked_file_is_waited_for_and_then_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.01)
    store = open_store(str(path))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(HistoryUnavailable, match="locked"):
        store.record(run_row(), passing(1))
    other.execute("ROLLBACK")
    other.close()
    store.record(run_row(), passing(1))

    assert counts(store) == (1, 1, 1)
    store.close()


def test_a_file_that_was_damaged_later_is_told(filled: Path) -> None:
    content = bytearray(filled.read_bytes())
    content[8192:] = os.urandom(len(content) - 8192)
    filled.write_bytes(content)

    with pytest.raises(HistoryUnavailable):
        open_store(str(filled)).record(run_row(), passing(500))


def test_a_full_disk_costs_the_run_and_nothing_else(filled: Path) -> None:
    """The system refuses to let any file of this process grow, as a full disk does."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({filled.stat().st_size}, {limit[1]}));"
        "from pytest_mcp.history.store import open_store; from tests.support.history.histories import *\n"
        f"open_store({str(filled)!r}).record(run_row(), passing(5000))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "Unavailable: " in done.stderr.splitlines()[-1]
    store = open_store(str(filled))
    assert store.execute("PRAGMA integrity_check") == [("ok",)]
    assert counts(store) == (1, 500, 500)
    store.close()


def test_a_writer_that_is_killed_loses_at_most_its_last_run(path: Path) -> None:
    """`make histories` does it twenty times."""
    kill_writers(str(path), [7])
