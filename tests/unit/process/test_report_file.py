"""`process/report_file.py`: what a child has written is read while it runs, after its end within bounds."""

import os
from pathlib import Path

import anyio
import pytest

from pytest_mcp.process import report_file
from pytest_mcp.process.background import alongside
from pytest_mcp.process.report_file import ReportReader

LINES = [b"line %d" % number for number in range(50)]


@pytest.fixture
def lines() -> list[bytes]:
    return []


@pytest.fixture
def report(tmp_path: Path, lines: list[bytes]) -> ReportReader:
    """Read in small pieces, with no time for more than the backlog."""
    descriptor = os.open(tmp_path / "report", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    return ReportReader(descriptor, lines.append, chunk=16, backlog=10, catch_up_seconds=-1)


def write(report: ReportReader, written: list[bytes]) -> None:
    os.write(report.descriptor, b"".join(line + b"\n" for line in written))
    # Later than it was created, however coarse the clock of the file system.
    os.utime(report.descriptor, ns=(report._created + 1, report._created + 1))


async def test_more_lines_than_a_child_can_be_ahead_are_not_read_and_that_is_known(
    report: ReportReader, lines: list[bytes]
) -> None:
    write(report, LINES)

    await report.read(has_ended=True)

    assert (report.state, lines) == ("unread", LINES[:11])


async def test_lines_without_a_record_count_too(report: ReportReader) -> None:
    write(report, [b""] * 50)

    await report.read(has_ended=True)

    assert (report.state, report.offset) == ("unread", 16)


async def test_what_was_read_while_the_child_ran_and_a_usual_rest_are_whole_however_long_it_takes(
    report: ReportReader, lines: list[bytes]
) -> None:
    write(report, LINES[:41])
    await report.read(has_ended=False)
    write(report, LINES[41:])

    await report.read(has_ended=True)

    assert (report.state, lines) == ("kept", LINES)


async def test_what_was_written_before_a_run_is_interrupted_is_read_however_seldom_it_is_looked_for(
    report: ReportReader, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_file, "POLL_SECONDS", 600)

    async with alongside(report.follow()):
        await anyio.wait_all_tasks_blocked()
        write(report, LINES[:2])
        assert lines == []

    assert lines == LINES[:2]
