"""When a run is recorded, and what is told if it cannot be."""

import sqlite3
from pathlib import Path

import pytest

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import Config, History, Options, configure
from pytest_mcp.history import recorder, sqlite
from pytest_mcp.history.recorder import RunRecorder
from pytest_mcp.history.store import open_store
from pytest_mcp.report import report
from tests.support.history.histories import counts
from tests.support.invented.records import execution, green
from tests.support.waiting import until

REQUEST = ExecuteTests()
REPORT = report.execution_report(execution(green("test_a.py::test_one", "test_a.py::test_two")), None)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "project").mkdir()
    return configure(Options(root=str(tmp_path / "project"), history=str(tmp_path / "history.db")), {})


@pytest.fixture
def recording_to(config: Config) -> RunRecorder:
    assert config.history is not None
    return RunRecorder(config.history)


async def test_a_run_is_written_after_the_call_is_over(config: Config, recording_to: RunRecorder) -> None:
    with recording_to.begin(config) as recording:
        assert await recording.notices([]) == []
        recording.keep(REQUEST, REPORT)
    store = open_store(recording_to.history.address)
    assert counts(store) == (0, 0, 0)

    assert await recording_to.finish(is_awaited=False) is None

    assert counts(store) == (1, 2, 2)
    assert store.execute("SELECT project, state FROM runs") == [("project", None)]
    store.close()


async def test_a_call_that_fails_records_nothing(config: Config, recording_to: RunRecorder) -> None:
    with pytest.raises(RuntimeError), recording_to.begin(config):
        raise RuntimeError

    assert await recording_to.finish(is_awaited=False) is None
    assert counts(open_store(recording_to.history.address)) == (0, 0, 0)


async def test_a_history_that_cannot_be_opened_is_told_in_the_same_answer_and_only_there(config: Config) -> None:
    broken = RunRecorder(History(str(config.root)))
    with broken.begin(config) as recording:
        told = await recording.notices([["test_a.py::test_b"]])
        recording.keep(REQUEST, REPORT)

    assert told == [f"This run is not recorded in the history: {config.root} is not a regular file."]
    assert await broken.finish(is_awaited=False) is None


async def test_a_write_that_fails_is_told_once_in_the_next_answer(
    config: Config, recording_to: RunRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = recording_to.history.address
    open_store(address).close()
    other = sqlite3.connect(address, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with monkeypatch.context() as impatient:
        impatient.setattr(sqlite, "BUSY_SECONDS", 0.01)
        with recording_to.begin(config) as recording:
            assert await recording.notices([]) == []
            recording.keep(REQUEST, REPORT)
        await until(lambda: not recording_to.tasks)
    other.close()

    told = []
    for _ in range(2):
        with recording_to.begin(config) as recording:
            told += await recording.notices([])
            recording.keep(REQUEST, REPORT)

    assert told == [f"An earlier run was not recorded in the history: {address} cannot be used: database is locked."]
    assert await recording_to.finish(is_awaited=False) is None
    assert counts(open_store(address)) == (2, 2, 4)


async def test_a_write_that_hangs_does_not_keep_the_server_alive(
    config: Config, recording_to: RunRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "PARTING_SECONDS", 0.01)
    with recording_to.begin(config) as recording:
        await recording.notices([])
        recording.keep(REQUEST, REPORT)

    assert await recording_to.finish(is_awaited=False) == "it was not written within 0.01 seconds"
