"""One line of JSON for each record, whatever it quotes, on a real pipe that somebody reads, late or never."""

import json
import logging
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp import text
from pytest_mcp.server.logs import MAX_MESSAGE, MAX_TRACEBACK, NonBlockingHandler, OneLine
from tests.support.protocol.dialogues import INITIALIZED, NO_TOOL, initialize, line, request
from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench


def record(message: str, *arguments: object, **more: Any) -> logging.LogRecord:
    made = logging.LogRecord(
        "some.logger", logging.WARNING, __file__, 1, message, arguments, more.pop("exc_info", None)
    )
    made.__dict__.update(more)
    return made


@given(st.text())
def test_any_message_is_one_visible_line_of_json(message: str) -> None:
    line = OneLine().format(record("%s", message))

    assert text.is_plain(line.replace("\ufffd", ""))
    assert set(json.loads(line)) == {"time", "level", "logger", "message"}


def test_a_long_message_and_a_long_traceback_are_cut() -> None:
    try:
        raise RuntimeError("x" * 1_000_000)
    except RuntimeError:
        line = OneLine().format(record("y" * 1_000_000, exc_info=sys.exc_info()))

    assert len(line) < MAX_MESSAGE + MAX_TRACEBACK + 1_000
    assert json.loads(line)["traceback"].startswith("Traceback")


# Every library logs at every level; our own loggers too.
TALK = """
import logging, sys
from pytest_mcp.server import logs
logs.set_up(sys.argv[1])
for name in ("pytest_mcp.x", "mcp.x", "uvicorn.error"):
    for level in ("debug", "info", "warning", "error"):
        getattr(logging.getLogger(name), level)(f"{name} {level}")
"""
LEVELS = ("debug", "info", "warning", "error")


@pytest.mark.parametrize(
    ("level", "ours", "theirs", "servers"),
    [("debug", 4, 2, 2), ("info", 3, 2, 2), ("warning", 2, 2, 1), ("error", 1, 1, 1)],
)
def test_libraries_are_heard_only_when_they_warn_and_strangers_cannot_make_us_talk(
    level: str, ours: int, theirs: int, servers: int
) -> None:
    told = subprocess.run([sys.executable, "-c", TALK, level], capture_output=True, text=True, check=True)

    said = [json.loads(line)["message"] for line in told.stderr.splitlines()]
    assert said == [
        *(f"pytest_mcp.x {name}" for name in LEVELS[-ours:]),
        *(f"mcp.x {name}" for name in LEVELS[-theirs:]),
        *(f"uvicorn.error {name}" for name in LEVELS[-servers:]),
    ]
    assert told.stdout == ""


class Pipe:
    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)

    def fill(self) -> None:
        os.set_blocking(self.writer, False)
        try:
            while True:
                os.write(self.writer, b"\n" * 4096)
        except BlockingIOError:
            os.set_blocking(self.writer, True)

    def drain(self) -> bytes:
        read = bytearray()
        try:
            while chunk := os.read(self.reader, 65536):
                read += chunk
        except BlockingIOError:
            pass
        return bytes(read)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    opened = Pipe()
    yield opened
    os.close(opened.reader)
    os.close(opened.writer)


def logger_on(descriptor: int) -> logging.Logger:
    handler = NonBlockingHandler(descriptor)
    handler.setFormatter(OneLine())
    logger = logging.getLogger(f"{__name__}.{descriptor}")
    logger.propagate = False
    logger.handlers = [handler]
    return logger


def messages(data: bytes) -> list[str]:
    return [json.loads(entry)["message"] for entry in data.splitlines() if entry]


def test_lines_that_nobody_reads_are_dropped_and_counted(pipe: Pipe) -> None:
    logger = logger_on(pipe.writer)
    pipe.fill()

    for number in range(10):
        logger.warning("unread %s", number)
    pipe.drain()
    logger.warning("read")

    # The first one waited for room.
    assert messages(pipe.drain()) == ["unread 0", "9 log lines could not be written and were dropped", "read"]


def test_a_line_that_fits_only_in_part_is_completed_later(pipe: Pipe) -> None:
    logger = logger_on(pipe.writer)

    for _ in range(100):
        logger.warning("漢" * 1000)
    first = pipe.drain()
    logger.warning("last")

    *whole, note, last = messages(first + pipe.drain())
    assert set(whole) == {"漢" * 1000}
    assert (note, last) == (f"{100 - len(whole)} log lines could not be written and were dropped", "last")


def test_a_reader_that_has_gone_and_a_record_that_cannot_be_formatted_raise_nothing() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    logger = logger_on(writer)

    logger.warning("to nobody")
    logger.warning("%d", "no number")
    os.close(writer)


def test_a_server_whose_stderr_is_full_answers_calls_and_ends(bench: Workbench, pipe: Pipe) -> None:
    pipe.fill()
    command = [sys.executable, "-m", "pytest_mcp", f"--root={bench.root}", "--log-level=debug", "--no-spare"]
    answered: list[int] = []

    with subprocess.Popen(
        command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=pipe.writer
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(line(initialize()) + line(INITIALIZED) + line(request(1, "tools/call", **NO_TOOL)))
        while len(answered) < 2 and select.select([server.stdout], [], [], PATIENCE)[0]:
            answered.append(json.loads(server.stdout.readline())["id"])
        server.stdin.close()
        try:
            code = server.wait(PATIENCE)
        finally:
            server.kill()

    assert (answered, code) == ([0, 1], 0)
