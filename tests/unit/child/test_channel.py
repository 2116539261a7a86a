"""`child/channel.py`: each record is a whole, numbered line, whatever a test does to the process."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_mcp.run.decode import Record, parse
from pytest_mcp.run.events import Finished, Seeded, Started, StartedAt, Unreported
from tests.support.child import ours

channels = ours("channel")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report"
    path.touch()
    return path


@pytest.fixture
def channel(report: Path) -> Iterator[Any]:
    channel = channels.Channel(str(report))
    yield channel
    os.close(channel.descriptor)


def written(report: Path) -> list[Record]:
    return [record for line in report.read_bytes().split(b"\n") if (record := parse(line)) is not None]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text(), st.floats(0, 1e9), st.booleans()), max_size=5))
def test_every_test_is_two_records_with_numbers_that_count_up(
    channel: Any, report: Path, tests: list[tuple[str, float, bool]]
) -> None:
    report.write_bytes(b"")
    first = channel.count

    for name, duration, passed in tests:
        channel.started(name)
        channel.finished(name, duration, passed, hold=False)
    channel.flush()

    events = [event for name, took, ok in tests for event in (Started(name), Finished(name, took, ok))]
    assert written(report) == [Record(first + number, event) for number, event in enumerate(events, 1)]


def test_a_record_stays_whole_after_a_line_that_a_test_left_unfinished(channel: Any, report: Path) -> None:
    channel.emit("seeded", seed=1)
    with report.open("ab") as file:
        file.write(b'{"k":"session_ended","n":9,')
    channel.started_at("a", 3)
    channel.forward("unreported", '{"what":"x"}')
    channel.forward("session_started", "{}")

    assert [record.event for record in written(report)][:3] == [Seeded(1), StartedAt("a", 3), Unreported("x")]
    assert [record.number for record in written(report)] == [1, 2, 3, 4]


def test_what_cannot_be_written_is_no_record_and_raises_nothing(channel: Any, report: Path) -> None:
    class Silent:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    assert channel.emit("unreported", what=float("nan")) is False
    assert channel.emit("unreported", what=Silent()) is False
    assert channel.emit("unreported", what="x") is True
    assert written(report) == [Record(1, Unreported("x"))]


def test_a_record_that_is_lost_on_its_way_leaves_a_gap_in_the_numbers(channel: Any, report: Path) -> None:
    def fail(*_: object) -> int:
        raise OSError("disk full")

    write, channel.os_write = channel.os_write, fail
    channel.started("lost")
    assert channel.emit("seeded", seed=1) is False
    channel.os_write = write
    channel.started("kept")

    assert written(report) == [Record(3, Started("kept"))]


def test_a_report_that_a_test_has_replaced_is_opened_once(channel: Any, report: Path, tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    (tmp_path / "other").replace(report)
    channel.started("first")
    opened = channel.descriptor

    channel.started("second")

    assert channel.descriptor == opened


def test_a_forked_process_writes_nothing(channel: Any, report: Path) -> None:
    channel.finished("held", 0.5, True, hold=True)
    channel.os_getpid = lambda: channel.owner + 1

    channel.started("forked")
    channel.forward("session_started", "{}")
    channel.flush()

    assert channel.emit("seeded", seed=1) is False
    assert report.read_bytes() == b""


def test_a_descriptor_that_a_test_has_closed_or_given_to_another_file_is_opened_again(
    channel: Any, report: Path, tmp_path: Path
) -> None:
    os.close(channel.descriptor)
    channel.started("closed")
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)
    os.dup2(other, channel.descriptor)
    os.close(other)
    channel.started("replaced")

    assert [record.event for record in written(report)] == [Started("closed"), Started("replaced")]
    assert (tmp_path / "other").read_bytes() == b""
