"""Log records, ours and those of libraries, as lines of JSON on stderr.

They may quote a client, so messages are cut and unsafe characters escaped. A client may never read the other end of
stderr; a write to a full pipe would then block the event loop and with it every answer. So a line that finds no room
is dropped, and the next one that finds room is preceded by the number of dropped lines. What is logged of a call is
decided in `telemetry`.
"""

import json
import logging
import os
import select
import sys
from datetime import UTC, datetime
from typing import Any

from pytest_mcp import text
from pytest_mcp.config.model import LogLevel

# In characters.
MAX_MESSAGE = 2_000
MAX_TRACEBACK = 20_000
# The attribute of a record with further keys of its line.
FIELDS = "fields"


def set_up(level: LogLevel) -> None:
    """Log our own records from this level on, and those of libraries from `warning` on."""
    chosen = logging.getLevelNamesMapping()[level.upper()]
    root = logging.getLogger()
    try:
        root.handlers = [NonBlockingHandler(sys.stderr.fileno())]
        root.handlers[0].setFormatter(OneLine())
    except (OSError, AttributeError):
        # stderr was closed before we were started.
        root.handlers = [logging.NullHandler()]
    # Below `warning`, libraries log the content of requests and answers.
    root.setLevel(max(chosen, logging.WARNING))
    logging.getLogger("pytest_mcp").setLevel(chosen)
    # It warns about every malformed request, so that any client could fill the log.
    logging.getLogger("uvicorn").setLevel(logging.ERROR if chosen >= logging.WARNING else logging.WARNING)


class OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _limited(record.getMessage(), MAX_MESSAGE),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            line["traceback"] = _limited(self.formatException(record.exc_info), MAX_TRACEBACK)
        return json.dumps(line, ensure_ascii=False)


def _limited(words: str, limit: int) -> str:
    return text.safe(text.cut_middle(words.strip(), limit))


class NonBlockingHandler(logging.Handler):
    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor
        # The end of a line of which the beginning is written. No other line is begun before it is complete.
        self.unwritten = b""
        self.dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.flush()
            if self.unwritten:
                self.dropped += 1
                return
            self.unwritten = self._lines(record)
            self.dropped = 0
            self.flush()
        except Exception:  # noqa: BLE001 - a record that cannot be formatted or written must not fail its caller
            self.dropped += 1

    def flush(self) -> None:
        # Where there is room at all, so many bytes never block (POSIX).
        while self.unwritten and select.select([], [self.descriptor], [], 0)[1]:
            written = os.write(self.descriptor, self.unwritten[: select.PIPE_BUF])
            self.unwritten = self.unwritten[written:]

    def _lines(self, record: logging.LogRecord) -> bytes:
        records = [record]
        if self.dropped:
            message = f"{self.dropped} log lines could not be written and were dropped"
            records = [logging.LogRecord(__name__, logging.WARNING, __file__, 0, message, None, None), record]
        return b"".join(self.format(each).encode("utf-8", "backslashreplace") + b"\n" for each in records)
