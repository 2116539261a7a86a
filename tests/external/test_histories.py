"""Eight processes that record two hundred runs each, into one history of each kind: `make histories`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mcp.history.store import open_store
from tests.support.history.histories import counts, writer
from tests.support.history.postgres import postgres_server

pytestmark = pytest.mark.external(target="histories")

PROCESSES, RUNS, TESTS = 8, 200, 50


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "history.db")
        return
    with postgres_server() as url:
        yield url


def test_nothing_is_lost_and_nothing_is_doubled(address: str) -> None:
    writers = [writer(address, runs=RUNS, tests=TESTS) for _ in range(PROCESSES)]

    ended = [each.communicate() for each in writers]

    assert [(each.returncode, said[-500:]) for each, (_, said) in zip(writers, ended, strict=True)] == [
        (0, "")
    ] * PROCESSES
    store = open_store(address)
    stored = sorted(key for (key,) in store.execute("SELECT key FROM runs"))
    assert stored == sorted(key for printed, _ in ended for key in printed.split())
    assert counts(store) == (PROCESSES * RUNS, TESTS, PROCESSES * RUNS * TESTS)
    store.close()


def test_writers_that_are_killed_at_any_moment_leave_whole_runs(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    acknowledged: list[str] = []
    for moment in range(1, 21):
        process = writer(path, runs=10_000, tests=40 * moment)
        assert process.stdout is not None
        acknowledged += [process.stdout.readline().strip() for _ in range(moment % 4 + 1)]
        process.kill()
        acknowledged += process.communicate()[0].split()

    store = open_store(path)

    assert store.execute("PRAGMA integrity_check") == [("ok",)]
    found = {key for (key,) in store.execute("SELECT key FROM runs")}
    assert set(acknowledged) <= found
    assert len(found) <= len(acknowledged) + 20
    assert (
        store.execute("SELECT id FROM runs WHERE passed <> (SELECT COUNT(*) FROM results WHERE run_id = runs.id)") == []
    )
    store.close()
