"""One line of JSON for each record, whatever it quotes."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp import text
from pytest_mcp.server.logs import FIELDS, LONGEST_MESSAGE, LONGEST_TRACEBACK, OneLine


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


def test_what_could_drive_a_terminal_is_shown_as_what_it_is() -> None:
    line = json.loads(OneLine().format(record("Invalid Host header: %s", "\x1b[2J\x9b\u202e\ud800")))

    assert line["message"] == r"Invalid Host header: \x1b[2J\x9b\u202e\ud800"
    assert (line["level"], line["logger"]) == ("warning", "some.logger")


def test_a_long_message_and_a_long_traceback_are_cut() -> None:
    try:
        raise RuntimeError("x" * 1_000_000)
    except RuntimeError:
        line = OneLine().format(record("y" * 1_000_000, exc_info=sys.exc_info()))

    assert len(line) < LONGEST_MESSAGE + LONGEST_TRACEBACK + 1_000
    assert json.loads(line)["traceback"].startswith("Traceback")


def test_fields_stand_beside_the_message() -> None:
    line = json.loads(OneLine().format(record("call", **{FIELDS: {"tool": "execute_tests", "seconds": 0.5}})))

    assert (line["message"], line["tool"], line["seconds"]) == ("call", "execute_tests", 0.5)


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
